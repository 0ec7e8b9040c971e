#include <array>

#include "model/json_parts.hpp"

namespace hone::model {

namespace {

// Always written, null where a device has no such ceiling; others follow as they come.
constexpr std::array fixed_ceilings{"copy_bytes_per_s", "read_bytes_per_s", "write_bytes_per_s", "fma_flops_per_s"};

Json nullable(const std::string& text) { return text.empty() ? Json() : Json(text); }

}  // namespace

Ceilings read_ceilings(const JsonFields& fields) {
  Ceilings ceilings;
  for (const auto& [name, spread] : fields.named_objects("spread")) {
    const Quantiles q = read_quantiles(spread);
    ceilings.by_name[name] = {q.p20, q.p50, q.p80, q.samples, spread.text_or("program", "")};
    if (fields.not_negative(name) != q.p50)
      fields.refuse(name, "the p50 of its spread, " + shortest(q.p50), shortest(fields.number_or(name, 0)));
  }
  // A document from elsewhere may give the numbers alone: a ceiling of one sample, without spread.
  for (const std::string& name : fields.names()) {
    const bool rate_or_time = name.ends_with("_per_s") || name.ends_with("_ns");
    if (!rate_or_time || !fields.has(name) || ceilings.by_name.count(name) != 0) continue;
    const double value = fields.not_negative(name);
    ceilings.by_name[name] = {value, value, value, 1};
  }
  ceilings.source = fields.word_or("source", Source::measured);
  ceilings.measured_at = fields.text_or("measured_at", "");
  ceilings.notes = fields.texts("notes");
  ceilings.effective_last_level_cache_bytes = fields.integer_or("effective_last_level_cache_bytes", 0);
  if (ceilings.effective_last_level_cache_bytes < 0)
    fields.refuse("effective_last_level_cache_bytes", "0 or more",
                  std::to_string(ceilings.effective_last_level_cache_bytes));
  if (fields.has("conditions")) {
    const JsonFields conditions = fields.object("conditions");
    ceilings.conditions = {conditions.number_or("load", 0), conditions.number_or("clock_mhz", 0),
                           conditions.number_or("temperature_c", 0)};
  }
  return ceilings;
}

// Flat numbers are the medians; the quantiles behind them stand under "spread".
Json json_of(const Ceilings& ceilings) {
  Json object = Json::object();
  Json spread = Json::object();
  for (const char* name : fixed_ceilings)
    if (ceilings.by_name.count(name) == 0) object.add(name, Json());
  for (const auto& [name, ceiling] : ceilings.by_name) {
    object.add(name, ceiling.p50);
    Json quantiles = json_of(Quantiles{ceiling.p20, ceiling.p50, ceiling.p80, ceiling.samples});
    if (!ceiling.program.empty()) quantiles.add("program", ceiling.program);
    spread.add(name, std::move(quantiles));
  }
  object.add("source", word(ceilings.source));
  object.add("spread", std::move(spread));
  object.add("measured_at", ceilings.measured_at);
  object.add("notes", json_of(ceilings.notes));
  const std::int64_t cache = ceilings.effective_last_level_cache_bytes;
  object.add("effective_last_level_cache_bytes", cache > 0 ? Json(cache) : Json());
  const auto known = [](double value) { return value > 0 ? Json(value) : Json(); };
  object.add("conditions", Json::object({{"load", known(ceilings.conditions.load)},
                                         {"clock_mhz", known(ceilings.conditions.clock_mhz)},
                                         {"temperature_c", known(ceilings.conditions.temperature_c)}}));
  return object;
}

Json json_of(const DeviceInfo& device) {
  return Json::object({{"name", device.name},
                       {"kind", device.kind},
                       {"id", device.id},
                       {"architecture", device.architecture},
                       {"compute_capability", nullable(device.compute_capability)},
                       {"sm_count", device.sm_count},
                       {"total_memory_bytes", device.total_memory_bytes},
                       {"target_gpu", device.target_gpu},
                       {"hardware_match", device.hardware_match},
                       {"isa", json_of(device.isa)},
                       {"caches", Json::list(device.caches,
                                             [](const Cache& cache) {
                                               return Json::object({{"level", cache.level},
                                                                    {"bytes", cache.bytes},
                                                                    {"shared_by_cores", cache.shared_by_cores}});
                                             })},
                       {"reported_last_level_cache_bytes", device.reported_last_level_cache_bytes()},
                       {"shared_memory_per_block_bytes", device.shared_memory_per_block_bytes},
                       {"registers_per_sm", device.registers_per_sm},
                       {"max_threads_per_sm", device.max_threads_per_sm},
                       {"clock_mhz", device.clock_mhz},
                       {"driver", device.driver},
                       {"compiler", device.compiler},
                       {"ceilings", json_of(device.ceilings)}});
}

DeviceInfo read_device(const JsonFields& fields) {
  DeviceInfo device;
  device.name = fields.text("name");
  device.kind = fields.text("kind");
  device.id = fields.text_or("id", "");
  device.architecture = fields.text_or("architecture", "");
  device.compute_capability = fields.text_or("compute_capability", "");
  device.sm_count = fields.count_or("sm_count", 0);
  device.total_memory_bytes = fields.integer_or("total_memory_bytes", 0);
  device.target_gpu = fields.text_or("target_gpu", "auto");
  device.hardware_match = fields.boolean_or("hardware_match", true);
  device.isa = fields.texts("isa");
  if (fields.has("caches"))
    for (const JsonFields& cache : fields.objects("caches"))
      device.caches.push_back(
          {cache.count_or("level", 0), cache.integer("bytes"), cache.count_or("shared_by_cores", 1)});
  device.shared_memory_per_block_bytes = fields.integer_or("shared_memory_per_block_bytes", 0);
  device.registers_per_sm = fields.integer_or("registers_per_sm", 0);
  device.max_threads_per_sm = fields.count_or("max_threads_per_sm", 0);
  device.clock_mhz = fields.number_or("clock_mhz", 0);
  device.driver = fields.text_or("driver", "");
  device.compiler = fields.text_or("compiler", "");
  device.ceilings = read_ceilings(fields.object("ceilings"));
  return device;
}

}  // namespace hone::model
