// Finalize over a scripted session: production is the old or the new, never anything between, and says so first.
#include "stages/finalize/finalize.hpp"

#include <gmock/gmock.h>

#include <climits>
#include <cmath>

#include "base/hash.hpp"
#include "tests/stages/stage_fixture.hpp"

namespace hone::test {
namespace {

using stages::Ending;
using ::testing::HasSubstr;

class Finalize : public StageTest {
 protected:
  // A workspace after profile and optimize: v1 (sweep) and v2 (a change of the source, the winner), both accepted.
  Finalize() {
    kernel.sizes = {"1024", "4096"};
    session.held_out.clear();
    kernel.sources["changed text\n"] = {0.9, 0.9};
    session.proposals["less-traffic"] = {source_proposal(kernel, "changed text\n")};
    use_strategies({"less-traffic"});
    EXPECT_TRUE(workspace().write("profile.json", model::to_json(profile)));
    EXPECT_TRUE(workspace().write_snapshot(session.snapshot()));
    const auto outcome = optimize(options());
    EXPECT_TRUE(outcome);
    EXPECT_EQ(outcome->comparison.winner, "v2");
    kernel.events.clear();
    session.samples = 0;
  }

  base::Result<stages::FinalizeOutcome> finalize(const std::string& variant = "", bool autonomous = true) {
    stages::FinalizeOptions o;
    o.variant = variant;
    o.autonomous = autonomous;
    o.command = "hone finalize rms_norm";
    o.next_command = "hone verify rms_norm";
    const auto work = workspace();
    if (auto recovered = stages::recover_installation(work, session.clock()); !recovered) return recovered.error();
    return stages::finalize(stages::Kernel::of(session), o, work, ports);
  }
  bool installed() { return files.exists(kernel.installed_file); }
  std::string production() { return installed() ? *files.read(kernel.installed_file) : ""; }
};

TEST_F(Finalize, RefusesAProfileOfAnotherDeviceBeforeItTouchesAnything) {
  profile.device.name = "NVIDIA H200";
  ASSERT_TRUE(workspace().write("profile.json", model::to_json(profile)));
  const auto outcome = finalize();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, base::ErrorKind::preflight);
  EXPECT_THAT(outcome.error().found, HasSubstr("NVIDIA H200"));
  EXPECT_FALSE(installed());
}

TEST_F(Finalize, CeilingsMeasuredUnderLoadAreLookedAtAgainBeforeAWinnerIsTakenBack) {
  for (model::Headroom& row : profile.headroom)
    row.floor_ms *= 1.3, row.physics_floor_ms *= 1.3, row.ratio /= 1.3, row.share_of_ceiling_pct *= 1.3;
  ASSERT_TRUE(workspace().write("profile.json", model::to_json(profile)));
  const auto outcome = finalize();  // the second look finds the true ceilings
  ASSERT_TRUE(outcome) << base::describe(outcome.error());
  EXPECT_EQ(outcome->ending, Ending::applied) << outcome->report.reason;
  EXPECT_EQ(std::count(kernel.events.begin(), kernel.events.end(), "ceilings again"), 1);
  for (const auto& row : outcome->report.three_way)
    EXPECT_LE(row.share_of_ceiling_pct, 105) << "every share is taken against the last look: " << row.provider;
  ASSERT_FALSE(outcome->report.profile.headroom.empty());
  EXPECT_NE(outcome->report.profile.headroom, profile.headroom);
}

TEST_F(Finalize, AppliesTheWinnerAfterTheFullGateAndMeasuresAnew) {
  auto outcome = finalize();
  ASSERT_TRUE(outcome) << base::describe(outcome.error());
  EXPECT_EQ(outcome->ending, Ending::applied);
  const model::Report& report = outcome->report;
  EXPECT_TRUE(report.applied);
  EXPECT_EQ(report.reason, "applied v2");
  EXPECT_TRUE(installed());
  EXPECT_THAT(report.diff, HasSubstr("+++ b/production/settings.json"));
  EXPECT_EQ(report.changed_files, std::vector<std::string>{"production/settings.json"});
  ASSERT_EQ(report.correctness.size(), 2u);
  EXPECT_EQ(report.correctness[1].name, "full");
  EXPECT_EQ(report.correctness[1].passed, 120);
  EXPECT_EQ(report.speedups.size(), 6u);
  for (const auto& row : report.speedups) EXPECT_LT(row.ci_high, 1);
  int eager = 0, optimized = 0;
  for (const auto& row : report.three_way) eager += row.provider == "eager", optimized += row.provider == "optimized";
  EXPECT_EQ(eager, 8) << "six times and two memory rows";
  EXPECT_EQ(optimized, 8);
  EXPECT_EQ(report.plots, std::vector<std::string>{"plots/speed.svg"});
  EXPECT_FALSE(report.recommendations.empty());
  EXPECT_FALSE(report.reproduction.empty());
  ASSERT_EQ(report.revert.size(), 1u);
  EXPECT_EQ(report.revert[0], "rm 'production/settings.json'");
  EXPECT_TRUE(files.exists("optimization/rms_norm/report.json"));
  EXPECT_TRUE(files.exists("optimization/rms_norm/report.md"));
}

TEST_F(Finalize, ABusyMachineDoesNotLoseTheTable) {
  session.load = [this](int samples) {
    return kernel.events.back().find("eager") != std::string::npos && samples % 3 == 0 ? 3.0 : 1.0;
  };
  auto outcome = finalize();
  ASSERT_TRUE(outcome) << base::describe(outcome.error());
  EXPECT_EQ(outcome->ending, Ending::applied);
  EXPECT_THAT(outcome->report.recommendations, ::testing::Contains(HasSubstr("Measure again on a quieter machine")));
}

// A round of all subjects takes seconds here; the time aimed at would hold none.
TEST_F(Finalize, ASlowDeviceEndsInAReport) {
  session.load = [](int) { return 700.0; };
  auto outcome = finalize();
  ASSERT_TRUE(outcome) << base::describe(outcome.error());
  EXPECT_EQ(outcome->ending, Ending::applied) << outcome->report.reason;
  EXPECT_TRUE(installed());
  EXPECT_TRUE(files.exists("optimization/rms_norm/report.md"));
  for (const auto& row : outcome->report.speedups) EXPECT_EQ(row.verdict, model::Verdict::faster) << row.mode;
}

// Four busy processes on two cores: most runs take two to four times as long, none is quiet for long.
TEST_F(Finalize, ABusyMachineEndsInAReportToo) {
  session.load = [](int samples) { return 2 + std::sin(samples * 0.7) + (samples % 3 == 0 ? 1.5 : 0); };
  auto outcome = finalize();
  ASSERT_TRUE(outcome) << base::describe(outcome.error());
  EXPECT_TRUE(files.exists("optimization/rms_norm/report.md"));
  EXPECT_EQ(installed(), outcome->ending == Ending::applied);
  if (outcome->ending != Ending::applied) {
    EXPECT_EQ(outcome->ending, Ending::inconclusive);
    EXPECT_EQ(outcome->report.outcome, model::Outcome::inconclusive);
    EXPECT_THAT(outcome->report.reason, HasSubstr("production is restored"));
  }
}

// What a candidate's own run needs fails: no variant can be confirmed, and that is said, not an error.
TEST_F(Finalize, WhatCanNotBeMeasuredAnewIsTakenBackAndReportedAsInconclusive) {
  for (const std::string call : {"build", "subject", "sample"}) {
    bool gated = false;
    session.judge = [&](const model::Variant&, repository::GateLevel) {
      gated = true;
      repository::GateResult result;
      result.passed = 1;
      return result;
    };
    kernel.fails = [&](const std::string& asked) { return gated && asked.rfind(call + " v", 0) == 0; };
    auto outcome = finalize();
    ASSERT_TRUE(outcome) << call << ": " << base::describe(outcome.error());
    EXPECT_EQ(outcome->ending, Ending::inconclusive) << call;
    EXPECT_FALSE(outcome->gate_failed);
    EXPECT_EQ(outcome->report.reason.rfind("inconclusive: v2: it could not be measured anew: told to fail", 0), 0u)
        << outcome->report.reason;
    EXPECT_FALSE(outcome->report.applied);
    EXPECT_FALSE(installed());
    EXPECT_THAT(*files.read("optimization/rms_norm/report.json"), HasSubstr("\"outcome\": \"inconclusive\""));
  }
}

TEST_F(Finalize, MemoryThatIsTheGoalMustBeMeasured) {
  profile.request.goal = "memory";
  ASSERT_TRUE(workspace().write("profile.json", model::to_json(profile)));
  kernel.fails = [](const std::string& asked) { return asked == "memory v2" || asked == "memory v1"; };
  auto outcome = finalize();
  ASSERT_TRUE(outcome) << base::describe(outcome.error());
  EXPECT_EQ(outcome->ending, Ending::inconclusive);
  EXPECT_FALSE(installed());
}

TEST_F(Finalize, AGainThatTheNoiseHidesIsInconclusive) {
  kernel.sources["changed text\n"] = {1, 1};
  const auto tuned = session.time_ms;
  session.time_ms = [&, tuned](const std::string& pass, std::int64_t x, const model::Settings&) {
    return tuned(pass, x, kernel.shipped(pass, x));
  };
  session.noise = 0.3;
  auto outcome = finalize();
  ASSERT_TRUE(outcome) << base::describe(outcome.error());
  EXPECT_EQ(outcome->ending, Ending::inconclusive) << outcome->report.reason;
  EXPECT_FALSE(installed());
}

// Nothing was tried, or nothing that was tried is known to be no faster.
TEST_F(Finalize, AComparisonThatToldNothingIsInconclusive) {
  auto comparison = *workspace().load_comparison();
  comparison.winner = "v0", comparison.stop_reason = "every strategy of the profile has been tried";
  for (auto& variant : comparison.variants) {
    variant.status = model::VariantStatus::rejected;
    for (auto& row : variant.results)
      row.ratio = 0.95, row.ci_low = 0.8, row.ci_high = 1.1, row.verdict = model::Verdict::unresolved;
  }
  ASSERT_TRUE(workspace().write("comparison.json", model::to_json(comparison)));
  auto outcome = finalize();
  ASSERT_TRUE(outcome) << base::describe(outcome.error());
  EXPECT_EQ(outcome->ending, Ending::inconclusive);
  EXPECT_THAT(outcome->report.reason, HasSubstr("a gain is neither shown nor excluded"));
  for (auto& variant : comparison.variants)
    for (auto& row : variant.results)
      row.ratio = 1, row.ci_low = 0.99, row.ci_high = 1.01, row.verdict = model::Verdict::same;
  ASSERT_TRUE(workspace().write("comparison.json", model::to_json(comparison)));
  auto known = finalize();
  ASSERT_TRUE(known);
  EXPECT_EQ(known->report.outcome, model::Outcome::nothing_found);
  EXPECT_EQ(known->ending, Ending::nothing_to_gain);
}

TEST_F(Finalize, FasterThanThePhysicsFloorAnewIsAFailedGate) {
  kernel.sources["changed text\n"] = {0.2, 0.2};
  session.judge = [](const model::Variant& variant, repository::GateLevel) {
    repository::GateResult result;
    result.passed = 1;
    result.failed = variant.id == "v1" ? 1 : 0;
    return result;
  };
  auto outcome = finalize();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->ending, Ending::reverted);
  EXPECT_TRUE(outcome->gate_failed);
  EXPECT_THAT(outcome->report.reason, HasSubstr("faster than the physical bound"));
}

TEST_F(Finalize, FallsBackToTheNextBestAcceptedVariant) {
  kernel.sources["changed text\n"].full_failure = "columns = 1031: y[0][1030]: error 3 > bound 0.1";
  auto outcome = finalize();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->ending, Ending::applied);
  EXPECT_EQ(outcome->report.winner, "v1");
  EXPECT_THAT(outcome->report.reason, HasSubstr("after falling back: v2: the full gate failed: columns = 1031"));
  EXPECT_EQ(outcome->report.correctness[1].failed, 1);
  EXPECT_THAT(production(), HasSubstr("\"v1\""));
}

TEST_F(Finalize, RevertsWhenEveryCandidateFailsAndSaysSoFirst) {
  session.judge = [](const model::Variant&, repository::GateLevel level) {
    repository::GateResult result;
    result.passed = 10;
    if (level == repository::GateLevel::full) result.failed = 1, result.first_failure = "dx: nan";
    return result;
  };
  auto outcome = finalize();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->ending, Ending::reverted);
  EXPECT_TRUE(outcome->gate_failed);
  EXPECT_FALSE(outcome->report.applied);
  EXPECT_EQ(outcome->report.reason.rfind("reverted: v2: the full gate failed: dx: nan; v1: ", 0), 0u)
      << outcome->report.reason;
  EXPECT_FALSE(installed());
  EXPECT_TRUE(files.exists("optimization/rms_norm/report.md"));
}

TEST_F(Finalize, AGateWithoutACaseIsAFailure) {
  session.judge = [](const model::Variant&, repository::GateLevel) { return repository::GateResult{}; };
  auto outcome = finalize();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->ending, Ending::reverted);
  EXPECT_THAT(outcome->report.reason, HasSubstr("no case was run"));
}

TEST_F(Finalize, WhatIsNotFasterWhenMeasuredAnewIsTakenBack) {
  const auto tuned = session.time_ms;
  session.time_ms = [&, tuned](const std::string& pass, std::int64_t x, const model::Settings&) {
    return tuned(pass, x, kernel.shipped(pass, x));
  };
  kernel.sources["changed text\n"] = {1, 1};
  auto outcome = finalize();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->ending, Ending::reverted);
  EXPECT_FALSE(outcome->gate_failed) << "nothing was wrong with it";
  EXPECT_THAT(outcome->report.reason, HasSubstr("not significantly faster"));
  EXPECT_FALSE(installed());
}

TEST_F(Finalize, StopsWithTheListOfEverythingThatIsMissing) {
  for (const char* name :
       {"original_rms_norm.hpp", "profile.json", "rms_norm_v2_settings.json", "rms_norm_v2_notes.md"}) {
    ASSERT_TRUE(files.remove(std::string("optimization/rms_norm/") + name));
  }
  auto outcome = finalize();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, base::ErrorKind::preflight);
  EXPECT_EQ(outcome.error().found,
            "missing: original_rms_norm.hpp, profile.json, rms_norm_v2_settings.json, rms_norm_v2_notes.md");
  EXPECT_FALSE(installed());
}

TEST_F(Finalize, TornOrForeignInputsAreRefused) {
  const std::string path = "optimization/rms_norm/profile.json";
  const std::string whole = *files.read(path);
  ASSERT_TRUE(files.write_atomically(path, whole.substr(0, whole.size() / 2)));
  EXPECT_FALSE(finalize());
  profile.created = "2026-05-05T05:05:05Z";
  ASSERT_TRUE(files.write_atomically(path, model::to_json(profile)));
  auto outcome = finalize();
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().expected, HasSubstr("made from this profile"));
  EXPECT_FALSE(installed());
}

TEST_F(Finalize, ChangedProductionStopsAnAutonomousRunAndIsAskedAboutOtherwise) {
  kernel.source = "edited since\n";
  auto stopped = finalize();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, base::ErrorKind::preflight);
  EXPECT_FALSE(finalize("", false)) << "nobody at a terminal: nobody agreed";
  person.present = true;
  person.replies = {{stages::Choice::stop, ""}};
  EXPECT_FALSE(finalize("", false));
  person.replies = {{stages::Choice::accept, ""}, {stages::Choice::accept, ""}};
  auto accepted = finalize("", false);
  ASSERT_TRUE(accepted) << base::describe(accepted.error());
  EXPECT_EQ(accepted->ending, Ending::applied);
}

TEST_F(Finalize, AVariantMayBeChosenButNotOneThatFailed) {
  auto chosen = finalize("1");
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->report.winner, "v1");
  ASSERT_TRUE(files.remove_recursively("production"));
  auto unknown = finalize("v7");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, base::ErrorKind::usage);
  EXPECT_THAT(unknown.error().remedy, HasSubstr("v1, v2"));
}

TEST_F(Finalize, NothingToGainChangesNothingAndStillReports) {
  auto outcome = finalize("v0");
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->ending, Ending::nothing_to_gain);
  EXPECT_FALSE(installed());
  EXPECT_THAT(outcome->report.reason, HasSubstr("v0 stays: it was chosen instead of v2"));
  int original = 0;
  for (const auto& row : outcome->report.three_way) original += row.provider == "original" && row.metric == "speed";
  EXPECT_EQ(original, 6);
  EXPECT_TRUE(files.exists("optimization/rms_norm/report.md"));
}

TEST_F(Finalize, ASecondRunFindsItApplied) {
  ASSERT_TRUE(finalize());
  const std::string before = production();
  auto again = finalize();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->ending, Ending::already_applied);
  EXPECT_EQ(production(), before);
  auto other = finalize("v1");
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().remedy, HasSubstr("rm 'production/settings.json'"));
}

TEST_F(Finalize, APersonMayTakeItBackOrChooseAnother) {
  person.present = true;
  person.replies = {{stages::Choice::stop, ""}};
  auto refused = finalize("", false);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->ending, Ending::reverted);
  EXPECT_FALSE(refused->gate_failed);
  EXPECT_FALSE(installed());
  person.replies = {{stages::Choice::another, "v1"}, {stages::Choice::accept, ""}};
  auto another = finalize("", false);
  ASSERT_TRUE(another);
  EXPECT_EQ(another->report.winner, "v1");
  EXPECT_THAT(production(), HasSubstr("\"v1\""));
}

TEST_F(Finalize, WhatAPersonChoseIsAskedAgainOnlyAfterItsEnd) {
  person.present = true;
  person.replies = {{stages::Choice::another, "v1"}};
  session.on_sample = [&](int) { interrupted = !person.questions.empty(); };  // while v1 is measured anew
  const auto stopped = finalize("", false);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, base::ErrorKind::interrupted);
  EXPECT_FALSE(installed());

  interrupted = false;
  session.on_sample = nullptr;
  person.replies = {{stages::Choice::accept, ""}};
  const auto resumed = finalize("", false);
  ASSERT_TRUE(resumed) << base::describe(resumed.error());
  EXPECT_EQ(resumed->report.winner, "v1");
  ASSERT_EQ(person.questions.size(), 2u);
  EXPECT_THAT(person.questions[1].headline, HasSubstr("v1 is in production"));

  ASSERT_TRUE(files.remove_recursively("production"));
  const auto anew = finalize("", false);  // nobody answers: taken back
  ASSERT_TRUE(anew) << base::describe(anew.error());
  EXPECT_EQ(anew->ending, Ending::reverted);
  ASSERT_EQ(person.questions.size(), 3u);
  EXPECT_THAT(person.questions[2].headline, HasSubstr("v2 is in production"));
}

// The sweep had the knobs of these strategies: they have been tried.
TEST_F(Finalize, WhatTheSweepHasTriedIsNotCalledUntried) {
  for (const char* strategy : {"rows-per-program", "prefetch"})
    profile.strategy_order.push_back({strategy, strategy, "as told", "", ""});
  ASSERT_TRUE(workspace().write("profile.json", model::to_json(profile)));
  const auto outcome = finalize();
  ASSERT_TRUE(outcome) << base::describe(outcome.error());
  EXPECT_THAT(outcome->report.recommendations, ::testing::Contains(HasSubstr("Not tried yet: prefetch;")));
}

TEST_F(Finalize, AStopRestoresProduction) {
  session.on_sample = [&](int samples) { interrupted = interrupted || samples == 40; };
  auto stopped = finalize();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, base::ErrorKind::interrupted);
  EXPECT_THAT(stopped.error().remedy, HasSubstr("production is restored"));
  EXPECT_FALSE(installed());
}

// Whatever the gate says after a stop: what it runs was stopped too.
TEST_F(Finalize, AStopInAGateIsNoFailedGate) {
  std::atomic<bool> unverified{false};
  ports.unverified = &unverified;
  for (const bool answered : {true, false}) {
    interrupted = false;
    session.judge = [&](const model::Variant&, repository::GateLevel) {
      EXPECT_TRUE(unverified) << "ending now would leave in production what no gate has passed";
      interrupted = true;
      repository::GateResult result;
      (answered ? result.passed : result.failed) = 1;
      return result;
    };
    const auto stopped = finalize();
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().kind, base::ErrorKind::interrupted);
    EXPECT_FALSE(installed());
    EXPECT_FALSE(unverified);
  }
  interrupted = false;
  session.judge = nullptr;
  ASSERT_TRUE(finalize());
  EXPECT_TRUE(installed());
  EXPECT_FALSE(unverified);
}

TEST_F(Finalize, AStopTakesBackNothingThatAnEarlierRunVerified) {
  ASSERT_TRUE(finalize());
  const std::string kept = production();
  use_strategies({});  // profiled again, with the installed settings as the original
  ASSERT_TRUE(workspace().write("profile.json", model::to_json(profile)));
  ASSERT_TRUE(optimize(options()));
  session.on_sample = [&](int) { interrupted = true; };
  EXPECT_EQ(finalize("v0").error().kind, base::ErrorKind::interrupted) << "stopped before anything was installed";
  EXPECT_EQ(production(), kept);
}

TEST_F(Finalize, AFullDiskAtAnyWriteRestoresProductionAndTheNextRunFinishes) {
  const base::MemoryFiles prepared = files;
  int failures = 0;
  for (int n = 1;; ++n) {
    files = prepared;
    files.fail_writes_after(n + 1);  // the first is the workspace's own check
    const auto broken = finalize();
    const std::string text = production();
    files.fail_writes_after(INT_MAX);
    if (broken) break;
    ++failures;
    EXPECT_TRUE(text.empty()) << "the original is in production again";
    EXPECT_THAT(broken.error().remedy, HasSubstr("production is restored")) << "after write " << n;
    EXPECT_FALSE(files.exists("optimization/rms_norm/report.json")) << "after write " << n;
    const auto next = finalize();
    ASSERT_TRUE(next) << "after write " << n << ": " << base::describe(next.error());
    EXPECT_EQ(next->ending, Ending::applied);
  }
  EXPECT_GE(failures, 6);
}

}  // namespace
}  // namespace hone::test
