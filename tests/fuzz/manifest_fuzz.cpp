// Manifests that were truncated, hand-edited or made up: refused with an error that says where and what to do, or read; and what
// was read can be planned at its own sizes, or refused in words. The first byte chooses manifest, settings or expression.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "repository/manifest/problem.hpp"
#include "repository/manifest/read_manifest.hpp"
#include "repository/manifest/settings_file.hpp"

namespace {

using namespace hone::repository;
using namespace hone::repository::manifest;
using hone::repository::Expression;
using hone::repository::Scope;

void require(bool kept) {
  if (!kept) std::abort();
}

void require_helpful(const hone::base::Error& error) {
  require(!error.expected.empty() && !error.found.empty() && !error.remedy.empty());
}

void plan_all(const Manifest& manifest) {
  for (const std::int64_t x : manifest.sizes) {
    auto problem = problem_at(manifest, x, manifest.dtypes.front());
    if (!problem) {
      require_helpful(problem.error());
      continue;
    }
    for (const PassDecl& pass : manifest.passes) {
      auto plan = plan_of(manifest, *problem, pass, current_settings(manifest, pass.name));
      if (!plan) require_helpful(plan.error());
      auto traffic = traffic_of(manifest, *problem, pass);
      if (!traffic) require_helpful(traffic.error());
      if (pass.reference) (void)arguments_of(manifest, *problem, pass.reference->arguments, {}).ok();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 's') {
    const auto settings = parse_settings(text, "s.toml");
    if (!settings)
      require_helpful(settings.error());
    else
      require(parse_settings(settings_text("k", *settings), "s.toml").ok());
  } else if (data[0] == 'e') {
    const auto expression = Expression::parse(text, {"m.toml", {1, 1}, "'grid'"});
    if (!expression) return require_helpful(expression.error()), 0;
    const Scope scope{{{"rows", 4096}, {"n", 3}}, {{"eps", 1e-7}}};
    if (const auto value = expression->whole(scope); !value) require_helpful(value.error());
    if (const auto value = expression->real(scope); !value) require_helpful(value.error());
  } else {
    const auto manifest = parse_manifest(text, "m.toml");
    if (!manifest)
      require_helpful(manifest.error());
    else
      plan_all(*manifest);
  }
  return 0;
}
