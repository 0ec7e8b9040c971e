// How the program talks: closed pipes, quiet and verbose, colours, and tables that fit the terminal.
#include <gmock/gmock.h>

#include "base/text.hpp"
#include "cli/flags.hpp"
#include "render/terminal/style.hpp"
#include "tests/cli/program_fixture.hpp"

namespace hone::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Output : public ProgramTest {
 protected:
  void SetUp() override {
    std::ofstream(folder_ / "softmax.py") << R"(import triton
import triton.language as tl


@triton.jit
def _softmax_forward_kernel_with_a_long_name(x_ptr, y_ptr, stride, n_columns, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK_SIZE)
    mask = columns < n_columns
    x = tl.load(x_ptr + row * stride + columns, mask=mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * stride + columns, e / tl.sum(e, axis=0), mask=mask)


def forward(x, y):
    _softmax_forward_kernel_with_a_long_name[(x.shape[0],)](x, y, x.stride(0), x.shape[1], BLOCK_SIZE=triton.next_power_of_2(x.shape[1]))
)";
  }
  // The command with a standard output whose reader is gone, and the status it ends with.
  base::Outcome into_closed_pipe(const std::string& command) {
    std::ofstream(folder_ / "closed.bash") << "exec 3> >(:)\nwait $!\n" + command + " >&3\necho \"status=$?\" >&2\n";
    return run_shell("exec bash \"$FOLDER/closed.bash\"");
  }
};

TEST_F(Output, AClosedPipeEndsItSilently) {
  for (const char* command : {"\"$HONE\" list", "\"$HONE\" list --json", "\"$HONE\" man", "\"$HONE\" --help",
                              "\"$HONE\" audit \"$FOLDER/softmax.py\"", "\"$HONE\" completions bash", "\"$HONE\" -V",
                              // more than a stream's buffer holds
                              "\"$HONE\" audit \"" HONE_SOURCE_DIR "/examples\" --json"})
    EXPECT_EQ(into_closed_pipe(command).error, "status=0\n") << command;
  // What went wrong besides is said all the same.
  const auto refused = into_closed_pipe("\"$HONE\" list --repo /nowhere");
  EXPECT_THAT(refused.error, HasSubstr("nothing of that name"));
  EXPECT_THAT(refused.error, HasSubstr("status=2\n"));
}

TEST_F(Output, EveryCommandTellsTheVersion) {
  const std::string version = run({"-V"}).output;
  EXPECT_THAT(version, StartsWith("hone "));
  EXPECT_EQ(run({"version"}).output, version);
  for (const CommandSpec& command : all_commands())
    for (const char* flag : {"-V", "--version"}) {
      const auto outcome = run({command.name, flag});
      EXPECT_EQ(outcome.exit_status, 0) << command.name;
      EXPECT_EQ(outcome.output, version) << command.name;
    }
}

TEST_F(Output, EveryCommandTakesTheFlagsThatSayHowToTalk) {
  for (const CommandSpec& command : all_commands())
    for (const std::vector<std::string>& flags :
         {std::vector<std::string>{"-q"}, {"-v"}, {"--color", "never"}, {"--color=always"}, {"--no-color"}}) {
      std::vector<std::string> words = {command.name, "--help"};
      words.insert(words.end(), flags.begin(), flags.end());
      const auto outcome = run(words);
      EXPECT_EQ(outcome.exit_status, 0) << command.name << outcome.error;
    }
}

// What the fixture gets with --json it holds against the schemas.
TEST_F(Output, EveryCommandThatTakesJsonPrintsOneDocument) {
  const std::string csv = std::string(HONE_SOURCE_DIR) + "/tests/counters/fixtures/synthetic_ncu_raw.csv";
  const std::map<std::string, std::vector<std::string>> arguments = {
      {"audit", {folder_ / "softmax.py"}},
      {"counters", {csv}},
      {"compare", {"v0", "v1", "--kernel", "rms_norm", "--workspace", folder_ / "w"}},
      {"history", {"--workspace", folder_ / "w"}},
      {"explain", {"memory"}},
      {"verify", {"relu_squared", "--device", "cpu", "--dtype", "fp32", "--short"}},
      {"completions", {"bash"}},
      {"doctor", {"--quick", "--device", "cpu"}}};
  for (const CommandSpec& command : all_commands()) {
    std::vector<std::string> words = {command.name, "--json"};
    if (const auto more = arguments.find(command.name); more != arguments.end())
      words.insert(words.end(), more->second.begin(), more->second.end());
    else if (command.offer == Offer::kernels)
      words.push_back("no_such_kernel");  // their documents are other tests'; that of an error has to be one, too
    const auto outcome = run(words);
    EXPECT_TRUE(nlohmann::json::accept(outcome.output)) << command.name << ": " << outcome.output.substr(0, 200);
    if (takes(command, "--json"))
      EXPECT_TRUE(nlohmann::json::accept(run({command.name, "--json", "--version"}).output)) << command.name;
    else
      EXPECT_EQ(outcome.exit_status, 2) << command.name;
  }
}

TEST_F(Output, QuietSaysTheResultAndErrorsAlone) {
  const std::vector<std::string> words = {"verify", "relu_squared", "--device", "cpu", "--dtype", "fp32", "--short"};
  const auto loud = run(words);
  EXPECT_THAT(loud.error, HasSubstr("verify relu_squared"));
  std::vector<std::string> hushed = words;
  hushed.push_back("--quiet");
  const auto quiet = run(hushed);
  EXPECT_EQ(quiet.error, "");
  EXPECT_EQ(quiet.output, loud.output);
  expect_refused(run({"list", "-q", "--repo", "/nowhere"}), 2, "nothing of that name");
}

TEST_F(Output, ColoursComeWhenAskedFor) {
  EXPECT_THAT(run({"list", "--color", "always"}).output, HasSubstr("\033["));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"list"}, {"list", "--color", "never"}, {"list", "--no-color"}})
    EXPECT_THAT(run(words).output, Not(HasSubstr("\033[")));
  EXPECT_THAT(run({"list"}, {{"CLICOLOR_FORCE", "1"}}).output, HasSubstr("\033["));
  EXPECT_THAT(run({"list"}, {{"CLICOLOR_FORCE", "1"}, {"NO_COLOR", "1"}}).output, Not(HasSubstr("\033[")));
}

TEST_F(Output, FitsTheTerminalFrom60ColumnsOn) {
  for (const std::size_t columns : {std::size_t{60}, std::size_t{80}, std::size_t{120}})
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"list"},
          {"audit", folder_ / "softmax.py"},
          {"audit", "-v", folder_ / "softmax.py"},
          {"verify", "relu_squared", "--device", "cpu", "--dtype", "fp32", "--short"},
          {"--help"},
          {"help", "history"}}) {
      const auto outcome = run(words, {{"COLUMNS", std::to_string(columns)}});
      EXPECT_EQ(outcome.exit_status, 0) << outcome.error;
      const std::string text = outcome.output.substr(0, outcome.output.find("\nexamples\n"));
      EXPECT_FALSE(text.empty());
      for (const std::string& line : base::split(text, '\n')) {
        if (line.find(folder_.path()) != std::string::npos) continue;  // a path stays whole, so that it can be pasted
        EXPECT_LE(render::display_width(line), columns) << words[0] << ": " << line;
      }
    }
}

}  // namespace
}  // namespace hone::cli
