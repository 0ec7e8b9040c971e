// The observations under the baseline tables: which pass is slowest and why, how time grows with size, what to distrust.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagnose/diagnose.hpp"
#include "diagnose/facts.hpp"
#include "diagnose/passes.hpp"

namespace hone::diagnose {

namespace {

using model::BaselineRow;
using BaselineRows = std::vector<const BaselineRow*>;

// Growth of time against growth of work, as the slope between two sizes on logarithmic axes.
constexpr double kLinearFrom = 0.85, kLinearTo = 1.15;  // within it: linear
constexpr double kFlat = 0.5;                           // under it: a step up in size that hardly costs time
constexpr double kSteep = 1.3;                          // over it: something got worse, a cache was left
// Work grows this many times over the table before a flat time is held against it.
constexpr double kEnoughRange = 4;
// Time may fall this far from one size to the next by noise alone; further down is out of order.
constexpr double kFallByNoise = 0.97;
// Guardrails are stated in percent down to this; a noise floor above it hides a change that would break one.
constexpr double kSmallestRulePct = 5;

// Samples dropped for clocks or contention, as a share of those kept, that are no cause for distrust.
constexpr double kFewDropped = 0.05;

struct Steps {
  std::vector<double> x, work, time;
  std::vector<double> slopes;
  double overall = 0;
};

std::string at(const model::Profile& profile, const std::string& x_value) {
  return (profile.baseline.x_name.empty() ? std::string("x") : profile.baseline.x_name) + "=" + x_value;
}

// Work is the minimum traffic of each size where every size has them (rows may grow while x stands for columns), else x itself.
Steps steps_of(const model::Profile& profile, const BaselineRows& rows) {
  Steps steps;
  bool have_bytes = true;
  for (const BaselineRow* row : rows) {
    const model::Headroom* headroom = headroom_of(profile, row->x_value, row->mode);
    if (headroom == nullptr || !(headroom->bytes > 0)) have_bytes = false;
  }
  for (const BaselineRow* row : rows) {
    steps.x.push_back(*as_number(row->x_value));
    steps.work.push_back(have_bytes ? headroom_of(profile, row->x_value, row->mode)->bytes : steps.x.back());
    steps.time.push_back(row->p50);
  }
  for (std::size_t i = 1; i < steps.time.size(); ++i)
    steps.slopes.push_back(std::log(steps.time[i] / steps.time[i - 1]) / std::log(steps.work[i] / steps.work[i - 1]));
  steps.overall = std::log(steps.time.back() / steps.time.front()) / std::log(steps.work.back() / steps.work.front());
  return steps;
}

bool usable(const BaselineRows& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto x = as_number(rows[i]->x_value);
    if (!x || !(*x > 0) || !(rows[i]->p50 > 0)) return false;
    if (i > 0 && !(*x > *as_number(rows[i - 1]->x_value))) return false;
  }
  return rows.size() >= 2;
}

bool falls(const Steps& steps) {
  for (std::size_t i = 1; i < steps.time.size(); ++i)
    if (steps.work[i] > steps.work[i - 1] && steps.time[i] < kFallByNoise * steps.time[i - 1]) return true;
  return false;
}

// Hardly grows over a wide range of work, or grows and falls: the table measures something else than the kernel.
bool without_order(const Steps& steps) {
  const double range = steps.work.back() / steps.work.front();
  return range >= kEnoughRange && (steps.overall < kFlat || (falls(steps) && steps.overall < kLinearFrom));
}

std::string knee_text(const model::Profile& profile, const BaselineRows& rows, const Steps& steps) {
  for (std::size_t i = 0; i + 1 < steps.slopes.size(); ++i)
    if (steps.slopes[i] < kFlat && steps.slopes[i + 1] >= kLinearFrom)
      return fmt::format("a knee at {}: below it time hardly grows (a fixed cost rules), above it linearly",
                         at(profile, rows[i + 1]->x_value));
  for (std::size_t i = 0; i < steps.slopes.size(); ++i) {
    if (steps.slopes[i] < kSteep) continue;
    std::string text = fmt::format("a knee between {} and {}: time grows {} for {} the work",
                                   at(profile, rows[i]->x_value), rows[i + 1]->x_value,
                                   times(steps.time[i + 1] / steps.time[i]), times(steps.work[i + 1] / steps.work[i]));
    const double cache = static_cast<double>(profile.device.last_level_cache_bytes());
    const model::Headroom* below = headroom_of(profile, rows[i]->x_value, rows[i]->mode);
    const model::Headroom* above = headroom_of(profile, rows[i + 1]->x_value, rows[i]->mode);
    if (cache > 0 && below != nullptr && above != nullptr && below->bytes <= cache && above->bytes > cache)
      text += " (" + bytes_text(above->bytes) + " no longer fit the last-level cache of " + bytes_text(cache) + ")";
    return text;
  }
  return "";
}

std::string trend(const model::Profile& profile, const std::string& mode, std::vector<std::string>& warnings) {
  const BaselineRows rows = rows_of(profile, "speed", mode, own_provider(profile));
  if (rows.size() < 2) return "not known: one size was measured";
  if (!usable(rows))
    return "not known: the x values are names without an order, so sizes can be compared but no trend be drawn";
  const Steps steps = steps_of(profile, rows);
  if (!(steps.work.back() > steps.work.front())) return "none: every size is the same work";
  const std::string growth = fmt::format(
      "{} takes {} the time for {} the work from {} to {}", mode, times(steps.time.back() / steps.time.front()),
      times(steps.work.back() / steps.work.front()), at(profile, rows.front()->x_value), rows.back()->x_value);
  if (without_order(steps)) {
    warnings.push_back("no order in x: " + growth +
                       ". A time that does not grow with its size measures the host or a fixed cost, not the kernel.");
    return "no order in x: " + growth;
  }
  const std::string knee = knee_text(profile, rows, steps);
  if (!knee.empty()) return knee + "; overall " + growth;
  if (steps.overall >= kLinearFrom && steps.overall <= kLinearTo) return "linear: " + growth;
  if (steps.overall < kLinearFrom) return "sub-linear: " + growth + ", a fixed cost weighs on the small sizes";
  return "super-linear: " + growth;
}

std::string why_slowest(const PassFacts& slow, const std::vector<PassFacts>& all) {
  std::string text;
  const PassFacts* other = nullptr;
  for (const PassFacts& each : all)
    if (each.mode != slow.mode && known(each.measured_ms) &&
        (other == nullptr || each.measured_ms > other->measured_ms))
      other = &each;
  if (other == nullptr) {
    text = slow.mode + " is the only pass measured: " + milliseconds(slow.measured_ms);
  } else {
    text = fmt::format("{} takes {}, {} as long as {} ({})", slow.mode, milliseconds(slow.measured_ms),
                       times(slow.measured_ms / other->measured_ms), other->mode, milliseconds(other->measured_ms));
    if (slow.bytes > 0 && other->bytes > 0)
      text += fmt::format(": it moves {} the bytes at least ({} against {})", times(slow.bytes / other->bytes),
                          bytes_text(slow.bytes), bytes_text(other->bytes));
    if (known(slow.share_pct) && known(other->share_pct))
      text += fmt::format("{} reaches {} of its ceiling where {} reaches {}",
                          slow.bytes > 0 && other->bytes > 0 ? " and" : ": it", percent(slow.share_pct), other->mode,
                          percent(other->share_pct));
  }
  if (other == nullptr && known(slow.share_pct)) text += ", " + percent(slow.share_pct) + " of its ceiling";
  if (slow.no_compute)
    text += "; without its arithmetic it takes " + percent(100 * slow.no_compute->ratio) + " of that";
  if (slow.no_memory)
    text += (slow.no_compute ? ", without its memory traffic " : "; without its memory traffic it takes ") +
            percent(100 * slow.no_memory->ratio);
  return text;
}

void warn_of_host(const model::Profile& profile, std::vector<std::string>& warnings) {
  std::string where;
  double worst = 0;
  const std::string provider = own_provider(profile);
  for (const BaselineRow& row : profile.baseline.rows) {
    if (row.metric != "wall" || row.provider != provider) continue;
    const double share = host_share_of(profile, row.x_value, row.mode);
    if (!(share >= kHostShareMajority)) continue;
    worst = std::max(worst, share);
    where += (where.empty() ? "" : ", ") + row.mode + " at " + at(profile, row.x_value);
  }
  if (!where.empty())
    warnings.push_back("host-bound: the device is idle for more than half of the caller's time (up to " +
                       percent(worst) + ") in " + where +
                       "; a faster kernel will hardly show in the caller's benchmark there.");
}

void warn_of_noise(const model::Profile& profile, std::vector<std::string>& warnings) {
  std::string where;
  for (const model::NoiseFloor& floor : profile.baseline.noise_floor) {
    if (floor.comparison.discarded > kFewDropped * 2 * floor.comparison.pairs)
      warnings.push_back(fmt::format("throttled or disturbed: {} samples of {} at {} were dropped ({}).",
                                     floor.comparison.discarded, floor.mode, at(profile, floor.x_value),
                                     floor.comparison.reason.empty() ? "no reason recorded" : floor.comparison.reason));
    if (!(floor.smallest_effect_pct > kSmallestRulePct)) continue;
    where += (where.empty() ? "" : ", ") + percent(floor.smallest_effect_pct) + " in " + floor.mode + " at " +
             at(profile, floor.x_value);
  }
  if (!where.empty())
    warnings.push_back("noise: identical code differs by up to " + where + ", more than the " +
                       percent(kSmallestRulePct) + " of the guardrails; smaller changes stay unresolved there.");
}

void warn_of_physics(const model::Profile& profile, std::vector<std::string>& warnings) {
  const double cache = static_cast<double>(profile.device.last_level_cache_bytes());
  for (const model::Headroom& row : profile.headroom) {
    if (!(row.floor_ms > 0) || !(row.measured_ms > 0)) continue;
    const double share = 100 * row.floor_ms / row.measured_ms;
    if (!(share > kOverTheCeiling)) continue;
    const bool cached = cache > 0 && row.bytes > 0 && row.bytes <= cache;
    warnings.push_back(
        row.mode + " at " + at(profile, row.x_value) + " runs at " + percent(share) + " of the memory ceiling" +
        (cached ? ": its " + bytes_text(row.bytes) + " fit the last-level cache, so this row says nothing of memory."
                : ": faster than the measured ceiling allows, so the ceiling or the measurement is wrong."));
  }
}

}  // namespace

model::Observations observe(const model::Profile& profile) {
  model::Observations observations;
  observations.largest_x_value = largest_x(profile);
  const std::vector<PassFacts> passes = pass_facts(profile);
  const PassFacts* slowest = nullptr;
  for (const PassFacts& pass : passes)
    if (known(pass.measured_ms) && (slowest == nullptr || pass.measured_ms > slowest->measured_ms)) slowest = &pass;
  if (slowest == nullptr) {
    observations.slowest_mode_reason = "not known: no pass was timed";
    observations.scaling_trend = "not known: no pass was timed";
    observations.warnings.push_back("no baseline row: nothing was measured.");
    return observations;
  }
  observations.slowest_mode = slowest->mode;
  observations.slowest_mode_reason = why_slowest(*slowest, passes);
  observations.scaling_trend = trend(profile, slowest->mode, observations.warnings);
  for (const PassFacts& pass : passes)  // the other passes' trends only warn
    if (pass.mode != slowest->mode) trend(profile, pass.mode, observations.warnings);
  warn_of_host(profile, observations.warnings);
  warn_of_noise(profile, observations.warnings);
  warn_of_physics(profile, observations.warnings);
  return observations;
}

}  // namespace hone::diagnose
