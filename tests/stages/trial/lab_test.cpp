// The lab asks the journal first and measures only what is not there.
#include "stages/trial/lab.hpp"

#include <gmock/gmock.h>

#include "tests/stages/stage_fixture.hpp"

namespace hone::test {
namespace {

using stages::Trial;

const repository::Cell kCell{"1024", "forward"};

class LabOfATrial : public LabTest {
 protected:
  model::Settings shipped() const { return trial.kernel.shipped("forward", 1024); }
  model::Settings wider() const {
    model::Settings settings = shipped();
    settings["WIDTH"] = 8;
    return settings;
  }
  model::Variant changed(const SourceBehaviour& behaviour) {
    trial.kernel.sources["changed\n"] = behaviour;
    model::Variant variant = trial.original();
    variant.id = "v1", variant.edits = {{"rms_norm.hpp", "changed\n"}};
    return variant;
  }
};

TEST_F(LabOfATrial, WhatStandsInTheJournalIsNotMeasuredAgain) {
  const auto all = [this] {
    stages::Lab each = lab();
    const model::Variant original = trial.original(), variant = changed({0.8, 0.8, 0.5});
    EXPECT_LT(each.screen(kCell, shipped(), wider())->log_ratio, -0.03);
    EXPECT_LT(each.compare_settings(kCell, shipped(), wider())->comparison.ci_high, 1);
    EXPECT_NEAR(each.compare(original, variant, kCell)->comparison.ratio, 0.8, 0.02);
    EXPECT_EQ(each.gate(variant, repository::GateLevel::full)->passed, 120);
    EXPECT_DOUBLE_EQ(each.memory(variant, "1024")->peak_over_inputs_mb, 8);
    const auto built = each.build("forward", {"1024", "1024"}, {shipped(), wider()});
    EXPECT_NE((*built)[0].code_hash, (*built)[1].code_hash);
  };
  all();
  EXPECT_GT(trial.samples, 0);
  EXPECT_EQ(trial.settings_built, 2);
  trial.samples = 0, trial.kernel.events.clear();
  all();
  EXPECT_EQ(trial.samples, 0);
  EXPECT_EQ(trial.settings_built, 2);
  EXPECT_THAT(trial.kernel.events, ::testing::Not(::testing::Contains("gate full v1")));
}

TEST_F(LabOfATrial, ACandidateThatDoesNotRunIsAnAnswerAndABaselineThatDoesNotIsAnError) {
  const model::Variant faulting = changed({1, 1, 1, true, false});
  EXPECT_EQ(lab().compare(trial.original(), faulting, kCell)->outcome, Trial::Outcome::failed);
  trial.kernel.fails = [](const std::string& call) { return call == "subject v0"; };
  EXPECT_FALSE(lab().compare(trial.original(), changed({0.9, 0.9}), {"2048", "forward"}));
}

TEST_F(LabOfATrial, AConfigurationThatDoesNotCompileHasTheCompilersWords) {
  trial.compiles = [](const model::Settings& s) { return s.at("WIDTH") != 8; };
  const auto built = lab().build("forward", {"1024", "1024"}, {shipped(), wider()});
  ASSERT_TRUE(built);
  EXPECT_EQ((*built)[0].error, "");
  EXPECT_THAT((*built)[1].error, ::testing::HasSubstr("too wide"));
}

TEST_F(LabOfATrial, AStopIsNoAnswer) {
  trial.on_sample = [this](int) { interrupted = true; };
  EXPECT_EQ(lab().screen(kCell, shipped(), wider()).error().kind, base::ErrorKind::interrupted);
  trial.on_sample = nullptr, interrupted = false;
  EXPECT_TRUE(lab().screen(kCell, shipped(), wider())->usable) << "asked again, not found in the journal";
}

}  // namespace
}  // namespace hone::test
