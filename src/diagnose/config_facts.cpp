#include "diagnose/config_facts.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/text.hpp"
#include "diagnose/facts.hpp"
#include "diagnose/figures.hpp"

namespace hone::diagnose {

namespace {

std::string described(const model::Parameter& parameter) {
  std::string text = parameter.name + " = " + parameter.value;
  if (parameter.live == model::Liveness::unknown) return text;
  text += std::string(" (") + model::word(parameter.live);
  if (!parameter.live_evidence.empty()) text += ": " + parameter.live_evidence;
  return text + ")";
}

}  // namespace

std::vector<const model::Parameter*> knobs_of(const model::Configuration& configuration, const Strategy& strategy) {
  std::vector<const model::Parameter*> found;
  for (const model::Parameter& parameter : configuration.parameters) {
    const std::string name = base::lower(parameter.name);
    for (const std::string& part : base::split(strategy.knobs, ' ')) {
      if (part.empty() || name.find(part) == std::string::npos) continue;
      found.push_back(&parameter);
      break;
    }
  }
  return found;
}

std::string knob_text(const model::Configuration& configuration, const Strategy& strategy) {
  if (strategy.word == std::string("parameter-sweep")) {
    std::string live, dead, unproven;
    for (const model::Parameter& parameter : configuration.parameters) {
      std::string& list = parameter.live == model::Liveness::dead   ? dead
                          : parameter.live == model::Liveness::live ? live
                                                                    : unproven;
      list += (list.empty() ? "" : ", ") + parameter.name;
    }
    std::string text = live.empty() ? "" : "live: " + live;
    if (!unproven.empty()) text += (text.empty() ? "" : "; ") + ("not proven live: " + unproven);
    if (!dead.empty()) text += (text.empty() ? "" : "; ") + ("dead and left out: " + dead);
    return text.empty() ? "" : "Knobs " + text;
  }
  std::string text;
  for (const model::Parameter* parameter : knobs_of(configuration, strategy))
    text += (text.empty() ? "" : ", ") + described(*parameter);
  if (text.empty()) return "";
  return (all_knobs_dead(configuration, strategy) ? "Its knobs do nothing here: " : "Knobs: ") + text;
}

bool all_knobs_dead(const model::Configuration& configuration, const Strategy& strategy) {
  const std::vector<const model::Parameter*> knobs = knobs_of(configuration, strategy);
  return !knobs.empty() &&
         std::all_of(knobs.begin(), knobs.end(), [](const auto* each) { return each->live == model::Liveness::dead; });
}

std::optional<double> value_at(const model::Parameter& parameter, const std::string& x_value) {
  std::optional<double> value;
  for (const std::string& part : base::split(parameter.value, ',')) {
    const std::size_t colon = part.find(':');
    if (colon == std::string::npos) return as_number(base::trim(part));
    if (base::trim(part.substr(0, colon)) == x_value) value = as_number(base::trim(part.substr(colon + 1)));
  }
  return value;
}

bool at_full_width(const model::Profile& profile, const std::string& x_value) {
  double widest = 0;
  for (const std::string& each : profile.device.isa) {
    if (each.rfind("avx512", 0) == 0) widest = std::max(widest, 64.0);
    if (each.rfind("avx", 0) == 0) widest = std::max(widest, 32.0);
  }
  bool any = false;
  for (const model::Parameter& parameter : profile.configuration.parameters) {
    if (base::lower(parameter.name).find("vector_bytes") == std::string::npos) continue;
    const std::optional<double> bytes = value_at(parameter, x_value);
    if (!bytes || *bytes < widest) return false;
    any = true;
  }
  return any && widest > 0;
}

double masked_lanes_pct(double columns, double tile) {
  if (!(columns > 0) || !(tile > 0)) return 0;
  const double lanes = std::ceil(columns / tile) * tile;
  return 100 * (lanes - columns) / lanes;
}

}  // namespace hone::diagnose
