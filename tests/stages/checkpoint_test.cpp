// Checkpoints: what a person may answer, and that an answer is asked for once.
#include "stages/checkpoint.hpp"

#include <gmock/gmock.h>

#include "tests/stages/stage_fixture.hpp"

namespace hone::stages {
namespace {

using ::testing::HasSubstr;

class CheckpointTest : public test::StepTest {
 protected:
  CheckpointTest() {
    person.present = true;
    question.headline = "Go on?";
    question.items = {{"1", "first", {}}, {"2", "second", {}}};
    question.alternatives = {"v1"};
  }
  Journal journal() {
    auto opened = Journal::open(files, clock, "journal.jsonl", "a run");
    EXPECT_TRUE(opened);
    return std::move(*opened);
  }
  // A process of its own each time, as after a kill.
  Decision asked(const std::string& key = "profile") {
    Journal kept = journal();
    auto decision = ask(ports, kept, key, question, {false, false, "hone optimize rms_norm"});
    EXPECT_TRUE(decision);
    return *decision;
  }
  base::ManualClock clock;
  Question question;
};

TEST_F(CheckpointTest, AnAnswerIsKeptInTheJournalAndNotAskedForAgain) {
  person.replies = {{Choice::accept, ""}};
  EXPECT_EQ(asked().choice, Choice::accept);
  EXPECT_THAT(*files.read("journal.jsonl"), HasSubstr("\"choice\":\"accept\""));
  EXPECT_EQ(asked().choice, Choice::accept);
  EXPECT_EQ(person.questions.size(), 1u);
  EXPECT_THAT(progress.messages.back(), HasSubstr("not asked again"));
  EXPECT_EQ(journal().resumed_records(), 0) << "an answer is no measurement";

  person.replies = {{Choice::another, "v1"}};
  asked("optimize");
  EXPECT_EQ(asked("optimize").alternative, "v1");
  EXPECT_EQ(person.questions.size(), 2u);
}

TEST_F(CheckpointTest, AnAnswerThatEndedTheRunIsAskedForByTheNext) {
  person.replies = {{Choice::stop, ""}, {Choice::accept, ""}};
  EXPECT_EQ(asked().choice, Choice::stop);
  EXPECT_EQ(asked().choice, Choice::accept);
}

TEST_F(CheckpointTest, TheEndOfInputStopsAndIsNoAnswer) {
  person.replies = {{Choice::stop, "", {}, false}};
  EXPECT_EQ(asked().choice, Choice::stop);
  EXPECT_EQ(files.read("journal.jsonl")->find("answered"), std::string::npos);
}

TEST_F(CheckpointTest, WhatNamesNothingOfferedIsNoConsent) {
  question.editable = true;
  person.replies = {
      {Choice::another, "v7"}, {Choice::edit, "", {0, 0}}, {Choice::edit, "", {2}}, {Choice::edit, "", {}}};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(asked("key " + std::to_string(i)).choice, Choice::stop);
  question.editable = false;
  person.replies = {{Choice::edit, "", {1, 0}}};
  EXPECT_EQ(asked("another").choice, Choice::stop);
}

TEST_F(CheckpointTest, AnAnswerThatHadItsEffectIsAskedForAgain) {
  person.replies = {{Choice::accept, ""}, {Choice::stop, ""}};
  asked();
  Journal kept = journal();
  ASSERT_TRUE(forget_answer(kept, "profile"));
  EXPECT_EQ(asked().choice, Choice::stop);
}

TEST_F(CheckpointTest, NobodyIsAskedByAnAutonomousRunNorWithoutATerminal) {
  EXPECT_EQ(decided_unasked(ports, {true, false, ""})->choice, Choice::accept);
  EXPECT_FALSE(decided_unasked(ports, {}));
  person.present = false;
  EXPECT_TRUE(decided_unasked(ports, {false, false, "hone optimize rms_norm"})->ended);
}

}  // namespace
}  // namespace hone::stages
