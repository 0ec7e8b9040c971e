#include "stages/optimize/optimize.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <optional>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "stages/optimize/ideas.hpp"
#include "stages/optimize/notebook.hpp"
#include "stages/optimize/stopping.hpp"
#include "stages/optimize/sweep.hpp"
#include "stages/optimize/target_metric.hpp"
#include "stages/trial/evaluate.hpp"
#include "stages/trial/lab.hpp"
#include "stages/trial/scope.hpp"
#include "stages/trial/settings_function.hpp"

namespace hone::stages {

namespace {

constexpr std::size_t kShownCells = 4;  // of the winner's, in one sentence

class Optimization {
 public:
  Optimization(Lab& lab, repository::Changeable& changeable, std::optional<TargetMetric> target)
      : lab_(lab),
        changeable_(changeable),
        target_(std::move(target)),
        passes_(aim_of(lab).passes),
        ideas_(lab, changeable),
        small_gains_(lab.options().small_gain_pct, typical_noise_floor(lab.profile(), passes_)) {}

  base::Result<model::ComparisonDocument> run() {
    const model::Profile& profile = lab_.profile();
    document_.kernel = profile.kernel, document_.created = lab_.timed().clock().utc();
    document_.device = profile.device.name, document_.profile_created = profile.created;
    document_.source_hash = profile.identity.source_hash, document_.dtype = profile.request.dtype;
    document_.representative_x = representative_size(profile, lab_.described().sizes());
    document_.winner = "v0";
    HONE_PROPAGATE(loop());
    conclude();
    HONE_PROPAGATE(save());
    return document_;
  }

 private:
  std::optional<std::string> at_its_ceiling() const {
    if (lab_.profile().request.goal == "memory") return std::nullopt;
    return nothing_left(lab_.profile(), passes_, lab_.options().ceiling_share_pct,
                        best_ ? &best_->against_v0 : nullptr);
  }

  base::Result<std::optional<std::string>> reason_to_stop() {
    if (target_) {
      const Evaluation* best = best_ ? &*best_ : nullptr;
      if (auto met = target_reached(*target_, lab_.profile(), lab_.described().sizes(), best)) return met;
    }
    auto left = at_its_ceiling();
    // Under other load ceilings come out too low, and what is held against them too good: they are looked at again first.
    if (left && !lab_.floors().looked()) {
      HONE_PROPAGATE(lab_.floors().look_again());
      left = at_its_ceiling();
    }
    if (left) return left;
    if (static_cast<int>(document_.variants.size()) >= lab_.options().max_variants) {
      return std::optional(
          fmt::format("all {} variants allowed by --max-variants were used", lab_.options().max_variants));
    }
    return small_gains_.reason();
  }

  // True: there is a reason to stop, and the document says it.
  base::Result<bool> stops() {
    HONE_TRY(reason, reason_to_stop());
    if (*reason) document_.stop_reason = **reason;
    return reason->has_value();
  }

  base::Result<void> loop() {
    if (auto stop = stops(); !stop || *stop) return stop ? base::Result<void>() : stop.error();
    HONE_TRY(original, contestant_of(lab_, lab_.described().original()));
    original_ = best_contestant_ = std::move(*original);
    original_.variant.id = best_contestant_.variant.id = "v0";
    while (true) {
      if (auto go = lab_.check_interrupt(); !go) return go;
      if (auto stop = stops(); !stop || *stop) return stop ? base::Result<void>() : stop.error();
      HONE_TRY(idea, ideas_.next(best_contestant_.variant, tried_, notes_files_));
      if (!*idea) {
        document_.stop_reason = "every strategy of the profile has been tried";
        return {};
      }
      if (auto done = (*idea)->sweep ? run_sweep() : run_proposal((*idea)->proposal); !done) return done;
    }
  }

  std::string next_id() const { return "v" + std::to_string(document_.variants.size() + 1); }

  base::Result<void> run_sweep() {
    model::Variant variant = best_contestant_.variant;
    variant.id = next_id(), variant.parent = best_contestant_.variant.id, variant.strategy = kSweepStrategy;
    variant.title = "settings by size, measured";
    std::string knobs;
    for (const repository::Knob& knob : lab_.described().knobs()) {
      if (std::find(passes_.begin(), passes_.end(), knob.pass) != passes_.end())
        knobs += fmt::format("- {} of {}, {} values: {}\n", knob.name, knob.pass, knob.values.size(), knob.help);
    }
    const std::string changes = "Settings as a function of " + lab_.described().x_name() +
                                ", chosen by measurement; the source stays as it is. Knobs:\n\n" + knobs;
    model::Notes notes =
        open(variant,
             "The shipped settings were chosen without a measurement of this machine and these sizes. " +
                 lab_.profile().summary + " Settings measured at each size should come nearer to the ceiling.",
             changes, "", sweep_predictions(lab_.profile(), passes_));
    if (auto written = write_notes(notes); !written) return written;
    HONE_TRY(swept, sweep(lab_, original_.variant, {evaluation_of(variant)}));
    document_.evaluations = swept->evaluations;
    document_.sweep = swept->points;
    for (const auto& [pass, function] : swept->settings) variant.settings[pass] = function;
    findings_ = swept->findings;
    notes.changes +=
        fmt::format("\nOf {} configurations {} differ in machine code or launch, {} were timed. Chosen:\n\n",
                    swept->evaluations.planned, swept->evaluations.distinct_binaries, swept->evaluations.timed);
    for (const auto& [pass, function] : swept->settings) {
      for (const model::SettingsRule& rule : function.rules)
        notes.changes +=
            fmt::format("- {} from {}: {} ({})\n", pass, rule.from_x, settings_text(rule.settings), rule.reason);
      notes.changes += "- " + pass + ": " + function.reason + "\n";
    }
    notes.diff = settings_diff(best_contestant_.variant, variant);
    return run_variant(variant, notes);
  }

  base::Result<void> run_proposal(const repository::Proposal& proposal) {
    model::Variant variant = proposal.variant;
    variant.id = next_id(), variant.parent = best_contestant_.variant.id;
    const std::string diff = proposal.diff.empty() ? settings_diff(best_contestant_.variant, variant) : proposal.diff;
    model::Notes notes = open(variant, proposal.hypothesis + lessons(), proposal.changes, diff, proposal.predictions);
    return run_variant(variant, notes);
  }

  model::Notes open(const model::Variant& variant, const std::string& hypothesis, const std::string& changes,
                    const std::string& diff, const std::vector<model::Prediction>& predictions) {
    model::Notes notes = open_notes(lab_, variant, hypothesis, changes, diff, predictions);
    notes.date = lab_.timed().clock().utc();
    return notes;
  }

  std::string lessons() const {
    if (document_.variants.empty()) return "";
    const model::VariantSummary& last = document_.variants.back();
    return fmt::format("\n\nSo far: {} ({}) was {}: {}", last.id, last.strategy, model::word(last.status), last.reason);
  }

  base::Result<void> write_notes(const model::Notes& notes) {
    return lab_.ports().documents.write_notes(lab_.workspace(), lab_.profile(), notes);
  }

  base::Result<void> write_variant(const model::Variant& variant) {
    const Workspace& workspace = lab_.workspace();
    if (auto written = workspace.write(workspace.settings_name(variant.id), model::to_json(variant)); !written)
      return written;
    if (variant.edits.empty()) return {};
    return workspace.write(workspace.source_name(variant.id, changeable_.variant_file_extension()),
                           variant.edits.front().content);
  }

  // As progress names it. The weight is the time of a cell's verdict over that of a screening of the sweep (sweep.cpp).
  Work evaluation_of(const model::Variant& variant) const {
    return {fmt::format("{}: {}", variant.id, variant.title), static_cast<int>(all_cells(lab_.described()).size()),
            3.5};
  }

  // Notes with hypothesis and prediction, and the variant itself, are on the disk before it runs.
  base::Result<void> run_variant(const model::Variant& variant, model::Notes notes) {
    lab_.ports().progress.step(evaluation_of(variant).title);
    if (auto written = write_variant(variant); !written) return written;
    if (auto written = write_notes(notes); !written) return written;
    HONE_TRY(evaluation, evaluate(lab_, original_, best_contestant_, variant, notes.predictions));
    close_notes(notes, *evaluation);
    if (auto written = write_notes(notes); !written) return written;
    const std::string notes_file = lab_.workspace().notes_name(variant.id);
    document_.variants.push_back(summary_of(notes, variant, notes_file));
    document_.learnings.push_back(variant.id + " (" + variant.strategy + "): " + notes.learnings);
    tried_.push_back({variant.id, variant.parent, variant.strategy, model::word(notes.status), notes.reason});
    notes_files_.push_back(notes_file);
    small_gains_.add(*evaluation);
    lab_.ports().progress.message(fmt::format("{} {}: {}", variant.id, model::word(notes.status), notes.reason));
    if (notes.status == model::VariantStatus::accepted) {
      best_contestant_ = evaluation->contestant;
      best_ = *evaluation;
      document_.winner = variant.id;
    } else if (notes.status == model::VariantStatus::mixed) {
      ideas_.offer_parts(*evaluation);
    }
    return save();
  }

  void conclude() {
    const std::vector<std::string>& more = ideas_.findings();
    findings_.insert(findings_.end(), more.begin(), more.end());
    if (lab_.floors().looked())
      for (const std::string& note : lab_.profile().device.ceilings.notes)
        findings_.push_back("ceilings of the device: " + note);
    for (const std::string& finding : findings_) document_.learnings.push_back(finding);
    if (!best_) {
      document_.winner_reason = document_.variants.empty()
                                    ? "nothing was tried: " + document_.stop_reason
                                    : "no variant was significantly faster with every guardrail kept";
      return;
    }
    std::vector<const CellResult*> faster;
    for (const CellResult& r : best_->against_v0) {
      if (r.comparison.verdict == model::Verdict::faster) faster.push_back(&r);
    }
    std::stable_sort(faster.begin(), faster.end(),
                     [](const auto* a, const auto* b) { return a->comparison.ratio < b->comparison.ratio; });
    std::vector<std::string> figures;
    for (const CellResult* r : faster) {
      if (figures.size() < kShownCells)
        figures.push_back(fmt::format("{} at {} {}", r->cell.mode, r->cell.x_value, claim_of(r->comparison)));
    }
    document_.winner_reason = fmt::format(
        "significantly faster than v0 in {} of {} cells{}{}. It is the last variant accepted, each against the best "
        "before it",
        faster.size(), best_->against_v0.size(), figures.empty() ? "" : ", most in ", base::join_text(figures, "; "));
  }

  base::Result<void> save() {
    if (auto written = lab_.workspace().write("comparison.json", model::to_json(document_)); !written) return written;
    return lab_.ports().documents.write_comparison(lab_.workspace(), document_);
  }

  Lab& lab_;
  const repository::Changeable& changeable_;
  std::optional<TargetMetric> target_;
  std::vector<std::string> passes_;
  Ideas ideas_;
  SmallGains small_gains_;
  model::ComparisonDocument document_;
  Contestant original_, best_contestant_;
  std::optional<Evaluation> best_;  // of the best variant; nothing while v0 is
  std::vector<TriedVariant> tried_;
  std::vector<std::string> notes_files_, findings_;
};

Item item_of(const model::VariantSummary& v) {
  Item item{v.id, v.title, {{"strategy", v.strategy}, {"status", model::word(v.status)}, {"reason", v.reason}}};
  for (const model::ResultRow& row : v.results)
    item.details.emplace_back(
        "result", fmt::format("{} {} at {}: {:.3f} x v0 ({:.3f} to {:.3f}), {}", row.metric, row.mode, row.x_value,
                              row.ratio, row.ci_low, row.ci_high, model::word(row.verdict)));
  for (const model::GuardrailCheck& check : v.guardrails)
    item.details.emplace_back("guardrail", check.check + ": " + check.status);
  item.details.emplace_back("notes", v.notes_file);
  return item;
}

Question question_about(const model::ComparisonDocument& document, bool alone) {
  Question question;
  const std::string winner =
      document.winner == "v0" ? "v0 stays, no variant is better." : document.winner + " is the winner.";
  question.headline =
      winner + (alone ? " Keep " : " Go on to finalize with ") + document.winner + (alone ? " for finalize?" : "?");
  for (const model::VariantSummary& v : document.variants) {
    question.items.push_back(item_of(v));
    const bool usable = v.status == model::VariantStatus::accepted || v.status == model::VariantStatus::mixed;
    if (usable && v.id != document.winner) question.alternatives.push_back(v.id);
  }
  question.accept = (alone ? "keep " : "go on to finalize with ") + document.winner;
  question.stop = "keep the results and change nothing";
  return question;
}

}  // namespace

base::Result<void> check_device(const repository::Described& kernel, const model::Profile& profile) {
  const model::DeviceInfo device = kernel.device();
  if (profile.device.kind == device.kind && profile.device.name == device.name &&
      profile.device.architecture == device.architecture)
    return {};
  return base::Error{
      base::ErrorKind::preflight, "a profile of this device: " + device.name + " (" + device.architecture + ")",
      "a profile of " + profile.device.name + " (" + profile.device.architecture + ", " + profile.device.kind + ")",
      "profile.json", "profile again: hone profile " + kernel.identity().kernel};
}

base::Result<void> check_profile(const repository::Described& kernel, const model::Profile& profile) {
  if (const std::string missing = kernel.unmeasurable(); !missing.empty())
    return base::Error{base::ErrorKind::preflight,
                       "a machine where " + kernel.identity().kernel + " can be run and timed", missing, "pre-flight",
                       "go on where a GPU is; 'hone profile' works here from source"};
  const std::string remedy = "profile again: hone profile " + kernel.identity().kernel;
  const auto refuse = [&](const std::string& what, const std::string& expected, const std::string& found) {
    return base::Error{base::ErrorKind::preflight, "a profile of this " + what + ": " + expected, found, "profile.json",
                       remedy};
  };
  if (profile.kernel != kernel.identity().kernel) return refuse("kernel", kernel.identity().kernel, profile.kernel);
  if (profile.identity.source_hash != kernel.source_hash())
    return refuse("source", kernel.source_hash(), "a profile of source " + profile.identity.source_hash);
  return check_device(kernel, profile);
}

base::Result<OptimizeOutcome> optimize(const Kernel& kernel, const model::Profile& profile,
                                       const OptimizeOptions& asked, const Workspace& workspace, const Ports& ports) {
  const OptimizeOptions options = profile.request.quick ? for_quick(asked) : asked;
  const repository::Described& described = kernel.described;
  auto checked = check_profile(described, profile);
  HONE_PROPAGATE(check_interrupt(ports, options.command));  // its worker was stopped: no finding
  if (!checked) return checked.error();
  std::optional<TargetMetric> target;
  if (!options.target_metric.empty()) {
    HONE_TRY(parsed,
             parse_target_metric(options.target_metric, described.modes(), described.x_name(), described.sizes()));
    target = std::move(*parsed);
  }
  HONE_TRY(journal,
           Journal::open(ports.files, kernel.timed.clock(), workspace.at("journal.jsonl"), run_identity(profile)));
  if (journal->resumed_records() > 0)
    ports.progress.message(fmt::format("resuming: {} results of an earlier run are kept", journal->resumed_records()));
  Lab lab(described, kernel.buildable, kernel.timed, kernel.judged, profile, options, ports, workspace,
          std::move(*journal));
  HONE_TRY(document, Optimization(lab, kernel.changeable, std::move(target)).run());
  OptimizeOutcome outcome{std::move(*document), {}};
  ports.documents.show_comparison(workspace, outcome.comparison);
  if (auto unasked = decided_unasked(ports, options)) {
    outcome.decision = std::move(*unasked);
    return outcome;
  }
  const Question question = question_about(outcome.comparison, options.alone);
  HONE_TRY(decided, ask(ports, lab.journal(), key_of("optimize", question), question, options));
  outcome.decision = std::move(*decided);
  if (outcome.decision.choice == Choice::another) {
    outcome.comparison.winner_reason = fmt::format("chosen at the checkpoint instead of {} ({})",
                                                   outcome.comparison.winner, outcome.comparison.winner_reason);
    outcome.comparison.winner = outcome.decision.alternative;
    HONE_PROPAGATE(workspace.write("comparison.json", model::to_json(outcome.comparison)));
    HONE_PROPAGATE(ports.documents.write_comparison(workspace, outcome.comparison));
  }
  return outcome;
}

}  // namespace hone::stages
