// hone explain: words of documents and names of metrics, and that no word of the program is without an entry.
#include <gmock/gmock.h>

#include "counters/launch_record.hpp"
#include "diagnose/glossary.hpp"
#include "kernels/catalog/operation.hpp"
#include "model/profile_fields.hpp"
#include "source/triton/rewrite/rewrite.hpp"
#include "tests/cli/program_fixture.hpp"

namespace hone::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

bool has(const std::string& word, const std::string& kind) {
  for (const diagnose::Term* term : diagnose::find_terms(word))
    if (term->kind == kind) return true;
  return false;
}

TEST(Explained, IsEveryStrategyOfAKnobAndOfARewrite) {
  kernels::Target gpu;
  gpu.machine = kernels::Machine::cuda;
  for (const std::unique_ptr<kernels::Operation>& operation : kernels::catalog())
    for (const kernels::Target& target : {kernels::Target{}, gpu})
      for (const kernels::Pass pass : {kernels::Pass::forward, kernels::Pass::backward})
        for (const kernels::Knob& knob : operation->knobs(pass, target))
          EXPECT_TRUE(has(knob.strategy, "strategy")) << operation->name() << " " << knob.name << ": " << knob.strategy;
  for (const source::rewrite::Rewrite& rewrite : source::rewrite::rewrites())
    EXPECT_TRUE(has(rewrite.strategy, "strategy")) << rewrite.name << ": " << rewrite.strategy;
}

TEST(Explained, IsEveryMetricOfACaptureUnderEachOfItsNames) {
  const model::Json kernel = model::json_of(model::CounterSummary{});
  int metrics = 0;
  for (const model::Json::Member& member : *kernel.members()) {
    if (!member.value.is_null() && member.name != "stalls" && member.name != "occupancy_limiter") continue;
    ++metrics;
    EXPECT_TRUE(has(member.name, "metric")) << member.name;
    for (const std::string& name : counters::metrics_of(member.name)) {
      EXPECT_TRUE(counters::is_known_metric(name)) << name;
      EXPECT_EQ(counters::profile_name_of(name), member.name);
    }
  }
  EXPECT_GT(metrics, 15);
  EXPECT_EQ(counters::profile_name_of("smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"),
            "long scoreboard");
  EXPECT_EQ(counters::profile_name_of("sm__nosuch"), "");
}

TEST(Explained, IsEveryCeiling) {
  for (const auto& [name, ceiling] : test::sample_gpu_profile().device.ceilings.by_name)
    EXPECT_TRUE(has(name, "metric")) << name;
}

class Explain : public ProgramTest {};

TEST_F(Explain, SaysWhatAWordMeansHowItIsDecidedAndWhatToDo) {
  EXPECT_THAT(run({"explain", "latency-bound"}).output,
              AllOf(HasSubstr("latency-bound  (class)"), HasSubstr("No unit reaches 60 %"), HasSubstr("grid-sizing"),
                    HasSubstr("NVIDIA Nsight Compute")));
  EXPECT_THAT(run({"explain", "tail", "wave"}).output, HasSubstr("tail wave  (limiter)"));
  EXPECT_THAT(run({"explain", "Achieved Occupancy"}).output,
              AllOf(HasSubstr("occupancy_pct  (metric)"), HasSubstr("sm__warps_active")));
  EXPECT_THAT(run({"explain", "unresolved"}).output, HasSubstr("(verdict)"));
  EXPECT_THAT(run({"explain"}).output, AllOf(HasSubstr("verdict\n"), HasSubstr("same-binary"), Not(HasSubstr("sm__"))));
}

TEST_F(Explain, NamesTheNearestWordsForAnUnknownOne) {
  expect_refused(run({"explain", "latency-bonud"}), 2, "did you mean latency-bound");
  expect_refused(run({"explain", "xyzzy"}), 2, "'hone explain' lists all of them");
}

}  // namespace
}  // namespace hone::cli
