#include "repository/launch/experiments.hpp"

#include <optional>

#include <fmt/format.h>

namespace hone::repository::launch {

namespace {

constexpr const char* kWarps = "num_warps";

bool is_valid(const Problem& problem, const std::string& pass, const model::Settings& settings) {
  return problem.plan(pass, settings, Ablation::none).ok();
}

// What a thread or a program gets more of when a program has fewer warps for the same rows.
std::optional<model::Settings> with_warps(const Problem& problem, const std::string& pass,
                                          const model::Settings& settings, std::int64_t warps) {
  const std::int64_t now = settings.at(kWarps);
  const auto scaled = [&](const char* name, std::int64_t factor,
                          std::int64_t divisor) -> std::optional<model::Settings> {
    const auto found = settings.find(name);
    if (found == settings.end() || found->second * factor % divisor != 0) return std::nullopt;
    model::Settings tried = settings;
    tried[kWarps] = warps;
    tried[name] = found->second * factor / divisor;
    return tried;
  };
  model::Settings bare = settings;
  bare[kWarps] = warps;
  // The same row with other shares of it a thread; the same share with other rows a program; warps alone.
  for (const auto& tried : {scaled("VECTORS", now, warps), scaled("BLOCK_ROW", warps, now), std::optional(bare)})
    if (tried && is_valid(problem, pass, *tried)) return tried;
  return std::nullopt;
}

std::string difference(const model::Settings& from, const model::Settings& to) {
  std::string text;
  for (const auto& [name, value] : to)
    if (const auto before = from.find(name); before == from.end() || before->second != value)
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
  return text;
}

}  // namespace

std::vector<Change> changes_on(const model::DeviceInfo& device, bool can_ablate) {
  std::vector<Change> changes;
  if (can_ablate)
    changes = {
        {"no-compute", "", "with its loads and stores but no arithmetic", Ablation::no_compute},
        {"no-memory", "", "with its arithmetic but every row served from the first-level cache", Ablation::no_memory}};
  if (device.kind == "cpu" && device.sm_count > 1)
    changes.push_back({"threads", "threads=1", "on one worker instead of all", Ablation::none, true});
  return changes;
}

std::vector<Change> warp_changes(const model::DeviceInfo& device, const Problem& problem, const std::string& pass,
                                 const model::Settings& settings) {
  std::vector<Change> changes;
  const auto warps = settings.find(kWarps);
  if (device.kind != "cuda" || warps == settings.end()) return changes;
  const std::pair<const char*, std::int64_t> sweep[] = {{"fewer-warps", warps->second / 2},
                                                        {"more-warps", warps->second * 2}};
  for (const auto& [name, other] : sweep) {
    if (other < 1) continue;
    const auto tried = with_warps(problem, pass, settings, other);
    if (!tried) continue;
    Change change;
    change.name = name;
    change.parameter = difference(settings, *tried);
    change.sentence = fmt::format("with {} warps a program instead of {} ({})", other, warps->second, change.parameter);
    change.settings = *tried;
    changes.push_back(std::move(change));
  }
  return changes;
}

Change size_change(const std::string& x_name, const Problem& problem, const Problem& smaller, const std::string& pass) {
  const auto all = problem.traffic(pass), less = smaller.traffic(pass);
  const double share = all && less && all->bytes() > 0 ? 100 * less->bytes() / all->bytes() : 0.0;
  Change change;
  change.name = "size-scaling";
  change.x = smaller.x();
  change.parameter = fmt::format("{}={}", x_name, change.x);
  change.sentence = fmt::format("at {}, with {:.0f} % of the bytes to move,", change.parameter, share);
  return change;
}

}  // namespace hone::repository::launch
