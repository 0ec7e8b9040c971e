// Floors from ceilings. See physics.hpp for the reasoning.
#include "measure/physics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace hone::measure {

namespace {

struct Rate {
  double per_s = 0;
  std::string name;
};

double usable(double value) { return std::isfinite(value) && value > 0 ? value : 0; }

// The quickest of the named ceilings at one place of their spread.
Rate quickest(const model::Ceilings& ceilings, double model::Ceiling::*place,
              std::initializer_list<const char*> names) {
  Rate best;
  for (const char* name : names) {
    const auto found = ceilings.by_name.find(name);
    if (found == ceilings.by_name.end()) continue;
    if (const double rate = usable(found->second.*place); rate > best.per_s) best = {rate, name};
  }
  return best;
}

struct Rates {
  Rate read, write, copy, any_memory, fma, any_arithmetic;
};

Rates rates_at(const model::Ceilings& ceilings, double model::Ceiling::*place) {
  Rates rates;
  rates.read = quickest(ceilings, place, {"read_bytes_per_s"});
  rates.write = quickest(ceilings, place, {"write_bytes_per_s", "write_streaming_bytes_per_s"});
  rates.copy = quickest(ceilings, place, {"copy_bytes_per_s", "copy_streaming_bytes_per_s"});
  for (const Rate& rate : {rates.read, rates.write, rates.copy}) {
    if (rate.per_s > rates.any_memory.per_s) rates.any_memory = rate;
  }
  rates.fma = quickest(ceilings, place, {"fma_flops_per_s"});
  rates.any_arithmetic =
      quickest(ceilings, place,
               {"fma_flops_per_s", "matrix_bf16_flops_per_s", "matrix_fp16_flops_per_s", "matrix_tf32_flops_per_s"});
  return rates;
}

// Seconds-valued maximum with the name of what set it.
struct Longest {
  double ns = 0;
  std::string name;
  void offer(double amount, const Rate& rate) {
    if (!(rate.per_s > 0) || !(amount > 0)) return;
    const double time_ns = amount / rate.per_s * 1e9;
    if (time_ns > ns) {
      ns = time_ns;
      name = rate.name;
    }
  }
};

}  // namespace

PhysicsFloor physics_floor(const PassWork& work, const model::Ceilings& ceilings, const PhysicsOptions& options) {
  const double read = usable(work.bytes_read), written = usable(work.bytes_written), flops = usable(work.flops);
  PhysicsFloor result;

  const Rates quick = rates_at(ceilings, &model::Ceiling::p80);
  const double cache = usable(options.cache_bytes);
  const double surely_written = std::max(0.0, written - cache);
  const double surely_read = options.cold_cache ? read : std::max(0.0, read - cache);
  Longest floor;
  floor.offer(surely_read, quick.read);
  floor.offer(surely_written, quick.write);
  floor.offer(2 * std::min(surely_read, surely_written), quick.copy);
  floor.offer(flops, quick.any_arithmetic);
  result.floor_ns = floor.ns / std::max(1.0, options.tolerance);
  result.floor_ceiling = floor.name;

  const Rates usual = rates_at(ceilings, &model::Ceiling::p50);
  Longest part;  // of the memory time
  double memory_ns = 0;
  const auto add = [&](double bytes, Rate rate) {
    if (!(rate.per_s > 0)) rate = usual.copy.per_s > 0 ? usual.copy : usual.any_memory;
    if (!(rate.per_s > 0)) return;
    memory_ns += bytes / rate.per_s * 1e9;
    part.offer(bytes, rate);
  };
  const double paired = std::min(read, written);
  add(2 * paired, usual.copy);
  add(read - paired, usual.read);
  add(written - paired, usual.write);
  Longest arithmetic;
  double arithmetic_ns = 0;
  const auto compute = [&](double amount, const Rate& rate) {
    if (!(rate.per_s > 0)) return;
    arithmetic_ns += amount / rate.per_s * 1e9;
    arithmetic.offer(amount, rate);
  };
  const double matrix = std::min(usable(work.matrix_flops), flops);
  const Rate matrix_rate = quickest(ceilings, &model::Ceiling::p50, {work.matrix_ceiling.c_str()});
  compute(matrix, matrix_rate.per_s > 0 ? matrix_rate : usual.fma);
  compute(flops - matrix, usual.fma);
  const bool memory_binds = memory_ns >= arithmetic_ns;
  result.reference_ns = memory_binds ? memory_ns : arithmetic_ns;
  result.reference_ceiling = memory_binds ? part.name : arithmetic.name;
  return result;
}

model::Ceilings larger_rates(const model::Ceilings& first, const model::Ceilings& second) {
  constexpr double kMoved = 1.03;
  model::Ceilings both = first;
  both.measured_at = second.measured_at;
  std::string moved;
  for (auto& [name, ceiling] : both.by_name) {
    const auto again = second.by_name.find(name);
    if (again == second.by_name.end() || !name.ends_with("_per_s") || !(ceiling.p50 > 0) || !(again->second.p50 > 0))
      continue;
    const double ratio = again->second.p50 / ceiling.p50;
    if (name.ends_with("bytes_per_s") && (ratio > kMoved || ratio < 1 / kMoved))
      moved += fmt::format("{}{} {:.1f} then {:.1f} GB/s", moved.empty() ? "" : ", ", name, ceiling.p50 / 1e9,
                           again->second.p50 / 1e9);
    if (ratio > 1) ceiling = again->second;
  }
  both.notes.push_back(
      "measured again, because a pass was faster than the first look allows; of each rate the larger "
      "median stands" +
      (moved.empty() ? std::string("; no bandwidth moved by more than 3 %") : ": " + moved));
  return both;
}

}  // namespace hone::measure
