#include "tests/support/fake_session.hpp"

#include <cmath>

namespace hone::test {

void make_tunable(FakeTrial& trial) {
  for (const char* pass : {"forward", "backward"}) {
    trial.tunable.push_back({"ROWS", pass, "rows for each program", "rows-per-program", {1, 2, 4, 8}});
    trial.tunable.push_back({"WIDTH", pass, "elements of a tile", "access-width", {4, 8, 16}});
    trial.tunable.push_back({"STREAM", pass, "streaming stores", "streaming-stores", {0, 1}});
    trial.tunable.push_back({"UNUSED", pass, "read by nobody", "parameter-sweep", {1, 2}});
  }
  trial.dead_knobs = {"UNUSED"};
  trial.kernel.shipped = [](const std::string&, std::int64_t) {
    return model::Settings{{"ROWS", 1}, {"WIDTH", 4}, {"STREAM", 0}, {"UNUSED", 1}};
  };
  trial.floor_ms = [](const std::string& pass, std::int64_t x) {
    return static_cast<double>(x) / 1024 * (pass == "forward" ? 0.20 : 0.30);
  };
  trial.time_ms = [&trial](const std::string& pass, std::int64_t x, const model::Settings& s) {
    const double rows = std::log2(static_cast<double>(s.at("ROWS"))),
                 width = std::log2(static_cast<double>(s.at("WIDTH"))) - 2;
    const double best_rows = x > 2000 ? 2 : 1;
    double over = 1.30 + 0.06 * std::abs(rows - best_rows) + 0.08 * std::abs(width - 1);
    over += s.at("STREAM") == (x > 2000 ? 1 : 0) ? 0 : 0.12;
    return over * trial.floor_ms(pass, x);
  };
}

model::Profile profile_of(const FakeDescribed& described, const FakeTimed& timed,
                          const std::vector<std::string>& strategies) {
  model::Profile profile;
  profile.kernel = described.kernel.name, profile.created = "2026-01-02T03:04:05Z", profile.hone_version = "0.1.0";
  profile.summary = "Bandwidth limits it.";
  profile.identity = described.identity();
  profile.device = described.device();
  profile.device.ceilings.by_name["copy_bytes_per_s"] = {1e9, 1e9, 1e9, 1};
  profile.device.ceilings.measured_at = profile.created;
  profile.baseline.x_name = described.x_name();
  profile.request.kernel = described.kernel.name, profile.request.dtype = "fp32",
  profile.request.sizes = described.sizes();
  for (const std::string& x_value : described.sizes()) {
    const std::int64_t x = std::stoll(x_value);
    double full = 0, full_floor = 0;
    for (const std::string& mode : described.modes()) {
      const double time = mode == "full" ? full : timed.time_ms(mode, x, described.kernel.shipped(mode, x));
      const double floor = mode == "full" ? full_floor : timed.floor_ms(mode, x);
      full += time, full_floor += floor;
      profile.baseline.rows.push_back(
          {x_value, mode, "hone", "speed", "ms", time * 0.99, time, time * 1.01, 40, model::Source::measured});
      profile.headroom.push_back({x_value, mode, floor, time, time / floor, floor * 1e6, 1, "copy_bytes_per_s",
                                  100 * floor / time, floor / 1.02});
      model::NoiseFloor noise;
      noise.x_value = x_value, noise.mode = mode, noise.smallest_effect_pct = 0.5;
      noise.comparison.ratio = noise.comparison.ci_low = noise.comparison.ci_high = 1;
      profile.baseline.noise_floor.push_back(noise);
    }
  }
  profile.baseline.observations.largest_x_value = described.sizes().back();
  profile.counters.status = "unavailable", profile.counters.reason = "a scripted device has none";
  profile.counters.route = "counter-free";
  profile.identity.tier = 2, profile.identity.tier_description = "a reduction over the row";
  profile.bottleneck.cls = model::BottleneckClass::memory_bound;
  profile.bottleneck.plain_rule_class = "memory-bound", profile.bottleneck.reasoning = "as scripted";
  for (const char* signal : {"bandwidth", "ablation", "scaling"})
    profile.bottleneck.evidence.push_back({signal, "as scripted", "memory-bound", model::Source::measured});
  profile.strategy_order.push_back({"parameter-sweep", "Parameter sweep", "always first", "", ""});
  for (const std::string& strategy : strategies)
    profile.strategy_order.push_back({strategy, strategy, "as told", "", ""});
  return profile;
}

}  // namespace hone::test
