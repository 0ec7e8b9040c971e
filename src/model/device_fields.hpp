// The fields of a device and its ceilings.
#pragma once

#include "model/device_info.hpp"
#include "model/timing_fields.hpp"

namespace hone::model {

void fields(auto& archive, of<Ceiling> auto& ceiling) {
  quantile_fields(archive, ceiling);
  archive.optional("program", ceiling.program, As::left_out_if_empty);
}

// The medians stand beside the other fields, under the ceiling's name.
void write_medians(FieldWriter& writer, const Ceilings& ceilings);
void read_medians(FieldReader& reader, Ceilings& ceilings);

template <class Archive>
void fields(Archive& archive, of<Ceilings> auto& ceilings) {
  if constexpr (!Archive::reads) write_medians(archive, ceilings);
  archive.optional("source", ceilings.source);
  archive.optional("spread", ceilings.by_name);
  if constexpr (Archive::reads) read_medians(archive, ceilings);
  archive.optional("measured_at", ceilings.measured_at);
  archive.optional("notes", ceilings.notes);
  archive.optional("effective_last_level_cache_bytes", ceilings.effective_last_level_cache_bytes, As::null_if_empty);
  archive.check(ceilings.effective_last_level_cache_bytes >= 0, "effective_last_level_cache_bytes", "0 or more",
                [&] { return std::to_string(ceilings.effective_last_level_cache_bytes); });
  archive.optional_object("conditions", [&](auto& conditions) {
    conditions.optional("load", ceilings.conditions.load, As::null_if_empty);
    conditions.optional("clock_mhz", ceilings.conditions.clock_mhz, As::null_if_empty);
    conditions.optional("temperature_c", ceilings.conditions.temperature_c, As::null_if_empty);
  });
}

void fields(auto& archive, of<Cache> auto& cache) {
  archive.optional("level", cache.level);
  archive.required("bytes", cache.bytes);
  archive.optional("shared_by_cores", cache.shared_by_cores);
}

void fields(auto& archive, of<DeviceInfo> auto& device) {
  archive.required("name", device.name);
  archive.required("kind", device.kind);
  archive.optional("id", device.id);
  archive.optional("architecture", device.architecture);
  archive.optional("compute_capability", device.compute_capability, As::null_if_empty);
  archive.optional("sm_count", device.sm_count);
  archive.optional("total_memory_bytes", device.total_memory_bytes);
  archive.optional("target_gpu", device.target_gpu);
  archive.optional("hardware_match", device.hardware_match);
  archive.optional("isa", device.isa);
  archive.optional("caches", device.caches);
  archive.written("reported_last_level_cache_bytes", device.reported_last_level_cache_bytes());
  archive.optional("shared_memory_per_block_bytes", device.shared_memory_per_block_bytes);
  archive.optional("registers_per_sm", device.registers_per_sm);
  archive.optional("max_threads_per_sm", device.max_threads_per_sm);
  archive.optional("clock_mhz", device.clock_mhz);
  archive.optional("driver", device.driver);
  archive.optional("compiler", device.compiler);
  archive.required("ceilings", device.ceilings);
}

}  // namespace hone::model
