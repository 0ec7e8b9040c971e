#include "stages/trial/evaluate.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "stages/trial/scope.hpp"

namespace hone::stages {

namespace {

using repository::BuiltPart;

const BuiltPart* part_of(const repository::Built& built, const std::string& pass, const std::string& x_value) {
  for (const BuiltPart& part : built.parts) {
    if (part.pass == pass && part.x_value == x_value) return &part;
  }
  return nullptr;
}

// Unknown hashes are never the same.
bool same_part(const repository::Built& a, const repository::Built& b, const std::string& pass,
               const std::string& x_value) {
  const BuiltPart *left = part_of(a, pass, x_value), *right = part_of(b, pass, x_value);
  return left && right && !left->machine_code_hash.empty() && left->machine_code_hash == right->machine_code_hash &&
         left->launch_hash == right->launch_hash;
}

class Gauntlet {
 public:
  Gauntlet(Lab& lab, const Contestant& original, const Contestant& parent)
      : lab_(lab), original_(original), parent_(parent), aim_(aim_of(lab)) {}

  base::Result<Evaluation> run(const model::Variant& variant, const std::vector<model::Prediction>& predictions) {
    result_.contestant.variant = variant;
    auto built = lab_.buildable().build(variant);
    if (!built) {
      if (built.error().kind == base::ErrorKind::interrupted) return built.error();
      HONE_PROPAGATE(lab_.check_interrupt());
      return end(model::VariantStatus::failed_to_compile,
                 built.error().found + (built.error().where.empty() ? "" : " (" + built.error().where + ")"));
    }
    result_.contestant.built = std::move(*built);
    if (all_same(parent_))
      return end(model::VariantStatus::same_binary,
                 "machine code and launches are those of " + parent_.variant.id + " at every size: the same variant");
    HONE_TRY(passed, pass_gate());
    if (!*passed) return result_;
    HONE_TRY(timed, time_all(predictions));
    if (!*timed) return result_;
    HONE_PROPAGATE(measure_memory());
    judge();
    return result_;
  }

 private:
  Evaluation end(model::VariantStatus status, std::string reason) {
    result_.ruling = {status, std::move(reason)};
    return result_;
  }

  bool all_same(const Contestant& other) {
    const std::vector<repository::Cell> cells = all_cells(lab_.described());
    return !cells.empty() && std::all_of(cells.begin(), cells.end(), [&](const repository::Cell& cell) {
      return same_code(lab_.described().modes(), other.built, result_.contestant.built, cell);
    });
  }

  base::Result<bool> pass_gate() {
    auto gate = lab_.gate(result_.contestant.variant, repository::GateLevel::smoke);
    if (!gate && gate.error().kind == base::ErrorKind::interrupted) return gate.error();
    if (!gate)
      return end(model::VariantStatus::failed_gate, "the smoke gate could not be run on it: " + gate.error().found),
             false;
    model::GuardrailCheck check;
    check.check = "correctness, smoke gate";
    check.threshold = "no failed case, at least one run";
    check.interval = fmt::format("{} passed, {} failed", gate->passed, gate->failed);
    check.status = gate->ok() ? "pass" : "fail";
    check.detail = gate->ok() ? fmt::format("largest error {:.2g} of its bound", gate->largest_error_over_bound)
                              : gate->first_failure;
    result_.guardrails.push_back(check);
    if (gate->ok()) return true;
    const std::string why = gate->passed + gate->failed == 0 ? "no case of the smoke gate was run, which is a failure"
                                                             : gate->first_failure;
    return end(model::VariantStatus::failed_gate, why), false;
  }

  // Every cell against v0; passes in scope and predicted cells against the parent. False: the variant ended there.
  base::Result<bool> time_all(const std::vector<model::Prediction>& predictions) {
    const std::vector<repository::Cell> cells = all_cells(lab_.described());
    int done = 0;
    for (const repository::Cell& cell : cells) {
      lab_.ports().progress.advance(done++, static_cast<int>(cells.size()), cell.mode + " at " + cell.x_value);
      HONE_TRY(against_v0, time(original_, cell, result_.against_v0));
      if (!*against_v0) return false;
      const bool in_scope = std::find(aim_.passes.begin(), aim_.passes.end(), cell.mode) != aim_.passes.end();
      const bool predicted = std::any_of(predictions.begin(), predictions.end(), [&](const model::Prediction& p) {
        return p.mode == cell.mode && p.x_value == cell.x_value;
      });
      if (!in_scope && !predicted) continue;
      HONE_TRY(against_parent, time(parent_, cell, result_.against_parent));
      if (!*against_parent) return false;
    }
    result_.measured = true;
    return true;
  }

  base::Result<bool> time(const Contestant& baseline, const repository::Cell& cell, std::vector<CellResult>& results) {
    CellResult row{cell, {}, lab_.noise_floor_pct(cell)};
    if (same_code(lab_.described().modes(), baseline.built, result_.contestant.built, cell)) {
      row.comparison.ratio = row.comparison.ci_low = row.comparison.ci_high = row.comparison.wall_ratio = 1;
      row.comparison.verdict = model::Verdict::same;
      row.comparison.reason = "the same machine code and launch: not timed";
      row.comparison.baseline_ms = row.comparison.candidate_ms =
          lab_.known_time(baseline.variant.id == original_.variant.id ? cell : repository::Cell{});
      results.push_back(row);
      return true;
    }
    HONE_TRY(trial, lab_.compare(baseline.variant, result_.contestant.variant, cell));
    const std::string where = cell.mode + " at " + cell.x_value + ": ";
    if (trial->outcome == Trial::Outcome::over_floor)
      return end(model::VariantStatus::over_floor, where + trial->reason), false;
    if (trial->outcome == Trial::Outcome::failed)
      return end(model::VariantStatus::failed_gate, where + "it does not run: " + trial->reason), false;
    row.comparison = trial->comparison;
    if (trial->outcome == Trial::Outcome::untrusted) row.comparison.reason = trial->reason;
    results.push_back(row);
    return true;
  }

  base::Result<void> measure_memory() {
    for (const std::string& x_value : lab_.described().sizes()) {
      HONE_TRY(before, lab_.memory(original_.variant, x_value));
      HONE_TRY(parent, lab_.memory(parent_.variant, x_value));
      HONE_TRY(after, lab_.memory(result_.contestant.variant, x_value));
      result_.memory.push_back({x_value, before->peak_over_inputs_mb, after->peak_over_inputs_mb});
      against_parent_memory_.push_back({x_value, parent->peak_over_inputs_mb, after->peak_over_inputs_mb});
    }
    return {};
  }

  void judge() {
    const std::vector<model::GuardrailCheck> checks = check_guardrails(aim_, result_.against_v0, result_.memory);
    std::vector<CellResult> deciding;
    std::vector<model::Comparison> comparisons;
    for (const CellResult& r : result_.against_parent) {
      if (std::find(aim_.passes.begin(), aim_.passes.end(), r.cell.mode) == aim_.passes.end()) continue;
      deciding.push_back(r);
      comparisons.push_back(r.comparison);
    }
    result_.gain = combined(comparisons);
    if (aim_.memory) {
      std::vector<model::Comparison> memory;
      for (const MemoryResult& m : against_parent_memory_) {
        model::Comparison c;
        c.ratio = c.ci_low = c.ci_high = m.ratio();
        memory.push_back(c);
      }
      result_.gain = combined(memory);
    }
    result_.ruling = rule(aim_, deciding, checks, against_parent_memory_);
    result_.guardrails.insert(result_.guardrails.end(), checks.begin(), checks.end());
  }

  Lab& lab_;
  const Contestant &original_, &parent_;
  Aim aim_;
  Evaluation result_;
  std::vector<MemoryResult> against_parent_memory_;
};

}  // namespace

bool same_code(const std::vector<std::string>& modes, const repository::Built& a, const repository::Built& b,
               const repository::Cell& cell) {
  if (cell.mode != "full") return same_part(a, b, cell.mode, cell.x_value);
  return std::all_of(modes.begin(), modes.end(),
                     [&](const std::string& mode) { return mode == "full" || same_part(a, b, mode, cell.x_value); });
}

Aim aim_of(Lab& lab) {
  const model::Request& request = lab.profile().request;
  return {target_mode(lab.described().modes(), request.scope), passes_in_scope(lab.described().modes(), request.scope),
          request.goal == "memory"};
}

base::Result<Contestant> contestant_of(Lab& lab, const model::Variant& variant) {
  HONE_TRY(built, lab.buildable().build(variant));
  return Contestant{variant, std::move(*built)};
}

base::Result<Evaluation> evaluate(Lab& lab, const Contestant& original, const Contestant& parent,
                                  const model::Variant& variant, const std::vector<model::Prediction>& predictions) {
  return Gauntlet(lab, original, parent).run(variant, predictions);
}

std::vector<model::ResultRow> result_rows(const Evaluation& evaluation) {
  std::vector<model::ResultRow> rows;
  for (const CellResult& r : evaluation.against_v0) {
    const model::Comparison& c = r.comparison;
    if (!(c.ratio > 0)) continue;  // it could not be judged: the guardrails say why
    rows.push_back({r.cell.x_value, r.cell.mode, "speed", "ms", c.baseline_ms, c.candidate_ms, c.ratio, c.ci_low,
                    c.ci_high, c.verdict});
  }
  for (const MemoryResult& m : evaluation.memory) {
    const double ratio = m.ratio();
    const model::Verdict verdict = ratio < 1 - kTargetPct / 100   ? model::Verdict::faster
                                   : ratio > 1 + kTargetPct / 100 ? model::Verdict::slower
                                                                  : model::Verdict::same;
    rows.push_back({m.x_value,
                    "full",
                    "memory",
                    "MB",
                    {m.baseline_mb, m.baseline_mb, m.baseline_mb, 1},
                    {m.candidate_mb, m.candidate_mb, m.candidate_mb, 1},
                    ratio,
                    ratio,
                    ratio,
                    verdict});
  }
  return rows;
}

}  // namespace hone::stages
