// Ctrl-C: hone ends with 130 also while another program keeps it waiting, and not before production is what it was.
#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <sstream>

#include "cli/composition.hpp"
#include "cli/terminal.hpp"
#include "tests/cli/program_fixture.hpp"
#include "tests/repository/liger/checkout_copy.hpp"

namespace hone::cli {
namespace {

using ::testing::HasSubstr;

class Interrupt : public ProgramTest {
 protected:
  // A program that says its version and answers nothing else: it leaves a mark and sleeps far beyond the test's deadline.
  std::string hanging(const std::string& name) {
    const std::string path = folder_ / name;
    EXPECT_TRUE(files_.write_atomically(path,
                                        "#!/bin/sh\ncase \"$*\" in *--version*) echo 'a compiler 12'; exit 0;; esac\n"
                                        "touch \"$FOLDER/hangs\"\nsleep 3000\n"));
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  // Starts hone, waits for the mark, sends SIGINT to hone alone.
  base::Outcome interrupt(const std::string& words, std::map<std::string, std::string> environment) {
    environment["HONE_CACHE_DIR"] = folder_ / "cache";
    return run_shell("\"$HONE\" " + words +
                         " & hone=$!; until [ -e \"$FOLDER/hangs\" ]; do kill -0 $hone || break; sleep 0.05; done; "
                         "kill -INT $hone; wait $hone",
                     environment);
  }
};

TEST_F(Interrupt, ReachesDoctorWhileACompilerHangs) {
  const base::Outcome outcome = interrupt("doctor --device cpu", {{"HONE_CXX", hanging("compiler")}});
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_EQ(outcome.exit_status, 130) << outcome.error;
  EXPECT_THAT(outcome.error, HasSubstr("hone: interrupted"));
}

TEST_F(Interrupt, ReachesAProfileOfACheckoutWhilePythonHangs) {
  const repository::liger::CheckoutCopy checkout;
  if (!checkout.complete()) GTEST_SKIP() << "no .deps/liger-kernel here: './dev setup' puts it there";
  const base::Outcome outcome = interrupt("profile rms_norm --repo " + checkout.path() + " --workspace \"$FOLDER/w\"",
                                          {{"HONE_PYTHON", hanging("python")}});
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_EQ(outcome.exit_status, 130) << outcome.output << outcome.error;
  EXPECT_THAT(outcome.error, HasSubstr("hone: interrupted"));
  EXPECT_FALSE(files_.exists(folder_ / "w/rms_norm/profile.json")) << "what python could not say is no finding";
}

TEST(Signals, ASecondOneWaitsForWhatPutsProductionBack) {
  EXPECT_EXIT(
      {
        watch_signals();
        unverified() = true;
        for (int i = 0; i < 3; ++i) ::raise(SIGINT);
        ::_exit(interrupted() ? 7 : 8);
      },
      ::testing::ExitedWithCode(7), "putting production back first");
  EXPECT_EXIT(
      {
        watch_signals();
        for (int i = 0; i < 2; ++i) ::raise(SIGINT);
        ::_exit(9);
      },
      ::testing::KilledBySignal(SIGINT), "");
}

TEST(Terminal, CtrlCAtAQuestionIsTheAnswerStop) {
  std::istringstream in;
  std::ostringstream out;
  TerminalInteraction interaction(in, out, true, [] { return false; });
  stages::Question question;
  question.headline = "keep it?", question.accept = "keep", question.stop = "take it back";
  const stages::Reply reply = interaction.ask(question);
  EXPECT_EQ(reply.choice, stages::Choice::stop);
  EXPECT_FALSE(reply.given) << "the run goes on from here when it is started again: it will be asked";
}

}  // namespace
}  // namespace hone::cli
