#include "repository/python/bounds.hpp"

#include <algorithm>

#include "measure/physics.hpp"
#include "measure/statistics.hpp"

namespace hone::repository::python {

namespace {

double element_bytes(const std::string& dtype) { return dtype == "fp32" ? 4 : 2; }

model::Ceiling summary_of(const std::vector<double>& samples) {
  model::Ceiling ceiling;
  ceiling.samples = static_cast<int>(samples.size());
  ceiling.p20 = measure::quantile(samples, 0.2).value_or(0);
  ceiling.p50 = measure::quantile(samples, 0.5).value_or(0);
  ceiling.p80 = measure::quantile(samples, 0.8).value_or(0);
  return ceiling;
}

}  // namespace

base::Result<model::Ceilings> Bounds::look() const {
  HONE_TRY(running, implementations_.worker());
  HONE_TRY(samples, (*running)->ceilings(cases_.request().quick));
  model::Ceilings ceilings;
  for (const auto& [name, values] : *samples) ceilings.by_name[name] = summary_of(values);
  ceilings.measured_at = clock_.utc();
  ceilings.notes = {
      "PyTorch's own copy, fill, maximum and matrix product, device time by events with cold caches; fma_flops_per_s "
      "is a float32 matrix product"};
  return ceilings;
}

base::Result<model::Ceilings> Bounds::ceilings() {
  if (ceilings_) return *ceilings_;
  HONE_TRY(seen, look());
  ceilings_ = std::move(*seen);
  return *ceilings_;
}

base::Result<model::Ceilings> Bounds::ceilings_again() {
  HONE_TRY(first, ceilings());
  HONE_TRY(second, look());
  ceilings_ = measure::larger_rates(*first, *second);
  return *ceilings_;
}

PassFloor Bounds::floor(const Cell& cell) const {
  PassFloor total;
  if (!source_.description) return total;
  auto spec = cases_.at(cell.x_value);
  if (!spec) return total;
  const Started* started = implementations_.started();
  const double cache = started ? static_cast<double>(started->device.largest_last_level_cache_bytes()) : 0;
  const std::vector<std::string> all = cases_.passes();
  for (const std::string& pass : cell.mode == "full" ? all : std::vector<std::string>{cell.mode}) {
    const Traffic traffic = source_.description->traffic(pass, spec->shape, element_bytes(spec->dtype));
    total.bytes += traffic.bytes();
    total.flops += traffic.flops;
    if (!ceilings_ || traffic.bytes() <= 0) continue;
    model::Ceilings ceilings = *ceilings_;
    // A pass with matrix products is held against the matrix units of its type, others against float32 arithmetic.
    if (traffic.matrix && spec->dtype != "fp32")
      ceilings.by_name["fma_flops_per_s"] =
          ceilings.by_name[spec->dtype == "fp16" ? "matrix_fp16_flops_per_s" : "matrix_bf16_flops_per_s"];
    const measure::PhysicsFloor floor =
        measure::physics_floor({traffic.bytes_read, traffic.bytes_written, traffic.flops}, ceilings, {cache});
    total.floor_ms += floor.reference_ns / 1e6;
    // What forward leaves in the cache backward need not fetch: of both in a row only the longer one is certain.
    total.physics_floor_ms = std::max(total.physics_floor_ms, floor.floor_ns / 1e6);
    total.ceiling = floor.reference_ceiling;
  }
  return total;
}

}  // namespace hone::repository::python
