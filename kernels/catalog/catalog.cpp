// The catalogue of built-in kernels, and what all of them share: types, options, enumeration of settings.
#include "kernels/catalog/catalog.hpp"

#include <cerrno>
#include <cmath>
#include <cstdlib>

namespace kernels {

const char* name_of(Pass pass) { return pass == Pass::forward ? "forward" : "backward"; }

std::vector<Settings> Operation::enumerate(Pass pass, const Problem& problem, const Target& target) const {
  const Settings shipped = heuristic(pass, problem, target);
  std::vector<Settings> products = {Settings{}};
  for (const Knob& knob : knobs(pass, target)) {
    std::vector<Settings> longer;
    for (const Settings& settings : products) {
      for (const std::int64_t value : knob.values) {
        longer.push_back(settings);
        longer.back()[knob.name] = value;
      }
    }
    products = std::move(longer);
  }
  std::vector<Settings> all = {shipped};
  for (Settings& settings : products) {
    if (settings != shipped && valid(pass, settings, problem, target).empty()) all.push_back(std::move(settings));
  }
  return all;
}

double root_mean_square(const std::vector<double>& values) {
  double squares = 0;
  std::int64_t finite = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    squares += value * value;
    ++finite;
  }
  return finite > 0 ? std::sqrt(squares / double(finite)) : 0;
}

double Operation::value_scale(Pass, const std::string& tensor, const Problem&, const Values&,
                              const Values& results) const {
  return root_mean_square(results.at(tensor));
}

std::vector<double> Operation::term_sizes(Pass, const std::string&, const Problem&, const Values&) const { return {}; }

Options default_options(const Operation& operation) {
  Options options;
  for (const OptionSpec& spec : operation.options()) {
    options[spec.name] = spec.values.empty() ? spec.default_value : spec.values.front();
  }
  return options;
}

namespace {

bool is_finite_number(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  const double value = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && errno == 0 && std::isfinite(value);
}

std::string check_option(const OptionSpec& spec, const std::string& value) {
  if (spec.values.empty()) {
    return is_finite_number(value) ? "" : spec.name + " must be a finite number, not '" + value + "'";
  }
  std::string allowed;
  for (const std::string& candidate : spec.values) {
    if (candidate == value) return "";
    allowed += (allowed.empty() ? "" : ", ") + candidate;
  }
  return spec.name + " must be one of " + allowed + ", not '" + value + "'";
}

}  // namespace

std::string check_options(const Operation& operation, const Options& options) {
  std::string known;
  const std::vector<OptionSpec> specs = operation.options();
  for (const OptionSpec& spec : specs) {
    known += (known.empty() ? "" : ", ") + spec.name;
    const auto found = options.find(spec.name);
    if (found == options.end()) return "option " + spec.name + " has no value";
    if (const std::string wrong = check_option(spec, found->second); !wrong.empty()) return wrong;
  }
  for (const auto& [name, value] : options) {
    bool is_known = false;
    for (const OptionSpec& spec : specs) is_known = is_known || spec.name == name;
    if (!is_known)
      return operation.name() + " has no option '" + name + "'; it has " + (known.empty() ? "none" : known);
  }
  return "";
}

const std::vector<std::unique_ptr<Operation>>& catalog() {
  static const std::vector<std::unique_ptr<Operation>> operations = [] {
    std::vector<std::unique_ptr<Operation>> all;
    all.push_back(make_rms_norm());
    all.push_back(make_swiglu());
    all.push_back(make_relu_squared());
    all.push_back(make_layer_norm());
    all.push_back(make_softmax());
    all.push_back(make_dyt());
    all.push_back(make_geglu());
    all.push_back(make_fused_add_rms_norm());
    all.push_back(make_cross_entropy());
    all.push_back(make_fused_linear_cross_entropy());
    all.push_back(make_grpo_loss());
    return all;
  }();
  return operations;
}

const Operation* find(const std::string& name) {
  for (const auto& operation : catalog()) {
    if (operation->name() == name) return operation.get();
  }
  return nullptr;
}

}  // namespace kernels
