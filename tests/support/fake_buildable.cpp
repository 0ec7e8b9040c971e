#include "tests/support/fake_buildable.hpp"

#include "base/hash.hpp"

namespace hone::test {

base::Result<repository::Built> FakeBuildable::build(const model::Variant& variant) {
  kernel.events.push_back("build " + variant.id);
  HONE_PROPAGATE(kernel.may("build " + variant.id));
  const SourceBehaviour& source = kernel.behaviour(variant);
  if (!source.compiles)
    return base::Error{base::ErrorKind::preflight, "a text that compiles", "error: expected ';' before '}' token",
                       kernel.name + ".hpp:12", ""};
  repository::Built built;
  for (const std::string& x_value : kernel.sizes) {
    for (const auto& [pass, function] : kernel.complete(variant).settings) {
      HONE_TRY(part, build_settings(pass, x_value, function.at(std::stoll(x_value))));
      if (!variant.edits.empty() && !source.same_code)
        part->machine_code_hash += base::content_hash(variant.edits.front().content);
      built.parts.push_back(*part);
    }
  }
  return built;
}

base::Result<repository::BuiltPart> FakeBuildable::build_settings(const std::string& pass, const std::string& x_value,
                                                                  const model::Settings& settings) {
  ++settings_built;
  if (compiles && !compiles(settings))
    return base::Error{base::ErrorKind::preflight, "settings that compile", "error: too wide", text_of(settings), ""};
  model::Settings live = settings;
  for (const std::string& knob : dead_knobs) live.erase(knob);
  return repository::BuiltPart{pass, x_value, base::content_hash(pass + text_of(live)), "one launch"};
}

}  // namespace hone::test
