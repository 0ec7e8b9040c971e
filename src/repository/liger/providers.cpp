#include "repository/liger/providers.hpp"

#include <algorithm>

#include "repository/liger/checkout.hpp"
#include "repository/liger/operators.hpp"

namespace hone::repository::liger {

namespace {

constexpr const char* kLiger = "liger";

// Values other than a kernel's defaults that the worker's call stands for.
std::map<std::string, std::string> meant_by_the_call(const ProviderCase& asked) {
  if (asked.kernel == "grpo_loss") return {{"old_logp", "no"}, {"completion_mask", "no"}};
  const auto casting = asked.options.find("casting_mode");
  if (casting != asked.options.end() && casting->second == "gemma") return {{"offset", "1"}};
  return {};
}

// A value of a built-in kernel's option in the words of a description.
std::string word_of(const std::string& value) { return value == "yes" ? "true" : value == "no" ? "false" : value; }

}  // namespace

PythonProviders::PythonProviders(python::Context context) : python_(std::move(context), kPackage) {}

base::Result<python::CaseSpec> case_of(const ProviderCase& asked) {
  const auto description = find_operator(asked.kernel);
  if (!description)
    return base::Error{base::ErrorKind::preflight, "a kernel that Liger has too", asked.kernel, "--provider",
                       "leave the provider out"};
  python::Shape shape = description->at(asked.columns, {{"rows", asked.rows}});
  if (asked.depth > 0) {
    if (shape.count("hidden")) shape["hidden"] = asked.depth;
    if (shape.count("batch")) {  // there `rows` are those of one sequence
      shape["batch"] = asked.depth;
      shape["rows"] = asked.rows / asked.depth;
    }
  }
  std::map<std::string, std::string> options = description->default_options();
  for (auto& [name, value] : options)
    if (const auto found = asked.options.find(name); found != asked.options.end()) value = word_of(found->second);
  return description->case_of(shape, asked.dtype, options, 0);
}

std::string unlike(const ProviderCase& asked) {
  const auto description = find_operator(asked.kernel);
  if (!description) return "hone does not know how to call it";
  const auto meant = meant_by_the_call(asked);
  for (const auto& [name, value] : meant)
    if (const auto found = asked.options.find(name); found != asked.options.end() && found->second != value)
      return "timed with --option " + name + "=" + value + " alone";
  for (const auto& [name, value] : asked.not_default) {
    const python::OptionDecl* option = description->find_option(name);
    const bool passed_on =
        option && std::find(option->values.begin(), option->values.end(), word_of(value)) != option->values.end();
    if (!passed_on && !meant.count(name)) return "not timed with --option " + name + "=" + value;
  }
  const std::vector<std::string> modes = description->modes();
  if (std::find(modes.begin(), modes.end(), asked.mode) == modes.end())
    return "has no " + asked.mode + " of its own: forward computes the gradient";
  return "";
}

std::string PythonProviders::absent(const std::string& provider, const ProviderCase& asked) {
  if (std::string why = python_.absent(); !why.empty()) return why;
  if (provider == kLiger && python_.environment().installed.empty())
    return python_.environment().executable + " has no liger_kernel (PYTHONPATH=CHECKOUT/src would do)";
  return unlike(asked);
}

base::Result<std::unique_ptr<measure::Subject>> PythonProviders::subject(const std::string& provider,
                                                                         const ProviderCase& asked) {
  if (const std::string why = absent(provider, asked); !why.empty() && !python_.environment().stopped)
    return base::Error{base::ErrorKind::preflight, "the provider " + provider, why, "--provider", "leave it out"};
  HONE_TRY(spec, case_of(asked));
  return python_.subject({provider, find_operator(asked.kernel), std::string(kPackage) + ".ops." + asked.kernel,
                          provider != kLiger, std::move(*spec), asked.mode});
}

}  // namespace hone::repository::liger
