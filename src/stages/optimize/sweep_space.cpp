#include "stages/optimize/sweep_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "base/hash.hpp"
#include "stages/trial/settings_function.hpp"

namespace hone::stages {

namespace {

// The shipped settings are what everything is compared with: without them there is no sweep.
base::Result<void> check_shipped(Lab& lab, const std::string& pass, const std::vector<SizeSpace>& sizes) {
  for (const SizeSpace& size : sizes) {
    if (!size.distinct.empty() && size.distinct.front() == size.shipped) continue;
    return base::Error{
        base::ErrorKind::preflight, "the shipped settings to compile", settings_text(size.shipped) + " does not",
        pass + " at " + lab.described().x_name() + "=" + size.x_value, "'hone doctor' checks the compiler"};
  }
  return {};
}

// Backward must take over what forward leaves its mark with. Its incumbent is then the shipped settings with those values.
void keep_coupled(const std::string& pass, std::vector<model::Settings>& space, SizeSpace& size,
                  const model::Settings& fixed, std::vector<std::string>& findings) {
  std::vector<model::Settings> fitting = space;
  std::erase_if(fitting, [&](const model::Settings& s) {
    return std::any_of(fixed.begin(), fixed.end(), [&](const auto& knob) {
      const auto found = s.find(knob.first);
      return found != s.end() && found->second != knob.second;
    });
  });
  if (fitting.empty()) {
    findings.push_back(fmt::format("{} at {}: no settings fit what forward was given ({}); its shipped ones are kept",
                                   pass, size.x_value, settings_text(fixed)));
    space = {size.shipped};
    return;
  }
  model::Settings incumbent = size.shipped;
  for (const auto& [name, value] : fixed) {
    if (incumbent.count(name)) incumbent[name] = value;
  }
  const auto found = std::find(fitting.begin(), fitting.end(), incumbent);
  size.shipped = found == fitting.end() ? fitting.front() : incumbent;
  std::erase(fitting, size.shipped);
  fitting.insert(fitting.begin(), size.shipped);
  space = std::move(fitting);
}

// Configurations of a pass at one size that a quick run builds: building all of them takes longer than timing some.
constexpr std::size_t kQuickSpace = 32;

// Keeps the shipped settings, those that differ from them in one knob (built already: they tell which knobs are live), and a
// part of the others, which is the same at every size so that one size's winner can be timed at the others.
void thin_out(std::vector<model::Settings>& space, std::uint64_t seed) {
  if (space.size() <= kQuickSpace) return;
  const model::Settings shipped = space.front();
  using Ranked = std::tuple<bool, std::string, model::Settings>;  // far from the shipped ones, by chance, the settings
  std::vector<Ranked> ranked;
  for (std::size_t i = 1; i < space.size(); ++i) {
    const auto differ = std::count_if(space[i].begin(), space[i].end(), [&](const auto& knob) {
      const auto found = shipped.find(knob.first);
      return found == shipped.end() || found->second != knob.second;
    });
    ranked.emplace_back(differ > 1, base::content_hash(fmt::format("{} {}", seed, settings_text(space[i]))), space[i]);
  }
  std::sort(ranked.begin(), ranked.end());
  space.resize(1);
  for (std::size_t i = 0; i + 1 < kQuickSpace; ++i) space.push_back(std::move(std::get<2>(ranked[i])));
}

SizeSpace& size_named(std::vector<SizeSpace>& sizes, const std::string& x_value) {
  return *std::find_if(sizes.begin(), sizes.end(), [&](const SizeSpace& s) { return s.x_value == x_value; });
}

}  // namespace

std::size_t PassSpace::distinct_pairs() const {
  std::size_t sum = 0;
  for (const SizeSpace& size : sizes) sum += size.distinct.size();
  return sum;
}

base::Result<PassSpace> distinct_configurations(Lab& lab, const model::Variant& shipped, const std::string& pass,
                                                const std::map<std::string, model::Settings>& coupled) {
  PassSpace all;
  lab.ports().progress.step("sweep " + pass + ": compile");
  std::vector<std::string> x_values;
  std::vector<model::Settings> settings;
  for (const std::string& x_value : lab.described().sizes()) {
    HONE_TRY(x, parse_size(x_value));
    SizeSpace size;
    size.x_value = x_value, size.x = *x;
    std::vector<model::Settings> space = lab.described().space(pass, x_value);
    const auto given = shipped.settings.find(pass);
    if (given != shipped.settings.end() && !given->second.rules.empty())
      size.shipped = given->second.at(*x);
    else if (!space.empty())
      size.shipped = space.front();
    std::erase(space, size.shipped);
    space.insert(space.begin(), size.shipped);
    if (const auto fixed = coupled.find(x_value); fixed != coupled.end())
      keep_coupled(pass, space, size, fixed->second, all.findings);
    if (lab.profile().request.quick && space.size() > kQuickSpace) {
      all.findings.push_back(fmt::format("{} at {}: a quick run considers {} of {} configurations", pass, x_value,
                                         kQuickSpace, space.size()));
      thin_out(space, lab.profile().request.seed);
    }
    for (const model::Settings& s : space) x_values.push_back(x_value), settings.push_back(s);
    all.sizes.push_back(std::move(size));
  }
  std::sort(all.sizes.begin(), all.sizes.end(), [](const SizeSpace& a, const SizeSpace& b) { return a.x < b.x; });
  HONE_TRY(built, lab.build(pass, x_values, settings));
  int failed = 0;
  std::string first_error;
  std::map<std::string, std::set<std::pair<std::string, std::string>>> seen;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    if (!(*built)[i].error.empty()) {
      if (failed++ == 0) first_error = settings_text(settings[i]) + ": " + (*built)[i].error;
      continue;
    }
    if (!seen[x_values[i]].insert({(*built)[i].code_hash, (*built)[i].launch_hash}).second) continue;
    size_named(all.sizes, x_values[i]).distinct.push_back(settings[i]);
  }
  all.planned = static_cast<int>(settings.size());
  if (failed > 0)
    all.findings.push_back(fmt::format("{}: {} of {} configurations do not compile; the first: {}", pass, failed,
                                       settings.size(), first_error));
  HONE_PROPAGATE(check_shipped(lab, pass, all.sizes));
  return all;
}

SearchSpace search_space(const std::vector<SizeSpace>& sizes, std::vector<model::Settings>& points) {
  std::map<std::string, std::set<std::int64_t>> values;
  std::set<model::Settings> all;
  for (const SizeSpace& size : sizes) {
    for (const model::Settings& s : size.distinct) {
      all.insert(s);
      for (const auto& [name, value] : s) values[name].insert(value);
    }
  }
  std::erase_if(values, [](const auto& knob) { return knob.second.size() < 2; });
  points.assign(all.begin(), all.end());
  SearchSpace space;
  for (const model::Settings& s : points) {
    std::vector<double> coordinates;
    for (const auto& [name, known] : values) {
      const auto own = s.find(name);
      const auto rank = own == s.end() ? 0 : std::distance(known.begin(), known.find(own->second));
      coordinates.push_back(static_cast<double>(rank) / static_cast<double>(known.size() - 1));
    }
    space.points.push_back(std::move(coordinates));
  }
  const double low = std::log(static_cast<double>(sizes.front().x) + 1),
               high = std::log(static_cast<double>(sizes.back().x) + 1);
  const auto index = [&](const model::Settings& s) {
    return static_cast<std::size_t>(std::lower_bound(points.begin(), points.end(), s) - points.begin());
  };
  for (const SizeSpace& size : sizes) {
    SearchTask task;
    task.position = high > low ? (std::log(static_cast<double>(size.x) + 1) - low) / (high - low) : 0;
    for (const model::Settings& s : size.distinct) task.points.push_back(index(s));
    task.incumbent = index(size.shipped);
    space.tasks.push_back(std::move(task));
  }
  return space;
}

}  // namespace hone::stages
