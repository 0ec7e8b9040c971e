#include "stages/finalize/finalize.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "model/speedup.hpp"
#include "stages/finalize/inputs.hpp"
#include "stages/finalize/install.hpp"
#include "stages/finalize/reporting.hpp"
#include "stages/finalize/three_way.hpp"
#include "stages/optimize/stopping.hpp"
#include "stages/trial/scope.hpp"

namespace hone::stages {

namespace {

class Finalization {
 public:
  Finalization(const Kernel& kernel, const FinalizeOptions& options, const Workspace& workspace, const Ports& ports,
               Installer installer, FinalizeInputs inputs)
      : kernel_(kernel),
        options_(options),
        workspace_(workspace),
        ports_(ports),
        installer_(std::move(installer)),
        inputs_(std::move(inputs)),
        identity_(run_identity(inputs_.profile)),
        original_(kernel.described.original()) {}

  base::Result<FinalizeOutcome> run() {
    auto outcome = steps();
    if (outcome) return outcome;
    return restored(outcome.error());
  }

 private:
  // Whatever ends this early, production is what it was before: the error says so, and no document says otherwise.
  base::Error restored(base::Error error) {
    if (!touched_) return error;
    if (auto withdrawn = withdraw_report(); !withdrawn)
      error.remedy += "; do not believe the report: it could not be removed (" + withdrawn.error().found + ")";
    // What an earlier run verified is production: nothing of this run came to be written.
    const bool verified_before = installer_.last() && installer_.last()->state == "verified";
    auto reverted = verified_before ? base::Result<void>() : installer_.revert("stopped: " + error.found);
    if (reverted) {
      error.remedy = "production is restored" + (error.remedy.empty() ? "" : "; " + error.remedy);
      return error;
    }
    error.remedy = "production could not be restored (" + reverted.error().found + " at " + reverted.error().where +
                   "); the next run of 'hone finalize " + workspace_.kernel() + "' tries first. " + error.remedy;
    return error;
  }

  // Of a run that has no end: what is written of it may say "applied".
  base::Result<void> withdraw_report() {
    if (!report_begun_) return {};
    for (const char* name : {"report.json", "report.md", "report.html", "pr.md"}) {
      const std::string path = workspace_.at(name);
      if (!workspace_.files().exists(path)) continue;
      if (auto removed = workspace_.files().remove(path); !removed) return removed;
    }
    return {};
  }

  base::Result<FinalizeOutcome> steps() {
    HONE_PROPAGATE(production_unchanged());
    outcome_.report = start_report(kernel_.timed.clock(), inputs_, options_);
    if (inputs_.chosen == "v0") return nothing_to_gain();
    while (true) {
      HONE_PROPAGATE(try_variants());
      HONE_PROPAGATE(write_report());
      HONE_TRY(again, decide());
      if (!*again) return outcome_;
    }
  }

  base::Result<void> production_unchanged() {
    if (kernel_.described.source_hash() == inputs_.profile.identity.source_hash) return {};
    Question question;
    question.headline = "Production has changed since the profile was taken. Go on and measure everything anew?";
    question.lines = {"profiled: source " + inputs_.profile.identity.source_hash,
                      "now: source " + kernel_.described.source_hash(),
                      "the winner was measured against the profiled source; going on replaces what is there now"};
    question.accept = "go on and measure everything anew", question.stop = "change nothing";
    question.usual = Choice::stop;
    HONE_TRY(decision, asked("finalize|production " + kernel_.described.source_hash(), question));
    if (!options_.autonomous && !decision->ended && decision->choice == Choice::accept) return {};
    return base::Error{
        base::ErrorKind::preflight, "production as it was profiled, source " + inputs_.profile.identity.source_hash,
        "source " + kernel_.described.source_hash(), workspace_.folder(),
        "profile and optimize again: 'hone run " + workspace_.kernel() + "'; or put the profiled source back"};
  }

  // The answer is kept until the stage has come to its end; what is asked about figures is asked once for each of its attempts.
  base::Result<Decision> asked(const std::string& key, const Question& question) {
    if (auto unasked = decided_unasked(ports_, options_)) return *unasked;
    if (!journal_) {
      HONE_TRY(opened, Journal::open(ports_.files, kernel_.timed.clock(), workspace_.at("journal.jsonl"), identity_));
      journal_ = std::move(*opened);
    }
    answered_.push_back(key);
    return ask(ports_, *journal_, key, question, options_);
  }

  base::Result<void> forget_answers() {
    for (const std::string& key : answered_)
      if (auto forgotten = forget_answer(*journal_, key); !forgotten) return forgotten;
    return {};
  }

  base::Result<FinalizeOutcome> nothing_to_gain() {
    ports_.progress.step("measure original and providers");
    HONE_TRY(measured, three_way(original_));
    take(*measured);
    outcome_.ending = Ending::nothing_to_gain;
    const model::ComparisonDocument& comparison = inputs_.comparison;
    const auto hidden = hidden_gain(comparison, inputs_.profile,
                                    passes_in_scope(kernel_.described.modes(), inputs_.profile.request.scope));
    if (comparison.winner != "v0") {
      conclude(model::Outcome::nothing_found, "v0 stays: it was chosen instead of " + comparison.winner);
    } else if (says_at_ceiling(comparison.stop_reason)) {
      conclude(model::Outcome::at_ceiling, "nothing to gain: " + comparison.stop_reason);
    } else if (hidden) {
      outcome_.ending = Ending::inconclusive;
      conclude(model::Outcome::inconclusive, "inconclusive: " + *hidden);
    } else {
      conclude(model::Outcome::nothing_found, "v0 stays: " + comparison.stop_reason);
    }
    HONE_PROPAGATE(write_report());
    return outcome_;
  }

  void conclude(model::Outcome outcome, const std::string& reason) {
    outcome_.report.outcome = outcome, outcome_.report.reason = reason;
    outcome_.report.recommendations = recommendations_for(outcome_.report, warnings_, swept());
  }

  base::Result<ThreeWay> three_way(const model::Variant& optimized) {
    return measure_three_way(kernel_.described, kernel_.buildable, kernel_.timed, inputs_.profile, original_, optimized,
                             {options_.table, options_.verdict, options_.seed, options_.command}, ports_);
  }

  std::vector<std::string> swept() const {
    std::vector<std::string> strategies;
    for (const repository::Knob& knob : kernel_.described.knobs()) strategies.push_back(knob.strategy);
    return strategies;
  }

  void take(const ThreeWay& measured) {
    outcome_.report.three_way = measured.rows;
    outcome_.report.profile = inputs_.profile;  // its ceilings may have been looked at again
    warnings_ = measured.warnings;
  }

  // The chosen variant, then at most two others; the first that passes everything stays in production.
  base::Result<void> try_variants() {
    std::vector<std::string> failures;
    for (const model::Variant& variant : inputs_.variants) {
      HONE_TRY(failure, try_variant(variant));
      if (failure->empty()) {
        outcome_.ending = Ending::applied;
        outcome_.gate_failed = false;
        outcome_.report.applied = true;
        outcome_.report.winner = variant.id;
        conclude(model::Outcome::applied,
                 "applied " + variant.id +
                     (failures.empty() ? "" : " after falling back: " + base::join_text(failures, "; ")));
        return {};
      }
      failures.push_back(variant.id + ": " + *failure);
      ports_.progress.message(failures.back() + "; production is restored");
    }
    const std::string why = base::join_text(failures, "; ");
    if (inconclusive_ && !gate_failed_)
      reverted(Ending::inconclusive, model::Outcome::inconclusive, "inconclusive: " + why + "; production is restored");
    else
      reverted(Ending::reverted, model::Outcome::reverted, "reverted: " + why);
    outcome_.gate_failed = gate_failed_;
    return {};
  }

  void reverted(Ending ending, model::Outcome outcome, const std::string& reason) {
    outcome_.ending = ending;
    outcome_.report.applied = false;
    outcome_.report.winner = "v0";
    outcome_.report.changed_files.clear();
    outcome_.report.revert.clear();
    conclude(outcome, reason);
  }

  // Empty: installed and verified as far as gates and clocks can. Otherwise why it was taken back.
  base::Result<std::string> try_variant(const model::Variant& variant) {
    HONE_PROPAGATE(check_interrupt(ports_, options_.command));
    ports_.progress.step("apply " + variant.id + " and run the full gate");
    auto changes = kernel_.changeable.installation(variant);
    HONE_PROPAGATE(check_interrupt(ports_, options_.command));
    if (!changes) return "it can not be installed: " + changes.error().found;
    touched_ = true;
    HONE_PROPAGATE(installer_.apply(variant.id, *changes));
    if (auto style = kernel_.changeable.style()) outcome_.report.correctness.push_back(std::move(*style));
    HONE_TRY(failure, pass_gates(variant));
    gate_failed_ = gate_failed_ || !failure->empty();
    if (failure->empty()) failure = confirm_gain(variant);
    if (!failure) return failure.error();
    if (!failure->empty()) {
      HONE_PROPAGATE(installer_.revert(*failure));
      return failure;
    }
    outcome_.report.diff = diff_of(*changes);
    outcome_.report.changed_files.clear();
    for (const repository::FileChange& change : *changes) outcome_.report.changed_files.push_back(change.path);
    outcome_.report.revert = revert_commands(workspace_, *installer_.last());
    return failure;
  }

  base::Result<std::string> pass_gates(const model::Variant& variant) {
    for (const auto& [level, name] :
         {std::pair{repository::GateLevel::smoke, "smoke"}, std::pair{repository::GateLevel::full, "full"}}) {
      auto gate = kernel_.judged.gate(variant, level);
      HONE_PROPAGATE(check_interrupt(ports_, options_.command));
      if (!gate) return std::string("the ") + name + " gate could not be run: " + gate.error().found;
      outcome_.report.correctness.push_back(count_of(name, variant.id, *gate));
      if (!gate->ok())
        return std::string("the ") + name +
               " gate failed: " + (gate->passed + gate->failed == 0 ? "no case was run" : gate->first_failure);
    }
    return std::string();
  }

  base::Result<std::string> confirm_gain(const model::Variant& variant) {
    ports_.progress.step("measure original, " + variant.id + " and providers anew");
    auto measured = three_way(variant);
    HONE_PROPAGATE(check_interrupt(ports_, options_.command));
    if (!measured && measured.error().kind == base::ErrorKind::gate) {
      gate_failed_ = true;
      return measured.error().found;
    }
    if (!measured) {
      inconclusive_ = true;
      return "it could not be measured anew: " + measured.error().found +
             (measured.error().where.empty() ? "" : " (" + measured.error().where + ")");
    }
    take(*measured);
    outcome_.report.speedups = measured->speedups;
    const Gain& gain = measured->gain;
    if (inputs_.profile.request.goal == "memory" || gain.ci_high < 1) return std::string();
    // What is slower, or the same within the smallest effect that matters, is known; what may be faster is not.
    const bool same = gain.cells > 0 && gain.ci_low >= 1 - kTargetPct / 100 && gain.ci_high <= 1 + kTargetPct / 100;
    inconclusive_ = inconclusive_ || (gain.ci_low < 1 && !same) || gain.cells == 0;
    if (gain.cells == 0) return std::string("measured anew no cell of it could be judged");
    return fmt::format("measured anew it is not significantly faster: {} against the original over {} cells",
                       model::speed_claim(gain.ratio, gain.ci_low, gain.ci_high), gain.cells);
  }

  // report.json after the plots it names, then the documents for people.
  base::Result<void> write_report() {
    report_begun_ = true;
    HONE_TRY(plots, ports_.documents.write_plots(workspace_, outcome_.report));
    outcome_.report.plots = *plots;
    if (auto written = workspace_.write("report.json", model::to_json(outcome_.report)); !written) return written;
    if (auto written = ports_.documents.write_report(workspace_, outcome_.report); !written) return written;
    ports_.documents.show_report(workspace_, outcome_.report);
    return {};
  }

  Question question() const {
    Question question;
    const std::string& winner = outcome_.report.winner;
    question.headline = winner + " is in production and passed every gate. Keep it?";
    for (const model::VariantSummary& v : inputs_.comparison.variants) {
      const bool usable = v.status == model::VariantStatus::accepted || v.status == model::VariantStatus::mixed;
      if (usable && v.id != winner) question.alternatives.push_back(v.id);
    }
    question.accept = "keep " + winner + " in production", question.stop = "take it back";
    return question;
  }

  // True: the person chose another variant, which is tried next.
  base::Result<bool> decide() {
    if (outcome_.ending != Ending::applied) {
      HONE_PROPAGATE(forget_answers());
      return false;
    }
    const std::string key = fmt::format("finalize|{}|{}", ++attempts_, outcome_.report.winner);
    HONE_TRY(decided, asked(key, question()));
    outcome_.decision = std::move(*decided);
    HONE_PROPAGATE(check_interrupt(ports_, options_.command));
    // Before production is called verified: what can not be written here takes it back.
    if (outcome_.decision.choice != Choice::another) HONE_PROPAGATE(forget_answers());
    if (outcome_.decision.choice == Choice::accept) {
      HONE_PROPAGATE(installer_.verified());
      return false;
    }
    HONE_PROPAGATE(installer_.revert("not accepted at the checkpoint"));
    if (outcome_.decision.choice == Choice::stop) {
      reverted(Ending::reverted, model::Outcome::reverted, "reverted: not accepted at the checkpoint");
      HONE_PROPAGATE(write_report());
      return false;
    }
    HONE_TRY(variant, workspace_.load_variant(outcome_.decision.alternative));
    inputs_.variants = {std::move(*variant)};
    outcome_.report = start_report(kernel_.timed.clock(), inputs_, options_);
    return true;
  }

  const Kernel& kernel_;
  const FinalizeOptions& options_;
  const Workspace& workspace_;
  const Ports& ports_;
  Installer installer_;
  FinalizeInputs inputs_;
  std::string identity_;       // of the run, with the ceilings as they were profiled
  model::Variant original_;    // what is in force before anything is installed
  bool gate_failed_ = false;   // of any variant tried; a gain that was not confirmed is no failed gate
  bool inconclusive_ = false;  // a gain could be neither confirmed nor refuted
  bool touched_ = false;       // this run has begun to write into production
  bool report_begun_ = false;
  std::vector<std::string> warnings_;  // about the three-way table
  std::optional<Journal> journal_;     // opened for the first question
  std::vector<std::string> answered_;  // keys of the questions
  int attempts_ = 0;                   // variants that a person was asked about
  FinalizeOutcome outcome_;
};

base::Error another_in_force(const Workspace& workspace, const Installation& in_force, const std::string& wanted) {
  return {base::ErrorKind::preflight, "the original in production, to install " + wanted,
          in_force.variant + ", installed by an earlier run on " + in_force.at,
          in_force.files.empty() ? workspace.folder() : in_force.files.front().path,
          "take it back first: " + base::join_text(revert_commands(workspace, in_force), "; ")};
}

}  // namespace

base::Result<std::optional<std::string>> recover_installation(const Workspace& workspace, base::Clock& clock) {
  HONE_TRY(installer, Installer::open(workspace, clock));
  return installer->recover();
}

base::Result<FinalizeOutcome> finalize(const Kernel& kernel, const FinalizeOptions& options, const Workspace& workspace,
                                       const Ports& ports) {
  HONE_TRY(installer, Installer::open(workspace, kernel.timed.clock(), ports.unverified));
  HONE_TRY(recovered, installer->recover());
  if (*recovered) {
    // The session was opened on what has just been taken back: what it calls the original is not.
    return base::Error{base::ErrorKind::preflight, "production without an unfinished installation", **recovered,
                       workspace.folder(), "give the same command again"};
  }
  auto inputs = load_inputs(kernel.described, workspace, options.variant);
  HONE_PROPAGATE(check_interrupt(ports, options.command));
  if (!inputs) return inputs.error();
  // A profile taken since the installation has it as its original; one from before is of the files it replaced.
  const auto in_force = installer->in_force();
  if (in_force && kernel.described.source_hash() != inputs->profile.identity.source_hash) {
    if (in_force->variant != inputs->chosen) return another_in_force(workspace, *in_force, inputs->chosen);
    FinalizeOutcome outcome;
    outcome.ending = Ending::already_applied;
    outcome.report = start_report(kernel.timed.clock(), *inputs, options);
    outcome.report.applied = true;
    outcome.report.winner = in_force->variant;
    outcome.report.outcome = model::Outcome::applied;
    outcome.report.reason =
        "already applied " + in_force->variant + " on " + in_force->at + "; report.md is of that run";
    outcome.report.revert = revert_commands(workspace, *in_force);
    ports.documents.show_report(workspace, outcome.report);
    return outcome;
  }
  return Finalization(kernel, options, workspace, ports, std::move(*installer), std::move(*inputs)).run();
}

}  // namespace hone::stages
