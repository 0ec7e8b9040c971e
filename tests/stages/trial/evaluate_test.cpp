// One variant through compiler, gate, timings and guardrails: what each of them can find, and how much is done before it.
#include "stages/trial/evaluate.hpp"

#include <gmock/gmock.h>

#include "tests/stages/stage_fixture.hpp"

namespace hone::test {
namespace {

using model::VariantStatus;
using ::testing::HasSubstr;

class Evaluate : public LabTest {
 protected:
  // A change of the source with this behaviour, against v0.
  stages::Ruling ruling(const SourceBehaviour& behaviour) {
    trial.kernel.sources["changed\n"] = behaviour;
    model::Variant variant = trial.original();
    variant.id = "v1", variant.edits = {{"rms_norm.hpp", "changed\n"}};
    files = {};
    stages::Lab fresh = lab();
    auto original = stages::contestant_of(fresh, trial.original());
    EXPECT_TRUE(original) << base::describe(original.error());
    auto evaluation = stages::evaluate(fresh, *original, *original, variant, {});
    EXPECT_TRUE(evaluation) << base::describe(evaluation.error());
    return evaluation ? evaluation->ruling : stages::Ruling{};
  }
};

TEST_F(Evaluate, AFasterVariantIsAccepted) { EXPECT_EQ(ruling({0.9, 0.9}).status, VariantStatus::accepted); }

TEST_F(Evaluate, WrongResultsOfEveryClassAreRejectedWithThatReasonAndNeverTimed) {
  for (const std::string failure :
       {"dx[3][7]: off by one unit in the last place beyond the bound", "y[0][0]: nan is not finite",
        "columns = 1031: y[2][1030]: error 0.5 > bound 0.01", "y: guard byte 16 bytes after the end was overwritten"}) {
    const auto found = ruling({0.5, 0.5, 1, true, true, false, failure, ""});
    EXPECT_EQ(found.status, VariantStatus::failed_gate);
    EXPECT_EQ(found.reason, failure);
  }
  EXPECT_EQ(trial.samples, 0);
}

TEST_F(Evaluate, AGateThatRunsNoCaseIsAFailure) {
  trial.judge = [](const model::Variant&, repository::GateLevel) { return repository::GateResult{}; };
  const auto found = ruling({0.9, 0.9});
  EXPECT_EQ(found.status, VariantStatus::failed_gate);
  EXPECT_THAT(found.reason, HasSubstr("no case"));
}

TEST_F(Evaluate, FasterThanThePhysicsFloorIsNotSpeed) {
  const auto found = ruling({0.3, 0.3});
  EXPECT_EQ(found.status, VariantStatus::over_floor);
  EXPECT_THAT(found.reason, HasSubstr("faster than the physical bound"));
}

TEST_F(Evaluate, AVariantThatDoesNotCompileOrRunIsAResult) {
  const auto broken = ruling({1, 1, 1, false});
  EXPECT_EQ(broken.status, VariantStatus::failed_to_compile);
  EXPECT_THAT(broken.reason, HasSubstr("expected ';'"));
  const auto faulting = ruling({1, 1, 1, true, false});
  EXPECT_EQ(faulting.status, VariantStatus::failed_gate);
  EXPECT_THAT(faulting.reason, HasSubstr("the kernel faulted"));
}

TEST_F(Evaluate, TheSameMachineCodeIsTheSameVariant) {
  EXPECT_EQ(ruling({1, 1, 1, true, true, true}).status, VariantStatus::same_binary);
  EXPECT_EQ(trial.samples, 0);
}

TEST_F(Evaluate, OnePassMayNotPayMoreThanTenPercentForTheOther) {
  EXPECT_EQ(ruling({0.85, 1.5}).status, VariantStatus::mixed);
}

TEST_F(Evaluate, MoreMemoryThanFivePercentIsRejected) {
  const auto found = ruling({0.9, 0.9, 1.2});
  EXPECT_EQ(found.status, VariantStatus::rejected);
  EXPECT_THAT(found.reason, HasSubstr("memory"));
}

TEST_F(Evaluate, ATieGoesToTheIncumbent) {
  const auto found = ruling({1.0, 1.0});
  EXPECT_EQ(found.status, VariantStatus::rejected);
  EXPECT_THAT(found.reason, HasSubstr("tie goes to the incumbent"));
}

}  // namespace
}  // namespace hone::test
