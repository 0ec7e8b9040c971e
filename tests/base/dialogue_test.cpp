// A program that stays: lines both ways, its end, its silence, and the tail of its stderr.
#include "base/dialogue.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "base/process.hpp"

namespace hone::base {
namespace {

Command talking_shell(const std::string& script) {
  Command command;
  command.arguments = {"sh", "-c", script};
  return command;
}

std::unique_ptr<Dialogue> talk_to(const std::string& script, const std::atomic<bool>* stop = nullptr) {
  auto dialogue = SystemProcesses(stop).talk(talking_shell(script));
  EXPECT_TRUE(dialogue) << (dialogue ? "" : dialogue.error().found);
  return dialogue ? std::move(*dialogue) : nullptr;
}

TEST(Dialogue, AnswersLineByLine) {
  auto program = talk_to("while read line; do echo \"heard $line\"; done");
  ASSERT_TRUE(program);
  for (const std::string& word : {std::string("one"), std::string("two"), std::string(100'000, 'x')}) {
    ASSERT_TRUE(program->say(word));
    auto answer = program->hear(20'000);
    ASSERT_TRUE(answer) << answer.error().found;
    EXPECT_EQ(*answer, "heard " + word);
  }
  EXPECT_TRUE(program->alive());
}

TEST(Dialogue, TheEndOfTheProgramIsAnErrorWithItsStatusAndLastWords) {
  auto program = talk_to("read line; echo 'lost the device' >&2; exit 7");
  ASSERT_TRUE(program);
  ASSERT_TRUE(program->say("go"));
  auto answer = program->hear(20'000);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::gate);
  EXPECT_NE(answer.error().found.find("exit status 7"), std::string::npos) << answer.error().found;
  EXPECT_NE(program->last_words().find("lost the device"), std::string::npos);
  EXPECT_FALSE(program->alive());
  EXPECT_FALSE(program->say("more"));
  EXPECT_FALSE(program->hear(1'000));
}

TEST(Dialogue, ASignalIsNamed) {
  auto program = talk_to("read line; kill -SEGV $$");
  ASSERT_TRUE(program);
  ASSERT_TRUE(program->say("go"));
  auto answer = program->hear(20'000);
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().found.find("signal 11"), std::string::npos) << answer.error().found;
}

TEST(Dialogue, SilenceEndsTheProgram) {
  auto program = talk_to("read line; sleep 1000");
  ASSERT_TRUE(program);
  ASSERT_TRUE(program->say("go"));
  auto answer = program->hear(100);
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().found.find("no answer within 100 ms"), std::string::npos);
  EXPECT_FALSE(program->alive());
}

TEST(Dialogue, AStopIsAnInterruption) {
  std::atomic<bool> stop{false};
  auto program = talk_to("read line; sleep 1000", &stop);
  ASSERT_TRUE(program);
  stop = true;
  auto answer = program->hear(600'000);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::interrupted);
}

TEST(Dialogue, AProgramThatIsNotThereIsNamed) {
  Command command;
  command.arguments = {"hone-no-such-program"};
  auto dialogue = SystemProcesses().talk(command);
  ASSERT_FALSE(dialogue);
  EXPECT_EQ(dialogue.error().kind, ErrorKind::preflight);
}

TEST(Dialogue, AScriptAnswersInOrderThenEnds) {
  ScriptedDialogue script({"a", "b", "<hang>"});
  ASSERT_TRUE(script.say("first"));
  EXPECT_EQ(*script.hear(1), "a");
  EXPECT_EQ(*script.hear(1), "b");
  EXPECT_FALSE(script.hear(1));
  EXPECT_FALSE(script.alive());
  EXPECT_EQ(script.said, std::vector<std::string>{"first"});
}

}  // namespace
}  // namespace hone::base
