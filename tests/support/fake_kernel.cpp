#include "tests/support/fake_kernel.hpp"

namespace hone::test {

base::Result<void> FakeKernel::may(const std::string& call) const {
  if (!fails || !fails(call)) return {};
  return base::Error{base::ErrorKind::internal, "a call that works", "told to fail", call, "as told"};
}

model::Variant FakeKernel::original() const {
  model::Variant variant;
  variant.id = "v0";
  for (const std::string& mode : modes) {
    if (mode == "full") continue;
    model::SettingsFunction& function = variant.settings[mode];
    function.x_name = "hidden_size";
    for (const std::string& x : sizes)
      function.rules.push_back({function.rules.empty() ? 0 : std::stoll(x), shipped(mode, std::stoll(x)), "shipped"});
  }
  return variant;
}

model::Variant FakeKernel::complete(const model::Variant& variant) const {
  model::Variant whole = original();
  for (const auto& [pass, function] : variant.settings) whole.settings[pass] = function;
  return whole;
}

const SourceBehaviour& FakeKernel::behaviour(const model::Variant& variant) const {
  static const SourceBehaviour as_original;
  const auto found = variant.edits.empty() ? sources.end() : sources.find(variant.edits.front().content);
  return found == sources.end() ? as_original : found->second;
}

std::string text_of(const model::Settings& settings) {
  std::string text;
  for (const auto& [name, value] : settings) text += name + "=" + std::to_string(value) + " ";
  return text;
}

}  // namespace hone::test
