// A user's own kernel through all three stages: really compiled, run, judged and installed; only its times are made up.
#include <gmock/gmock.h>

#include "stages/compare/compare.hpp"
#include "stages/finalize/finalize.hpp"
#include "stages/profile/profile.hpp"
#include "tests/repository/manifest/manifest_fixture.hpp"
#include "tests/stages/stage_fixture.hpp"
#include "tests/support/recording_device.hpp"
#include "tests/support/timed_device.hpp"

namespace hone::repository::manifest {
namespace {

using stages::Ending;
using ::testing::HasSubstr;

class AManifestInTheStages : public ManifestTest,
                             protected test::ScriptedPorts<base::SystemFiles, base::SystemProcesses> {
 protected:
  void SetUp() override {
    ManifestTest::SetUp();
    write("hone.toml",
          changed("test = [\"make\", \"test\"]", "test = [\"sh\", \"-c\", \"test -f row_scale.cpp && echo 1..3\"]"));
    // Every program costs its share of the launch: four rows a program are fastest.
    timed_ = std::make_unique<test::TimedDevice>(*device_, time_, [](const std::vector<device::Launch>& launches) {
      double ns = 20'000;
      for (const device::Launch& launch : launches) ns += 500.0 * static_cast<double>(launch.programs);
      return ns;
    });
    recorded_ = std::make_unique<test::RecordingDevice>(*timed_, "");
  }
  // Whatever a stage does with the kernel, it survived in isolation first.
  void TearDown() override { EXPECT_THAT(recorded_->unprotected, ::testing::IsEmpty()); }

  base::Result<std::unique_ptr<Repository>> repository() {
    auto manifest = load_manifest(files_, folder_.path());
    if (!manifest) return manifest.error();
    launch::Context context{*recorded_, files_, time_};
    context.processes = &processes_;
    return std::unique_ptr<Repository>(
        std::make_unique<ManifestRepository>(std::move(context), timed_.get(), std::move(*manifest)));
  }
  std::string at(const std::string& name) { return folder_ / ("work/row_scale/" + name); }

  void profile() {
    auto opened = repository();
    ASSERT_TRUE(opened) << base::describe(opened.error());
    stages::ProfileOptions options;
    options.workspace_root = folder_ / "work";
    options.autonomous = true;
    auto session = (*opened)->open(request());
    ASSERT_TRUE(session) << base::describe(session.error());
    auto outcome =
        stages::profile(**session, **session, **session, (*opened)->preflight(request()), request(), options, ports);
    ASSERT_TRUE(outcome) << base::describe(outcome.error());
    profile_ = outcome->profile;
  }
  model::ComparisonDocument optimize(const std::string& proposer = "") {
    auto session = (*repository())->open(profile_.request);
    EXPECT_TRUE(session);
    stages::OptimizeOptions options;
    options.autonomous = true;
    options.proposer = proposer;
    options.max_variants = 3;
    auto workspace = stages::Workspace::open(files_, folder_ / "work", "row_scale");
    auto outcome = stages::optimize(stages::Kernel::of(**session), profile_, options, *workspace, ports);
    EXPECT_TRUE(outcome) << base::describe(outcome.error());
    return outcome ? outcome->comparison : model::ComparisonDocument{};
  }
  stages::CompareOutcome compare(const std::string& a, const std::string& b) {
    auto session = (*repository())->open(profile_.request);
    EXPECT_TRUE(session);
    auto workspace = stages::Workspace::open(files_, folder_ / "work", "row_scale");
    auto outcome =
        stages::compare(stages::Kernel::of(**session), profile_, {a, b, {}, 0, "hone compare", {}}, *workspace, ports);
    EXPECT_TRUE(outcome) << base::describe(outcome.error());
    return outcome ? *outcome : stages::CompareOutcome{};
  }
  stages::FinalizeOutcome finalize() {
    auto session = (*repository())->open(profile_.request);
    EXPECT_TRUE(session) << base::describe(session.error());
    stages::FinalizeOptions options;
    options.autonomous = true;
    auto workspace = stages::Workspace::open(files_, folder_ / "work", "row_scale");
    auto outcome = stages::finalize(stages::Kernel::of(**session), options, *workspace, ports);
    EXPECT_TRUE(outcome) << base::describe(outcome.error());
    return outcome ? *outcome : stages::FinalizeOutcome{};
  }

  base::ManualClock time_;
  std::unique_ptr<test::TimedDevice> timed_;
  std::unique_ptr<test::RecordingDevice> recorded_;
  model::Profile profile_;
};

TEST_F(AManifestInTheStages, IsProfiledOptimizedAndFinalized) {
  profile();
  EXPECT_EQ(profile_.identity.repository, "manifest");
  EXPECT_THAT(profile_.counters.reason, HasSubstr("a kernel that hone can rewrite"));
  EXPECT_EQ(profile_.baseline.noise_floor.size(), 2u);
  ASSERT_EQ(profile_.configuration.parameters.size(), 1u);
  EXPECT_EQ(profile_.configuration.parameters[0].value, "2");

  const model::ComparisonDocument comparison = optimize();
  ASSERT_EQ(comparison.winner, "v1") << comparison.winner_reason;
  EXPECT_EQ(comparison.variants.at(0).settings.at("forward").at(256), (model::Settings{{"ROWS", 4}}));
  EXPECT_EQ(read("hone.toml").find("[[entry]]"), std::string::npos);
  EXPECT_EQ(compare("v0", "v1").cells.front().comparison.verdict, model::Verdict::faster);

  const stages::FinalizeOutcome outcome = finalize();
  EXPECT_EQ(outcome.ending, Ending::applied) << outcome.report.reason;
  ASSERT_EQ(outcome.report.changed_files.size(), 1u);
  EXPECT_THAT(read("hone.settings.toml"), HasSubstr("ROWS = 4"));
  EXPECT_EQ(finalize().ending, Ending::already_applied);
  auto again = (*repository())->open(request());
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)->original().settings.at("forward").at(256), (model::Settings{{"ROWS", 4}}));
}

TEST_F(AManifestInTheStages, IsRestoredWhereItsOwnTestsFail) {
  write("hone.toml", changed("test = [\"make\", \"test\"]", "test = [\"sh\", \"-c\", \"exit 4\"]"));
  const auto before = read("row_scale.cpp");
  profile();
  ASSERT_EQ(optimize().winner, "v1");
  const stages::FinalizeOutcome outcome = finalize();
  EXPECT_EQ(outcome.ending, Ending::reverted);
  EXPECT_TRUE(outcome.gate_failed);
  EXPECT_THAT(outcome.report.reason, HasSubstr("status 4"));
  EXPECT_FALSE(files_.exists(folder_ / "hone.settings.toml"));
  EXPECT_EQ(read("row_scale.cpp"), before);
}

TEST_F(AManifestInTheStages, NeverTakesAWrongProposal) {
  const std::string wrong = replaced(kKernelText, "factor[row], bias", "factor[row], 3 * bias");
  write("wrong.cpp", wrong);
  write("propose.sh",
        "cp '" + (folder_ / "wrong.cpp") + "' \"$1/variant.cpp\"\necho 'skip work' > \"$1/hypothesis.md\"\n");
  profile();
  const model::ComparisonDocument comparison = optimize("sh " + (folder_ / "propose.sh"));
  bool seen = false;
  for (const model::VariantSummary& variant : comparison.variants) {
    if (variant.strategy == "parameter-sweep") continue;
    seen = true;
    EXPECT_EQ(variant.status, model::VariantStatus::failed_gate) << variant.reason;
    EXPECT_THAT(variant.reason, HasSubstr("above the bound"));
  }
  EXPECT_TRUE(seen);
  EXPECT_EQ(comparison.winner, "v1");
}

}  // namespace
}  // namespace hone::repository::manifest
