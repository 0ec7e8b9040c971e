#include "stages/trial/guardrails.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "model/speedup.hpp"

namespace hone::stages {

namespace {

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

std::string cell_text(const repository::Cell& cell) { return cell.mode + " at " + cell.x_value; }

// Fails when the whole interval is beyond the bound, passes when it is within, and is unresolved between.
model::GuardrailCheck judge(const std::string& what, const CellResult& result, double bound_pct) {
  const model::Comparison& c = result.comparison;
  const double bound = 1 + bound_pct / 100;
  model::GuardrailCheck check;
  check.check = what + ", " + cell_text(result.cell);
  check.threshold = fmt::format("at most {:.3g} % slower than v0", bound_pct);
  check.interval = interval_text(c);
  if (!(c.ci_high > 0))
    check.status = "unresolved", check.detail = c.reason;
  else if (c.ci_low > bound)
    check.status = "fail";
  else
    check.status = c.ci_high <= bound ? "pass" : "unresolved";
  if (result.noise_floor_pct > bound_pct) {
    check.detail += fmt::format("{}the noise floor here, {:.1f} %, is above this bound",
                                check.detail.empty() ? "" : "; ", result.noise_floor_pct);
  }
  return check;
}

bool some_pass_gains(const Aim& aim, const std::vector<CellResult>& results, const repository::Cell& cell) {
  return std::any_of(results.begin(), results.end(), [&](const CellResult& r) {
    return r.cell.x_value == cell.x_value && r.cell.mode != cell.mode && contains(aim.passes, r.cell.mode) &&
           r.comparison.verdict == model::Verdict::faster;
  });
}

model::GuardrailCheck memory_check(const MemoryResult& memory, double bound_pct) {
  model::GuardrailCheck check;
  check.check = "memory, the kernel's own peak at " + memory.x_value;
  check.threshold = fmt::format("at most {:g} % more than v0", bound_pct);
  check.interval = fmt::format("{:.3f}", memory.ratio());
  check.detail = fmt::format("{:.2f} MB to {:.2f} MB", memory.baseline_mb, memory.candidate_mb);
  check.status = memory.ratio() <= 1 + bound_pct / 100 ? "pass" : "fail";
  return check;
}

std::string failed_checks(const std::vector<model::GuardrailCheck>& checks, bool& only_speed) {
  std::string text;
  int more = 0;
  only_speed = true;
  for (const model::GuardrailCheck& check : checks) {
    if (check.status != "fail") continue;
    if (check.check.rfind("memory", 0) == 0) only_speed = false;
    if (text.empty())
      text = fmt::format("{}: {}, bound {}", check.check, check.interval, check.threshold);
    else
      ++more;
  }
  return more > 0 ? fmt::format("{}, and {} more", text, more) : text;
}

Ruling rule_on_memory(const std::vector<MemoryResult>& memory, const std::string& failed) {
  double log_ratio = 0;
  bool worse = false;
  for (const MemoryResult& m : memory) {
    log_ratio += std::log(m.ratio()) / static_cast<double>(memory.size());
    worse = worse || m.ratio() > 1 + kTargetPct / 100;
  }
  const double ratio = std::exp(log_ratio);
  if (!failed.empty()) return {model::VariantStatus::rejected, "a guardrail fails: " + failed};
  if (worse)
    return {model::VariantStatus::rejected,
            fmt::format("memory grows at one size at least; over all sizes it is {:.3f} x the parent's", ratio)};
  if (ratio > 1 - kTargetPct / 100)
    return {model::VariantStatus::rejected,
            fmt::format("memory is {:.3f} x the parent's: under {:g} % less", ratio, kTargetPct)};
  return {model::VariantStatus::accepted,
          fmt::format("memory is {:.3f} x the parent's and every guardrail holds", ratio)};
}

}  // namespace

std::string interval_text(const model::Comparison& c) {
  return fmt::format("{:.3f} ({:.3f} to {:.3f})", c.ratio, c.ci_low, c.ci_high);
}

std::string claim_of(const model::Comparison& c) { return model::speed_claim(c.ratio, c.ci_low, c.ci_high); }

Gain combined(const std::vector<model::Comparison>& comparisons) {
  double sum = 0, low = 0, high = 0;
  Gain gain;
  for (const model::Comparison& c : comparisons) {
    if (!(c.ratio > 0) || !(c.ci_low > 0) || !std::isfinite(c.ci_high)) continue;
    sum += std::log(c.ratio);
    low += std::pow(std::log(c.ratio / c.ci_low), 2);
    high += std::pow(std::log(c.ci_high / c.ratio), 2);
    ++gain.cells;
  }
  if (gain.cells == 0) return gain;
  const double n = gain.cells;
  gain.ratio = std::exp(sum / n);
  gain.ci_low = std::exp(sum / n - std::sqrt(low) / n);
  gain.ci_high = std::exp(sum / n + std::sqrt(high) / n);
  return gain;
}

std::vector<model::GuardrailCheck> check_guardrails(const Aim& aim, const std::vector<CellResult>& against_v0,
                                                    const std::vector<MemoryResult>& memory) {
  std::vector<model::GuardrailCheck> checks;
  for (const CellResult& result : against_v0) {
    const std::string& mode = result.cell.mode;
    if (aim.memory)
      checks.push_back(judge("speed beside the memory target", result, kNonTargetPct));
    else if (mode == aim.target_mode)
      checks.push_back(judge("target metric", result, std::max(kTargetPct, result.noise_floor_pct)));
    else if (contains(aim.passes, mode) && aim.passes.size() > 1) {
      const bool trade = some_pass_gains(aim, against_v0, result.cell);
      checks.push_back(judge(trade ? "one pass for the other's gain" : "pass without a gain of the other", result,
                             trade ? kPassTradePct : kNonTargetPct));
    } else
      checks.push_back(judge("pass outside the target", result, kNonTargetPct));
  }
  for (const MemoryResult& m : memory) checks.push_back(memory_check(m, aim.memory ? kTargetPct : kNonTargetPct));
  return checks;
}

Ruling rule(const Aim& aim, const std::vector<CellResult>& against_parent,
            const std::vector<model::GuardrailCheck>& checks, const std::vector<MemoryResult>& memory_against_parent) {
  bool only_speed = true;
  const std::string failed = failed_checks(checks, only_speed);
  if (aim.memory) return rule_on_memory(memory_against_parent, failed);
  std::vector<model::Comparison> comparisons;
  std::string fastest;
  int faster = 0, slower = 0;
  for (const CellResult& result : against_parent) {
    comparisons.push_back(result.comparison);
    slower += result.comparison.verdict == model::Verdict::slower ? 1 : 0;
    if (result.comparison.verdict == model::Verdict::faster && faster++ == 0) fastest = cell_text(result.cell);
  }
  const Gain gain = combined(comparisons);
  const std::string figure =
      fmt::format("{} against its parent over {} cells, {} significantly faster and {} slower",
                  model::speed_claim(gain.ratio, gain.ci_low, gain.ci_high), gain.cells, faster, slower);
  if (!failed.empty()) {
    const bool mixed = only_speed && faster > 0;
    return {mixed ? model::VariantStatus::mixed : model::VariantStatus::rejected,
            fmt::format("{}a guardrail fails: {}; {}", mixed ? "faster in part (" + fastest + "), but " : "", failed,
                        figure)};
  }
  if (gain.ci_high < 1 && faster > 0) return {model::VariantStatus::accepted, figure + "; every guardrail holds"};
  if (faster > 0 && slower > 0)
    return {model::VariantStatus::mixed, "faster in part (" + fastest + ") and slower in part: " + figure};
  if (gain.ci_low > 1) return {model::VariantStatus::rejected, "slower: " + figure};
  return {model::VariantStatus::rejected, "no significant gain, and a tie goes to the incumbent: " + figure};
}

}  // namespace hone::stages
