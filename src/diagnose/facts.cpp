#include "diagnose/facts.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include "base/text.hpp"

namespace hone::diagnose {

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Launches whose pass was not recorded are matched by the words kernels carry in their names.
bool named_for(const std::string& kernel, const std::string& mode) {
  const std::string name = base::lower(kernel);
  if (mode == "forward") return contains(name, "forward") || contains(name, "fwd");
  if (mode == "backward") return contains(name, "backward") || contains(name, "bwd") || contains(name, "grad");
  return contains(name, base::lower(mode));
}

std::optional<model::Experiment> experiment(const model::Profile& profile, const std::string& name,
                                            const PassFacts& pass) {
  std::optional<model::Experiment> found;
  for (const model::Experiment& each : profile.counters.experiments) {
    if (each.name != name || each.mode != pass.mode || !(each.ratio > 0) || !known(each.ratio)) continue;
    if (each.x_value == pass.x_value) return each;
    found = each;
  }
  return found;
}

void read_headroom(const model::Profile& profile, PassFacts& pass) {
  const model::Headroom* row = headroom_of(profile, pass.x_value, pass.mode);
  if (row == nullptr) return;
  pass.bytes = row->bytes;
  pass.flops = row->flops;
  pass.ceiling = row->ceiling;
  if (row->measured_ms > 0) pass.measured_ms = row->measured_ms;
  if (row->floor_ms > 0) pass.floor_ms = row->floor_ms;
  if (known(pass.measured_ms) && known(pass.floor_ms)) pass.share_pct = 100 * pass.floor_ms / pass.measured_ms;

  const bool floor_is_bandwidth = contains(row->ceiling, "bytes_per_s");
  const double rate = profile.device.ceilings.p50(floor_is_bandwidth ? row->ceiling : "copy_bytes_per_s");
  pass.bandwidth_ceiling = rate;
  if (floor_is_bandwidth) pass.memory_share_pct = pass.share_pct;
  if (!floor_is_bandwidth && rate > 0 && row->bytes > 0 && known(pass.measured_ms))
    pass.memory_share_pct = 100 * row->bytes / rate / (pass.measured_ms * 1e-3);
  if (!floor_is_bandwidth && !row->ceiling.empty()) pass.compute_share_pct = pass.share_pct;
  const double fma = profile.device.ceilings.p50("fma_flops_per_s");
  if (floor_is_bandwidth && fma > 0 && row->flops > 0 && known(pass.measured_ms))
    pass.compute_share_pct = 100 * row->flops / fma / (pass.measured_ms * 1e-3);
}

void read_rows(const model::Profile& profile, PassFacts& pass) {
  const std::string provider = own_provider(profile);
  for (const model::BaselineRow& row : profile.baseline.rows) {
    if (row.mode != pass.mode || row.provider != provider || row.x_value != pass.x_value || !(row.p50 > 0)) continue;
    if (row.metric == "speed" && !known(pass.measured_ms)) pass.measured_ms = row.p50;
    if (row.metric == "wall") pass.wall_ms = row.p50;
  }
  pass.host_share_pct = host_share_of(profile, pass.x_value, pass.mode);
  for (const model::NoiseFloor& floor : profile.baseline.noise_floor)
    if (floor.mode == pass.mode && floor.x_value == pass.x_value) pass.noise_pct = floor.smallest_effect_pct;
}

void read_kernels(const model::Profile& profile, PassFacts& pass) {
  for (const model::CounterSummary& kernel : profile.counters.kernels) {
    const bool of_pass = kernel.pass.empty() ? named_for(kernel.name, pass.mode) : kernel.pass == pass.mode;
    if (kernel.owner.empty() && of_pass) (kernel.counted() ? pass.kernels : pass.calculated).push_back(&kernel);
  }
  // Without a duration, the one that carries the pass's name is its main one, where there is one.
  std::stable_partition(pass.calculated.begin(), pass.calculated.end(),
                        [&](const auto* kernel) { return named_for(kernel->name, pass.mode); });
  std::stable_sort(pass.kernels.begin(), pass.kernels.end(), [](const auto* a, const auto* b) {
    return a->duration_us.value_or(0) > b->duration_us.value_or(0);
  });
}

// "hidden_size=4096" -> "4096".
std::string value_of(const std::string& parameter) {
  const std::size_t equals = parameter.find('=');
  return equals == std::string::npos ? "" : parameter.substr(equals + 1);
}

void read_size_scaling(const model::Profile& profile, PassFacts& pass) {
  pass.size_scaling = experiment(profile, "size-scaling", pass);
  if (!pass.size_scaling) return;
  const model::Headroom* smaller = headroom_of(profile, value_of(pass.size_scaling->parameter), pass.mode);
  if (smaller != nullptr && known(smaller->bytes)) pass.smaller_bytes = smaller->bytes;
}

}  // namespace

double PassFacts::fixed_share_pct() const {
  if (!size_scaling || !(smaller_bytes > 0) || !(bytes > smaller_bytes)) return kUnknown;
  const double work = smaller_bytes / bytes;  // time = fixed + work * rest, both as shares of the time at the full size
  return std::clamp(100 * (size_scaling->ratio - work) / (1 - work), 0.0, 100.0);
}

double PassFacts::gain_pct() const {
  if (!known(measured_ms) || !known(floor_ms)) return kUnknown;
  return std::max(0.0, 100 * (measured_ms - floor_ms) / measured_ms);
}

std::optional<double> as_number(const std::string& x_value) {
  if (x_value.empty()) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(x_value.c_str(), &end);
  if (end == nullptr || *end != '\0' || !known(value)) return std::nullopt;
  return value;
}

std::string own_provider(const model::Profile& profile) {
  const auto has = [&](const std::string& provider) {
    return std::any_of(profile.baseline.rows.begin(), profile.baseline.rows.end(),
                       [&](const model::BaselineRow& row) { return row.provider == provider; });
  };
  if (profile.identity.repository == "liger" && has("liger")) return "liger";
  if (has("hone")) return "hone";
  if (has("liger")) return "liger";
  for (const model::BaselineRow& row : profile.baseline.rows)
    if (row.provider != "eager" && row.provider != "torch" && row.provider != "huggingface") return row.provider;
  return profile.baseline.rows.empty() ? "" : profile.baseline.rows.front().provider;
}

std::vector<const model::BaselineRow*> rows_of(const model::Profile& profile, const std::string& metric,
                                               const std::string& mode, const std::string& provider) {
  std::vector<const model::BaselineRow*> rows;
  for (const model::BaselineRow& row : profile.baseline.rows)
    if (row.metric == metric && row.mode == mode && row.provider == provider) rows.push_back(&row);
  const bool numeric =
      std::all_of(rows.begin(), rows.end(), [](const auto* row) { return as_number(row->x_value).has_value(); });
  if (numeric)
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto* a, const auto* b) { return *as_number(a->x_value) < *as_number(b->x_value); });
  return rows;
}

std::vector<std::string> modes_of(const model::Profile& profile) {
  std::vector<std::string> modes;
  const auto add = [&](const std::string& mode) {
    if (!mode.empty() && std::find(modes.begin(), modes.end(), mode) == modes.end()) modes.push_back(mode);
  };
  for (const model::BaselineRow& row : profile.baseline.rows)
    if (row.metric == "speed" || row.metric == "wall") add(row.mode);
  for (const model::Headroom& row : profile.headroom) add(row.mode);
  for (const model::Experiment& each : profile.counters.experiments) add(each.mode);
  return modes;
}

std::string largest_x(const model::Profile& profile) {
  std::vector<std::string> values;
  for (const model::BaselineRow& row : profile.baseline.rows)
    if (row.metric == "speed" || row.metric == "wall") values.push_back(row.x_value);
  for (const model::Headroom& row : profile.headroom) values.push_back(row.x_value);
  if (values.empty()) return profile.request.sizes.empty() ? "" : profile.request.sizes.back();
  const bool numeric =
      std::all_of(values.begin(), values.end(), [](const std::string& x) { return as_number(x).has_value(); });
  if (numeric)
    return *std::max_element(values.begin(), values.end(),
                             [](const auto& a, const auto& b) { return *as_number(a) < *as_number(b); });

  // Names have no order: the one whose slowest pass takes longest is the largest work.
  std::string largest = values.front();
  double longest = 0;
  for (const model::BaselineRow& row : profile.baseline.rows) {
    if (row.metric != "speed" || row.provider != own_provider(profile) || !(row.p50 > longest)) continue;
    longest = row.p50;
    largest = row.x_value;
  }
  return largest;
}

const model::Headroom* headroom_of(const model::Profile& profile, const std::string& x_value, const std::string& mode) {
  for (const model::Headroom& row : profile.headroom)
    if (row.x_value == x_value && row.mode == mode) return &row;
  return nullptr;
}

double host_share_of(const model::Profile& profile, const std::string& x_value, const std::string& mode) {
  double device = 0, wall = 0;
  const std::string provider = own_provider(profile);
  for (const model::BaselineRow& row : profile.baseline.rows) {
    if (row.mode != mode || row.provider != provider || row.x_value != x_value) continue;
    if (row.metric == "speed") device = row.p50;
    if (row.metric == "wall") wall = row.p50;
  }
  if (!(device > 0) || !(wall > 0)) return kUnknown;
  return std::clamp(100 * (wall - device) / wall, 0.0, 100.0);
}

std::vector<PassFacts> pass_facts(const model::Profile& profile) {
  std::vector<PassFacts> passes;
  std::vector<std::string> modes = modes_of(profile);
  if (modes.size() > 1) modes.erase(std::remove(modes.begin(), modes.end(), "full"), modes.end());
  for (const std::string& mode : modes) {
    PassFacts pass;
    pass.mode = mode;
    pass.x_value = largest_x(profile);
    read_headroom(profile, pass);
    read_rows(profile, pass);
    pass.no_compute = experiment(profile, "no-compute", pass);
    pass.no_memory = experiment(profile, "no-memory", pass);
    pass.threads = experiment(profile, "threads", pass);
    pass.fewer_warps = experiment(profile, "fewer-warps", pass);
    pass.more_warps = experiment(profile, "more-warps", pass);
    read_size_scaling(profile, pass);
    read_kernels(profile, pass);
    passes.push_back(std::move(pass));
  }
  return passes;
}

}  // namespace hone::diagnose
