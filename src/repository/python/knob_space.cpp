#include "repository/python/knob_space.hpp"

#include <algorithm>
#include <optional>

namespace hone::repository::python {

namespace rewrite = source::rewrite;

namespace {

bool serves(const rewrite::Finding& finding, rewrite::Pass pass) {
  return std::any_of(finding.sites.begin(), finding.sites.end(),
                     [&](const rewrite::Site& site) { return site.pass == pass || site.pass == rewrite::Pass::any; });
}

// Stages act on loops that can be pipelined; elsewhere every value is the same machine code.
bool stages_are_live(const model::AuditedOp& audited) {
  return std::any_of(audited.launches.begin(), audited.launches.end(),
                     [](const model::LaunchFact& launch) { return launch.num_stages_live == model::Liveness::live; });
}

Knob knob_of(const rewrite::Finding& finding, const rewrite::Knob& knob, const std::string& pass) {
  Knob entry{knob.name, pass, knob.meaning, "parameter-sweep", {}};
  for (const std::string& value : knob.values) entry.values.push_back(std::strtoll(value.c_str(), nullptr, 10));
  if (finding.rewrite->name == std::string(kProgramsRewrite)) entry.values.push_back(1);
  std::sort(entry.values.begin(), entry.values.end());
  return entry;
}

// A thread holds at least four elements of the row, half of its widest load, and at most 128: a kernel keeps several such
// rows in registers.
bool suits_row(std::int64_t warps, std::int64_t columns) {
  return 4 * 32 * warps <= columns && columns <= 128 * 32 * warps;
}

}  // namespace

bool is_swept(const rewrite::Finding& finding) {
  const std::string name = finding.rewrite->name;
  return name == kSettingsRewrite || name == kProgramsRewrite;
}

rewrite::Pass rewrite_pass(const std::string& word) {
  if (word == "forward") return rewrite::Pass::forward;
  if (word == "backward") return rewrite::Pass::backward;
  return rewrite::Pass::any;
}

KnobSpace::KnobSpace(const std::vector<rewrite::Finding>& rewrites, const model::AuditedOp& audited,
                     const std::vector<std::string>& passes, const std::string& scope) {
  for (const rewrite::Finding& finding : rewrites) {
    if (!is_swept(finding) || finding.sites.empty()) continue;
    for (const rewrite::Knob& knob : finding.knobs) {
      if (knob.name == "BLOCK_SIZE") continue;  // one tile a row: another size is another algorithm
      if (knob.name == "num_stages" && !stages_are_live(audited)) continue;
      for (const std::string& pass : passes)
        if (serves(finding, rewrite_pass(pass)) && (scope == "general" || scope == pass))
          knobs_.push_back(knob_of(finding, knob, pass));
    }
  }
}

std::vector<model::Settings> KnobSpace::space(const std::string& pass, const std::string& x_value) const {
  const model::Settings in_force = shipped(pass, x_value);
  const std::map<std::int64_t, double> too_much_memory = left_out(pass);
  const std::int64_t columns = std::strtoll(x_value.c_str(), nullptr, 10);
  std::vector<model::Settings> grid = {in_force};
  for (const Knob& knob : knobs_) {
    if (knob.pass != pass) continue;
    std::vector<model::Settings> next;
    for (const model::Settings& base : grid)
      for (const std::int64_t value : knob.values) {
        if (knob.name == "num_warps" && !suits_row(value, columns)) continue;
        if (knob.name == kProgramsKnob && too_much_memory.count(value)) continue;
        next.push_back(base);
        next.back()[knob.name] = value;
      }
    if (!next.empty()) grid = std::move(next);
  }
  std::erase(grid, in_force);
  grid.insert(grid.begin(), in_force);  // what the original chooses by itself is always among them
  return grid;
}

void KnobSpace::learn(const std::string& pass, const std::string& x_value, const std::vector<LaunchedKernel>& launches,
                      int sm_count) {
  model::Settings settings;
  for (const Knob& knob : knobs_) {
    if (knob.pass != pass || launches.empty()) continue;
    const LaunchedKernel& kernel = launches.front();
    if (knob.name == "num_warps") settings[knob.name] = kernel.num_warps;
    if (knob.name == "num_stages") settings[knob.name] = kernel.num_stages;
    if (knob.name == kProgramsKnob)
      settings[knob.name] =
          std::max<std::int64_t>(1, kernel.grid.empty() ? 1 : kernel.grid.front() / std::max(1, sm_count));
  }
  shipped_[{pass, x_value}] = std::move(settings);
}

model::Settings KnobSpace::shipped(const std::string& pass, const std::string& x_value) const {
  const auto known = shipped_.find({pass, x_value});
  return known == shipped_.end() ? model::Settings{} : known->second;
}

bool KnobSpace::is_shipped(const std::string& pass, const std::string& x_value, const model::Settings& settings) const {
  return is_known(pass, x_value) && shipped(pass, x_value) == settings;
}

bool KnobSpace::is_shipped_between(const std::string& pass, std::int64_t from, std::int64_t to,
                                   const model::Settings& settings) const {
  bool any = false;
  for (const auto& [key, known] : shipped_) {
    const std::int64_t x = std::strtoll(key.second.c_str(), nullptr, 10);
    if (key.first != pass || x < from || x > to) continue;
    if (known != settings) return false;
    any = true;
  }
  return any;
}

std::map<std::int64_t, double> KnobSpace::left_out(const std::string& pass) const {
  const auto found = left_out_.find(pass);
  return found == left_out_.end() ? std::map<std::int64_t, double>{} : found->second;
}

}  // namespace hone::repository::python
