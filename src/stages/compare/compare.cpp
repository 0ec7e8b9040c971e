#include "stages/compare/compare.hpp"

#include <fmt/format.h>

#include <cctype>

#include "base/regular_file.hpp"
#include "measure/protocol.hpp"
#include "model/json_value.hpp"
#include "stages/floors.hpp"
#include "stages/optimize/optimize.hpp"

namespace hone::stages {

namespace {

bool is_id(const std::string& text) {
  if (text.size() < 2 || text.front() != 'v') return false;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (!std::isdigit(static_cast<unsigned char>(text[i]))) return false;
  }
  return true;
}

// The main source as this text has it, with whatever else is in force.
base::Result<model::Variant> variant_of_text(const Kernel& kernel, const std::string& text, const std::string& name) {
  HONE_TRY(variant, kernel.changeable.variant_from_source(text, kernel.described.original()));
  variant->id = base::file_name(name), variant->parent = "v0";
  return variant;
}

base::Result<model::Variant> variant_named(const Kernel& kernel, const CompareRequest& request,
                                           const Workspace& workspace, const Ports& ports, const std::string& name) {
  if (const auto text = request.texts.find(name); text != request.texts.end())
    return variant_of_text(kernel, text->second, name);
  if (name == "v0") return kernel.described.original();
  if (is_id(name)) {
    auto variant = workspace.load_variant(name);
    if (variant || ports.files.exists(workspace.at(workspace.settings_name(name)))) return variant;
    return base::Error{base::ErrorKind::usage, "a variant of the workspace, or the path of a variant file", name,
                       workspace.folder(),
                       "'hone optimize " + workspace.kernel() + "' makes variants; comparison.md lists them"};
  }
  if (!ports.files.exists(name)) {
    return base::Error{base::ErrorKind::usage, "v0, a variant such as v2, or the path of a file", name, "command line",
                       "check the name"};
  }
  HONE_TRY(text, base::read_regular(ports.files, name));
  return name.ends_with(".json") ? model::parse_variant(*text, name) : variant_of_text(kernel, *text, name);
}

// A wrong or broken candidate is never timed: a comparison of times says nothing then.
base::Result<void> check_runs(const Kernel& kernel, const model::Variant& variant, const std::string& name) {
  auto built = kernel.buildable.build(variant);
  if (!built && built.error().kind == base::ErrorKind::interrupted) return built.error();
  if (!built)
    return base::Error{base::ErrorKind::gate, name + " to compile", built.error().found, built.error().where,
                       "choose another variant"};
  HONE_TRY(gate, kernel.judged.gate(variant, repository::GateLevel::smoke));
  if (gate->ok()) return {};
  return base::Error{base::ErrorKind::gate, name + " to pass the smoke gate",
                     gate->first_failure.empty() ? "no case was run" : gate->first_failure, "",
                     "a variant with wrong results has no speed; choose another"};
}

base::Result<ComparedCell> compare_cell(repository::Timed& timed, Floors& floors, const CompareRequest& request,
                                        const model::Variant& baseline, const model::Variant& candidate,
                                        const repository::Cell& cell) {
  HONE_TRY(before, timed.subject(baseline, cell));
  HONE_TRY(after, timed.subject(candidate, cell));
  measure::CompareOptions options;
  options.budget = request.budget;
  options.seed = request.seed;
  options.patience = kPatience;
  auto comparison = floors.judge(cell, [&](double floor_ns) {
    options.floor_ns = floor_ns;
    return measure::compare(**before, **after, timed.clock(), options);
  });
  ComparedCell result{cell, {}};
  if (comparison) {
    result.comparison = std::move(*comparison);
  } else if (comparison.error().kind == base::ErrorKind::untrusted) {
    result.comparison.reason = comparison.error().found;
  } else {
    return comparison.error();
  }
  return result;
}

}  // namespace

base::Result<CompareOutcome> compare(const Kernel& kernel, const model::Profile& profile, const CompareRequest& request,
                                     const Workspace& workspace, const Ports& ports) {
  auto checked = check_profile(kernel.described, profile);
  HONE_PROPAGATE(check_interrupt(ports, request.command, AfterInterrupt::begins_anew));
  if (!checked) return checked.error();
  HONE_TRY(baseline, variant_named(kernel, request, workspace, ports, request.baseline));
  HONE_TRY(candidate, variant_named(kernel, request, workspace, ports, request.candidate));
  HONE_PROPAGATE(check_runs(kernel, *baseline, request.baseline));
  HONE_PROPAGATE(check_runs(kernel, *candidate, request.candidate));
  CompareOutcome outcome{
      kernel.described.identity().kernel, kernel.described.device().name, request.baseline, request.candidate, {}};
  model::Profile held_against = profile;
  Floors floors(kernel.timed, held_against, ports);
  ports.progress.step(fmt::format("compare {} with {}", request.candidate, request.baseline));
  const std::vector<std::string> sizes = kernel.described.sizes(), modes = kernel.described.modes();
  for (const std::string& x_value : sizes) {
    for (const std::string& mode : modes) {
      HONE_PROPAGATE(check_interrupt(ports, request.command, AfterInterrupt::begins_anew));
      ports.progress.advance(static_cast<int>(outcome.cells.size()), static_cast<int>(sizes.size() * modes.size()),
                             mode + " at " + x_value);
      HONE_TRY(cell, compare_cell(kernel.timed, floors, request, *baseline, *candidate, {x_value, mode}));
      outcome.cells.push_back(std::move(*cell));
    }
  }
  return outcome;
}

std::string to_json(const CompareOutcome& outcome) {
  using model::Json;
  const auto pair_of = [](const ComparedCell& compared) {
    const model::Comparison& c = compared.comparison;
    return Json::object({{"x_value", compared.cell.x_value},
                         {"mode", compared.cell.mode},
                         {"ratio", c.ratio},
                         {"ci_low", c.ci_low},
                         {"ci_high", c.ci_high},
                         {"verdict", model::word(c.verdict)},
                         {"reason", c.reason},
                         {"baseline_ms", c.baseline_ms.p50},
                         {"candidate_ms", c.candidate_ms.p50}});
  };
  return Json::object({{"schema", "hone.compare/1"},
                       {"kernel", outcome.kernel},
                       {"device", outcome.device},
                       {"baseline", outcome.baseline},
                       {"candidate", outcome.candidate},
                       {"pairs", Json::list(outcome.cells, pair_of)}})
             .dump_plain(2) +
         "\n";
}

}  // namespace hone::stages
