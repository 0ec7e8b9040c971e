// The built program at a terminal, through all three stages of a small kernel: questions with help, details and an edited plan,
// Ctrl-C at two of them, and a run that goes on without asking again.
#include <gmock/gmock.h>

#include "tests/cli/program_fixture.hpp"
#include "tests/support/terminal_session.hpp"

namespace hone::cli {
namespace {

using ::testing::HasSubstr;

// Shipped settings that do the work eight times over: what is to be found does not depend on the machine.
constexpr const char* kManifest = R"toml(name = "slow_scale"
description = "x * 2, eight times over as shipped"
language = "c++"
tier = 1
tier_reason = "each element by itself"
source = "slow_scale.cpp"
reference = "slow_scale_reference.cpp"
x_name = "columns"
sizes = [1024]
dtypes = ["fp32"]

[size]
rows = "512"

[tensor.x]
role = "input"
shape = ["rows", "columns"]
values = { distribution = "normal", mean = 0, deviation = 1 }

[tensor.y]
role = "output"
shape = ["rows", "columns"]
tolerance = "eps"

[knob.REPEATS]
values = [8, 1]
value = 8
help = "how often it is done"

[pass.forward]
flops = "rows * columns"

[pass.forward.launch]
entry = "slow_scale"
grid = "rows"
arguments = ["x", "y", "rows", "columns"]

[pass.forward.reference]
function = "slow_scale_reference"
)toml";
constexpr const char* kSource =
    R"cpp(#include <cstdint>
          extern "C" void slow_scale(std::int64_t row, const float* x, float* y, std::int64_t, std::int64_t columns) {
            for (int repeat = 0; repeat < REPEATS; ++repeat) {
              for (std::int64_t i = row * columns; i < (row + 1) * columns; ++i) y[i] = 2 * x[i];
              asm volatile("" ::: "memory");
            }
          }
    )cpp";
constexpr const char* kReference =
    R"cpp(#include <cstdint>
          extern "C" void slow_scale_reference(const double* x, double* y, std::int64_t rows, std::int64_t columns) {
            for (std::int64_t i = 0; i < rows * columns; ++i) y[i] = 2 * x[i];
          }
    )cpp";

class AtATerminal : public ProgramTest {
 protected:
  AtATerminal() {
    for (const auto& [name, text] : {std::pair{"hone.toml", kManifest}, std::pair{"slow_scale.cpp", kSource},
                                     std::pair{"slow_scale_reference.cpp", kReference}})
      EXPECT_TRUE(files_.write_atomically(folder_ / name, text));
  }
  std::unique_ptr<test::TerminalSession> start(const std::vector<std::string>& more = {"--max-variants", "1"}) {
    std::vector<std::string> words{hone(),        "run",         "slow_scale", "--repo", folder_.path(),
                                   "--workspace", folder_ / "w", "--device",   "cpu",    "--quick"};
    words.insert(words.end(), more.begin(), more.end());
    return std::make_unique<test::TerminalSession>(
        words, std::map<std::string, std::string>{{"HONE_SETTINGS_DIR", folder_ / "settings"},
                                                  {"HONE_CACHE_DIR", folder_ / "cache"},
                                                  {"TERM", "xterm"},
                                                  {"NO_COLOR", "1"}});
  }
  std::string workspace_file(const std::string& name) { return *files_.read(folder_ / ("w/slow_scale/" + name)); }
};

constexpr const char *kPlan = "Go on to optimize with this plan? [Y/n", *kWinner = "Go on to finalize with v1? [Y/n",
                     *kKeep = "v1 is in production and passed every gate. Keep it? [Y/n";

TEST_F(AtATerminal, ThePlanIsEditedEachAnswerIsAskedForOnceAndCtrlCRestoresProduction) {
  {
    const auto run = start();
    ASSERT_TRUE(run->shows("slow_scale on ")) << run->seen();
    ASSERT_TRUE(run->shows("as measured first")) << run->seen();
    ASSERT_TRUE(run->shows("plan      1. Parameter sweep")) << "the plan stands above the question: " << run->seen();
    ASSERT_TRUE(run->shows(kPlan)) << run->seen();
    run->type("?\n");
    ASSERT_TRUE(run->shows("edit the plan")) << run->seen();
    run->type("details of step 1\n");
    ASSERT_TRUE(run->shows("bound     ")) << run->seen();
    run->type("edit the plan\n");
    ASSERT_TRUE(run->shows("order> ")) << run->seen();
    run->type("1\n");
    ASSERT_TRUE(run->shows("recommended was:")) << run->seen();
    ASSERT_TRUE(run->shows(kPlan)) << run->seen();
    run->type("\003");
    EXPECT_EQ(run->wait(), 130) << run->seen();
  }
  EXPECT_THAT(workspace_file("profile.json"), HasSubstr("recommended was"));
  EXPECT_THAT(workspace_file("profile.md"), HasSubstr("recommended was"));
  EXPECT_THAT(workspace_file("journal.jsonl"), HasSubstr("\"steps\":\"parameter-sweep\""));
  {
    const auto run = start({"--fresh"});
    ASSERT_TRUE(run->shows("ceilings of the device")) << run->seen();
    run->type("\003");
    EXPECT_EQ(run->wait(), 130) << run->seen();
    EXPECT_EQ(run->seen().find("going on with"), std::string::npos) << run->seen();
  }
  {
    const auto run = start();
    ASSERT_TRUE(run->shows("going on with the profile of")) << run->seen();
    ASSERT_TRUE(run->shows(kPlan)) << "Ctrl-C is no answer: " << run->seen();
    run->type("y\n");
    ASSERT_TRUE(run->shows("winner v1")) << run->seen();
    ASSERT_TRUE(run->shows(kWinner)) << run->seen();
    run->type("\n");
    ASSERT_TRUE(run->shows(kKeep)) << run->seen();
    EXPECT_TRUE(files_.exists(folder_ / "hone.settings.toml"));
    run->type("\003");
    EXPECT_EQ(run->wait(), 130) << run->seen();
    EXPECT_FALSE(files_.exists(folder_ / "hone.settings.toml")) << "production is what it was";
    EXPECT_THAT(workspace_file("comparison.json"), HasSubstr("all 1 variants allowed by --max-variants were used"));
  }
  const auto run = start();
  ASSERT_TRUE(run->shows("not asked again: go on to optimize")) << run->seen();
  ASSERT_TRUE(run->shows("not asked again: go on to finalize with v1")) << run->seen();
  ASSERT_TRUE(run->shows(kKeep)) << run->seen();
  run->type("\004");
  EXPECT_EQ(run->wait(), 0) << "the end of input takes it back and reports: " << run->seen();
  EXPECT_THAT(run->seen(), HasSubstr("REVERTED"));
  EXPECT_FALSE(files_.exists(folder_ / "hone.settings.toml"));
  EXPECT_EQ(run->seen().find(kPlan), std::string::npos);
}

}  // namespace
}  // namespace hone::cli
