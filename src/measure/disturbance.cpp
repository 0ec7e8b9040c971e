// Marks throttled and contended samples. See disturbance.hpp.
#include "measure/disturbance.hpp"

#include <fmt/format.h>

#include "measure/statistics.hpp"

namespace hone::measure {

double session_clock_mhz(const std::vector<model::Sample>& samples) {
  std::vector<double> clocks;
  for (const model::Sample& sample : samples) {
    if (sample.clock_mhz > 0) clocks.push_back(sample.clock_mhz);
  }
  return quantile(std::move(clocks), 0.9).value_or(0);
}

std::vector<Disturbance> find_disturbances(const std::vector<model::Sample>& samples, double session_clock) {
  std::vector<double> times;
  times.reserve(samples.size());
  for (const model::Sample& sample : samples) times.push_back(sample.device_ns);
  const std::optional<double> quick = quantile(std::move(times), 0.2);

  std::vector<Disturbance> marks;
  marks.reserve(samples.size());
  for (const model::Sample& sample : samples) {
    const bool below_session =
        session_clock > 0 && sample.clock_mhz > 0 && sample.clock_mhz < kThrottledClockShare * session_clock;
    if (sample.slowed || below_session) {
      marks.push_back(Disturbance::throttled);
    } else if (quick && sample.device_ns > kContendedFactor * *quick) {
      marks.push_back(Disturbance::contended);
    } else {
      marks.push_back(Disturbance::none);
    }
  }
  return marks;
}

DisturbanceCount count(const std::vector<Disturbance>& marks) {
  DisturbanceCount result;
  for (Disturbance mark : marks) {
    if (mark == Disturbance::throttled) ++result.throttled;
    if (mark == Disturbance::contended) ++result.contended;
  }
  return result;
}

std::string describe(const DisturbanceCount& count) {
  std::string text;
  if (count.throttled > 0) text = fmt::format("{} samples under a throttled clock", count.throttled);
  if (count.contended > 0)
    text += fmt::format("{}{} samples beside other load", text.empty() ? "" : ", ", count.contended);
  return text;
}

}  // namespace hone::measure
