// The person at the terminal, played: questions with their answers, and what progress writes.
#include "cli/terminal.hpp"

#include <gmock/gmock.h>

#include <sstream>

namespace hone::cli {
namespace {

using stages::Choice;
using ::testing::HasSubstr;
using ::testing::Not;

class Played : public ::testing::Test {
 protected:
  Played() {
    question.headline = "Go on to optimize with this plan?";
    question.items = {{"1", "Parameter sweep", {{"reason", "always first"}, {"risk", "none"}}},
                      {"2", "Cache policy", {{"reason", "rows are read once"}}},
                      {"3", "Access width", {{"reason", "loads are narrow"}, {"bound", "at most 4 %"}}}};
    question.editable = true;
    question.accept = "go on to optimize", question.stop = "stop here";
  }
  stages::Reply answer(const std::string& typed) {
    std::istringstream in(typed);
    std::ostringstream out;
    TerminalInteraction person(in, out, true);
    const stages::Reply reply = person.ask(question);
    shown = out.str();
    return reply;
  }
  stages::Question question;
  std::string shown;
};

TEST_F(Played, YesNoAndEnter) {
  for (const char* yes : {"y\n", "Y\n", "yes\n", "  yes \n", "\n", "a\n"})
    EXPECT_EQ(answer(yes).choice, Choice::accept) << yes;
  for (const char* no : {"n\n", "N\n", "no\n", "s\n", "q\n"}) {
    const auto reply = answer(no);
    EXPECT_EQ(reply.choice, Choice::stop) << no;
    EXPECT_TRUE(reply.given);
  }
  EXPECT_THAT(shown, HasSubstr("Go on to optimize with this plan? [Y/n/e/d N/?] "));
  question.usual = Choice::stop;
  EXPECT_EQ(answer("\n").choice, Choice::stop);
  EXPECT_THAT(shown, HasSubstr("[y/N/"));
}

TEST_F(Played, TheEndOfInputStopsAndIsNoAnswer) {
  for (const char* typed : {"", "?\n", "e\n", "e\n9\n"}) {
    const auto reply = answer(typed);
    EXPECT_EQ(reply.choice, Choice::stop) << typed;
    EXPECT_FALSE(reply.given) << typed;
    EXPECT_EQ(shown.back(), '\n') << "what follows begins a line of its own";
  }
}

TEST_F(Played, HelpListsWhatCanBeAnswered) {
  for (const char* help : {"?\ny\n", "help\ny\n", "h\ny\n"}) {
    EXPECT_EQ(answer(help).choice, Choice::accept);
    EXPECT_THAT(shown, HasSubstr("y, Enter    go on to optimize\n"));
    EXPECT_THAT(shown, HasSubstr("n           stop here\n"));
    EXPECT_THAT(shown, HasSubstr("e           edit the plan"));
    EXPECT_THAT(shown, HasSubstr("d 1         details of step 1"));
  }
  EXPECT_EQ(answer("maybe\n\n").choice, Choice::accept);
  EXPECT_THAT(shown, HasSubstr("'maybe' is no answer here"));
  EXPECT_THAT(answer("\033[2J\ny\n").choice == Choice::accept ? shown : "", Not(HasSubstr("\033")));
}

TEST_F(Played, DetailsOfAStep) {
  for (const char* asked :
       {"details of step 3\ny\n", "Details of 3\ny\n", "details 3\ny\n", "d 3\ny\n", "d3\ny\n", "3\ny\n"}) {
    EXPECT_EQ(answer(asked).choice, Choice::accept) << asked;
    EXPECT_THAT(shown, HasSubstr("3. Access width\n  reason    loads are narrow\n  bound     at most 4 %\n")) << asked;
  }
  answer("d 4\ny\n");
  EXPECT_THAT(shown, HasSubstr("'d 4' is no answer here"));
}

TEST_F(Played, LongDetailsAreWrappedBesideTheirLabel) {
  question.items[0].details = {{"reason", std::string(60, 'a') + " " + std::string(60, 'b')}};
  answer("d 1\ny\n");
  EXPECT_THAT(shown, HasSubstr("  reason    " + std::string(60, 'a') + "\n            " + std::string(60, 'b') + "\n"));
}

TEST_F(Played, ThePlanIsEditedByNumbers) {
  auto reply = answer("edit the plan\n3 1\n");
  EXPECT_EQ(reply.choice, Choice::edit);
  EXPECT_EQ(reply.order, (std::vector<std::size_t>{2, 0}));
  EXPECT_THAT(shown, HasSubstr("  2. Cache policy\n"));
  reply = answer("e\ndrop 1\n");
  EXPECT_EQ(reply.order, (std::vector<std::size_t>{1, 2}));
  reply = answer("e\n4\n1 1\n2 3 1\n");
  EXPECT_EQ(reply.order, (std::vector<std::size_t>{1, 2, 0}));
  EXPECT_THAT(shown, HasSubstr("from 1 to 3, each once; found '4'"));
  EXPECT_THAT(shown, HasSubstr("found 1 twice"));
  EXPECT_EQ(answer("e\n\ny\n").choice, Choice::accept) << "Enter leaves the plan as it is";
  question.editable = false;
  answer("e\ny\n");
  EXPECT_THAT(shown, HasSubstr("'e' is no answer here"));
}

TEST_F(Played, AnotherIsChosenByItsName) {
  question.editable = false;
  question.items = {{"v1", "settings by size", {{"status", "accepted"}}}};
  question.alternatives = {"v1", "v3"};
  for (const char* typed : {"v3\n", "c v3\n", "choose v3\n", "V3\n"}) {
    const auto reply = answer(typed);
    EXPECT_EQ(reply.choice, Choice::another) << typed;
    EXPECT_EQ(reply.alternative, "v3");
  }
  EXPECT_EQ(answer("v2\nn\n").choice, Choice::stop);
  answer("d v1\ny\n");
  EXPECT_THAT(shown, HasSubstr("v1 settings by size\n  status    accepted\n"));
}

class Progress : public ::testing::Test {
 protected:
  void pass(double seconds) { clock.advance_ns(static_cast<std::int64_t>(seconds * 1e9)); }
  std::string take() {
    std::string text = out.str();
    out.str("");
    return text;
  }
  base::ManualClock clock;
  std::ostringstream out;
};

TEST_F(Progress, PlainLinesComeAtMostEveryTenSeconds) {
  TerminalProgress progress(out, clock, false, false);
  progress.stage("optimize 2/3");
  progress.step("sweep forward");
  EXPECT_EQ(take(), "[  0.0 s] optimize 2/3 · sweep forward\n");
  progress.advance(0, 32, "hidden_size=1024");
  for (int done = 1; done < 12; ++done) pass(0.9), progress.advance(done, 32, "hidden_size=1024");
  EXPECT_EQ(take(), "");
  pass(0.9), progress.advance(12, 32, "hidden_size=1024");
  EXPECT_EQ(take(), "[ 10.8 s] optimize 2/3 · sweep forward 12/32 · about 20 s left · hidden_size=1024\n");
  progress.step("sweep backward");
  EXPECT_EQ(take(), "");
  progress.message("v1 accepted");
  EXPECT_EQ(take(), "v1 accepted\n") << "what is worth keeping does not wait";
}

TEST_F(Progress, OneStagesPaceSaysNothingAboutTheNext) {
  TerminalProgress progress(out, clock, false, true);
  progress.stage("profile 1/3");
  progress.step("baseline");
  progress.advance(0, 2, ""), pass(5), progress.advance(1, 2, "");
  progress.stage("optimize 2/3");
  progress.expect({{"sweep forward", 20, 1}});
  take();
  progress.step("sweep forward");
  EXPECT_EQ(take(), "[  5.0 s] optimize 2/3 · sweep forward\n");
}

TEST_F(Progress, VerboseSaysEachUnit) {
  TerminalProgress progress(out, clock, false, true);
  progress.step("sweep forward");
  progress.advance(0, 2, "a"), progress.advance(1, 2, "b");
  EXPECT_EQ(take(), "[  0.0 s] sweep forward\n[  0.0 s] sweep forward 0/2 · a\n[  0.0 s] sweep forward 1/2 · b\n");
}

TEST_F(Progress, TheUnitAfterWhichAStepGivesUpEstimatesNothing) {
  TerminalProgress progress(out, clock, false, true);
  progress.step("verify rms_norm");
  progress.advance(0, 40, ""), pass(1), progress.advance(1, 40, "columns=64");
  EXPECT_THAT(take(), ::testing::HasSubstr("verify rms_norm 1/40 · about 40 s left"));
  pass(60), progress.advance_last(2, 40, "columns=97");
  EXPECT_EQ(take(), "[ 61.0 s] verify rms_norm 2/40 · columns=97\n");
  progress.step("verify swiglu");
  progress.advance(0, 3, ""), pass(1), progress.advance(1, 3, "");
  EXPECT_THAT(take(), ::testing::HasSubstr("verify swiglu 1/3 · about 5 s left"));
}

TEST_F(Progress, ATerminalHasOneLineWithinItsWidth) {
  TerminalProgress progress(out, clock, true, false, 40);
  progress.stage("profile 1/3");
  progress.step("baseline");
  EXPECT_EQ(take(), "profile 1/3 · baseline");
  progress.advance(0, 12, "");
  EXPECT_EQ(take(), "\r\033[Kprofile 1/3 · baseline 0/12");
  pass(1), progress.advance(1, 12, "forward at hidden_size = 2048");
  EXPECT_EQ(take(), "\r\033[Kprofile 1/3 · baseline 1/12 · about 10…");
  progress.advance(2, 12, "");
  EXPECT_EQ(take(), "") << "no faster than anybody can read";
  progress.message("note");
  EXPECT_EQ(take(), "\r\033[Knote\n");
  progress.finish();
  EXPECT_EQ(take(), "");
}

}  // namespace
}  // namespace hone::cli
