#include "repository/python/variants.hpp"

#include "base/text.hpp"
#include "model/version.hpp"

namespace hone::repository::python {

namespace rewrite = source::rewrite;

std::string variant_header() {
  return "Variant made by hone " + std::string(model::hone_version()) +
         " for measurement; settings and changes are listed below.";
}

model::Variant Variants::original() const {
  model::Variant variant;
  variant.id = kOriginal;
  variant.strategy = "baseline";
  variant.title = "as in " + source_.place;
  for (const std::string& pass : cases_.passes()) {
    model::SettingsFunction function;
    function.x_name = cases_.x_name();
    function.reason = "as " + source_.place + "'s own settings choose them";
    for (const std::int64_t x : cases_.sizes()) {
      model::Settings settings = knobs_.shipped(pass, std::to_string(x));
      if (function.rules.empty() || function.rules.back().settings != settings)
        function.rules.push_back({function.rules.empty() ? 0 : x, std::move(settings), function.reason});
    }
    if (!function.rules.empty()) variant.settings[pass] = std::move(function);
  }
  return variant;
}

base::Result<std::string> Variants::with_settings(
    const std::string& text, const std::map<std::string, model::SettingsFunction>& settings) const {
  std::map<std::string, std::vector<rewrite::Request>> by_rewrite;
  for (const auto& [pass, function] : settings) {
    std::map<std::string, rewrite::Request> requests;
    for (std::size_t i = 0; i < function.rules.size(); ++i) {
      const model::SettingsRule& rule = function.rules[i];
      const long long to = i + 1 < function.rules.size() ? function.rules[i + 1].from_x - 1 : rewrite::kAnySize;
      // What the original chooses by itself in this range is left to it.
      if (rule.settings.empty() || knobs_.is_shipped_between(pass, rule.from_x, to, rule.settings)) continue;
      for (const auto& [knob, value] : rule.settings) {
        const std::string name = knob == kProgramsKnob ? kProgramsRewrite : kSettingsRewrite;
        if (name == kProgramsRewrite && value == 1) continue;
        rewrite::Request& request = requests[name];
        request.rewrite = name;
        request.pass = rewrite_pass(pass);
        request.reason = function.reason;
        if (request.by_size.empty() || request.by_size.back().from != rule.from_x)
          request.by_size.push_back({rule.from_x, to, {}});
        request.by_size.back().values[knob] = value;
      }
    }
    for (auto& [name, request] : requests) by_rewrite[name].push_back(std::move(request));
  }
  std::vector<rewrite::Request> all;
  for (const char* name : {kSettingsRewrite, kProgramsRewrite})
    for (rewrite::Request& request : by_rewrite[name]) all.push_back(std::move(request));
  if (all.empty()) return text;
  HONE_TRY(made, rewrite::compose(files_, source_.path, text, all, variant_header()));
  return std::move(made->text);
}

base::Result<std::string> Variants::text_of(const model::Variant& variant) const {
  std::string text = source_.text;
  for (const model::SourceEdit& edit : variant.edits) {
    if (edit.file != source_.relative)
      return base::Error{base::ErrorKind::gate, "changes of " + source_.relative + " alone", edit.file, "variant",
                         "a variant of several files is not supported"};
    text = edit.content;
  }
  return with_settings(text, variant.settings);
}

base::Result<std::string> Variants::implementation_of(const model::Variant& variant) {
  HONE_TRY(text, text_of(variant));
  return implementations_.of(*text);
}

base::Result<std::string> Variants::implementation_with(const std::string& pass, const std::string& x_value,
                                                        const model::Settings& settings) {
  if (knobs_.is_shipped(pass, x_value, settings)) return std::string(kOriginal);
  std::string& name = configured_[{pass, settings}];
  if (name.empty()) {
    HONE_TRY(text,
             with_settings(source_.text,
                           {{pass, {cases_.x_name(), {{0, settings, ""}}, 0, "one configuration of the sweep"}}}));
    HONE_TRY(implementation, implementations_.of(*text));
    name = *implementation;
  }
  return name;
}

base::Result<model::Variant> Variants::from_text(const std::string& text, const model::Variant& parent) const {
  if (base::trim(text).empty())
    return base::Error{base::ErrorKind::gate, "the changed text of " + source_.relative, "an empty file", "variant.py",
                       "write the whole file"};
  model::Variant variant;
  variant.parent = parent.id;
  variant.edits = {{source_.relative, text}};
  return variant;
}

}  // namespace hone::repository::python
