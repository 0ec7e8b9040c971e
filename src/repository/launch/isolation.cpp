#include "repository/launch/isolation.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace hone::repository::launch {

namespace {

// What decides whether a launch runs to its end, but the values in memory. A program's address names it: programs live as long as
// the session that compiled them.
std::string key_of(const device::Launch& launch) {
  std::string key = fmt::format("{} {} {},{},{} {},{},{} {} {}", static_cast<const void*>(launch.program), launch.entry,
                                launch.programs, launch.programs_y, launch.programs_z, launch.threads, launch.threads_y,
                                launch.threads_z, launch.dynamic_shared_bytes, launch.cluster_size);
  for (const device::Argument& argument : launch.arguments)
    key += std::visit(
        [](const auto& value) {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, device::BufferView>)
            return fmt::format(" +{}", value.buffer->bytes() - value.offset_bytes);
          else
            return fmt::format(" {}", value);
        },
        argument);
  return key;
}

std::string names_of(const std::vector<device::Launch>& launches) {
  std::string names;
  for (const device::Launch& launch : launches) names += (names.empty() ? "" : ", ") + launch.entry;
  return names;
}

}  // namespace

void Isolation::trust(const device::Program& program) {
  const std::lock_guard<std::mutex> lock(mutex_);
  trusted_.insert(&program);
}

bool Isolation::admits(const std::vector<device::Launch>& launches) const {
  if (is_isolated_) return true;
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::all_of(launches.begin(), launches.end(), [this](const device::Launch& launch) {
    return launch.product || trusted_.count(launch.program) > 0 || survived_.count(key_of(launch)) > 0;
  });
}

base::Result<void> Isolation::try_run(const std::vector<device::Launch>& launches, std::int64_t deadline_ns) {
  auto ran = is_isolated_ ? device_.run(launches) : device_.try_run(launches, deadline_ns);
  if (!ran) return ran;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const device::Launch& launch : launches)
    if (!launch.product) survived_.insert(key_of(launch));
  return ran;
}

base::Result<void> Isolation::run(const std::vector<device::Launch>& launches) {
  return admits(launches) ? device_.run(launches) : try_run(launches, kTrialDeadlineNs);
}

base::Result<model::Sample> Isolation::time(const std::vector<device::Launch>& launches,
                                            const device::TimingConditions& conditions) {
  if (admits(launches)) return device_.time(launches, conditions);
  return base::Error{base::ErrorKind::internal, "launches that ran once in isolation before they are timed",
                     names_of(launches), "launch/isolation", "run them once before"};
}

std::vector<std::pair<std::string, double>> Isolation::count_events(const std::vector<device::Launch>& launches,
                                                                    std::string& reason) {
  if (admits(launches)) return device_.count_events(launches, reason);
  reason = names_of(launches) + " did not run in isolation before its events are counted";
  return {};
}

}  // namespace hone::repository::launch
