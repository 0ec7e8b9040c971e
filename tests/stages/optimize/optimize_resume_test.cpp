// Kills and full disks: what is on the disk stays whole, and the next run goes on where this one was.
#include <gmock/gmock.h>

#include <climits>
#include <map>

#include "base/text.hpp"
#include "stages/journal.hpp"
#include "tests/stages/stage_fixture.hpp"

namespace hone::test {
namespace {

class Resume : public StageTest {
 protected:
  Resume() {
    kernel.sizes = {"1024", "4096"};
    session.held_out = {"2048"};
    kernel.modes = {"forward"};
    for (auto& knob : session.tunable) {
      if (knob.name == "ROWS") knob.values = {1, 2};
    }
    kernel.sources["changed text\n"] = {0.9, 0.9};
    session.proposals["less-traffic"] = {source_proposal(kernel, "changed text\n")};
    use_strategies({"less-traffic"});
  }

  // Every measurement stands in the journal once.
  void expect_nothing_measured_twice() {
    std::map<std::string, int> times;
    for (const std::string& line : base::split(*files.read("optimization/rms_norm/journal.jsonl"), '\n')) {
      const auto record = stages::parse_line(line);
      if (record && record->event != "begin") ++times[record->event + " " + record->key];
    }
    for (const auto& [key, count] : times) EXPECT_EQ(count, 1) << key;
  }

  void expect_whole_documents() {
    for (const auto& [path, content] : files.files()) {
      const bool comparison = path.find("comparison.json") != std::string::npos,
                 variant = path.find("_settings.json") != std::string::npos;
      EXPECT_TRUE(!comparison || model::parse_comparison(content, path)) << path;
      EXPECT_TRUE(!variant || model::parse_variant(content, path)) << path;
    }
  }
};

TEST_F(Resume, AFullDiskAtAnyWriteLeavesWholeFilesAndTheNextRunFinishes) {
  int failures = 0;
  for (int n = 1;; n += 3) {
    files = {};
    const auto work = workspace();
    files.fail_writes_after(n);
    const auto broken = stages::optimize(stages::Kernel::of(session), profile, options(), work, ports);
    files.fail_writes_after(INT_MAX);
    if (broken) break;
    ++failures;
    EXPECT_EQ(broken.error().kind, base::ErrorKind::preflight);
    EXPECT_THAT(broken.error().remedy, ::testing::HasSubstr("free space"));
    expect_whole_documents();
    const auto resumed = optimize(options());
    ASSERT_TRUE(resumed) << "after write " << n << ": " << base::describe(resumed.error());
    EXPECT_EQ(resumed->comparison.winner, "v2");
    expect_nothing_measured_twice();
  }
  EXPECT_GT(failures, 10);
}

TEST_F(Resume, AStopLosesAtMostTheConfigurationBeingMeasured) {
  ASSERT_TRUE(optimize(options()));
  const int whole_run = session.samples;
  for (int stop = 20; stop < whole_run; stop += whole_run / 12) {
    files = {};
    session.samples = 0;
    interrupted = false;
    session.on_sample = [&](int samples) { interrupted = interrupted || samples == stop; };
    const auto stopped = optimize(options());
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().kind, base::ErrorKind::interrupted);
    EXPECT_THAT(stopped.error().remedy, ::testing::HasSubstr("hone optimize rms_norm"));
    interrupted = false;
    session.on_sample = nullptr;
    ASSERT_TRUE(optimize(options()));
    expect_nothing_measured_twice();
  }
}

TEST_F(Resume, AGateThatAStopTookDownIsAskedAgain) {
  session.judge = [&](const model::Variant&, repository::GateLevel) {
    interrupted = true;
    repository::GateResult result;
    result.failed = 1, result.first_failure = "the worker ended";
    return result;
  };
  const auto stopped = optimize(options());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, base::ErrorKind::interrupted);
  interrupted = false;
  session.judge = nullptr;
  const auto resumed = optimize(options());
  ASSERT_TRUE(resumed);
  EXPECT_EQ(resumed->comparison.variants[0].status, model::VariantStatus::accepted);
}

TEST_F(Resume, AFinishedRunIsRepeatedWithoutASample) {
  ASSERT_TRUE(optimize(options()));
  session.samples = 0;
  session.settings_built = 0;
  const auto again = optimize(options());
  ASSERT_TRUE(again);
  EXPECT_EQ(session.samples, 0);
  EXPECT_EQ(again->comparison.winner, "v2");
}

TEST_F(Resume, AnotherProfileDoesNotUseTheOldMeasurements) {
  ASSERT_TRUE(optimize(options()));
  session.samples = 0;
  profile.created = "2026-02-03T04:05:06Z";
  ASSERT_TRUE(optimize(options()));
  EXPECT_GT(session.samples, 100);
}

}  // namespace
}  // namespace hone::test
