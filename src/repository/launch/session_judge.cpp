// Numerics: the gate of a variant, whose error stands beside the original's on the same inputs, and the verification of what is
// in force.
#include <algorithm>

#include <fmt/format.h>

#include "repository/launch/session.hpp"

namespace hone::repository::launch {

base::Result<GateResult> LaunchSession::gate(const model::Variant& variant, GateLevel level) {
  const bool full = level == GateLevel::full;
  const Verification verification{device_, *operation_, launcher_.bind(variant), launcher_.bind({})};
  // Settings are installed for one type and change nothing for the others. A changed source is what others may come to run.
  const bool every_dtype = full && !variant.edits.empty();
  const std::vector<ProblemPtr> problems = operation_->cases(full ? Extent::full : Extent::smoke, every_dtype, sizes_);
  compile_cases(problems, variant);
  compile_cases(problems, {});
  GateResult gate;
  for (const ProblemPtr& problem : problems) {
    HONE_TRY(cases, launch::verify(verification, *problem, request_.seed + 17));
    for (const VerifiedCase& done : *cases) {
      gate.largest_error_over_bound = std::max(gate.largest_error_over_bound, done.result.error);
      const std::string why = done.result.passed ? done.worse : done.result.failure;
      ++(why.empty() ? gate.passed : gate.failed);
      if (!why.empty() && gate.first_failure.empty())
        gate.first_failure = fmt::format("{} {}: {}", done.result.mode, done.result.label, why);
    }
    // A smoke gate is there to be quick: the first failure decides. A kernel that hangs may do so in every case.
    if ((!full && gate.failed > 0) || cases->back().result.hung) break;
  }
  gate.detail =
      fmt::format("{} cases, {}: {} passed, {} failed; largest error {:.2f} of its bound", gate.passed + gate.failed,
                  reference_words(), gate.passed, gate.failed, gate.largest_error_over_bound);
  if (gate.passed + gate.failed == 0)
    gate.detail = gate.first_failure =
        "no case that the kernel can run: name sizes under [verify] for which 'valid' holds";
  if (!full || !gate.ok()) return gate;
  HONE_TRY(changes, installation(variant));
  HONE_TRY(tested, operation_->own_tests(*changes));
  if (!*tested) return gate;
  gate.passed += (*tested)->passed;
  gate.failed += (*tested)->failed;
  gate.detail += "; " + (*tested)->detail;
  if ((*tested)->failed > 0) gate.first_failure = (*tested)->detail;
  return gate;
}

// Nearly every shape is a text of its own on a GPU (how a row fits the registers is a constant of the program), each type and
// option is one everywhere, and one after the other they take longer than all the cases together.
void LaunchSession::compile_cases(const std::vector<ProblemPtr>& problems, const model::Variant& variant) {
  std::vector<Launcher::Wanted> wanted;
  for (const ProblemPtr& problem : problems)
    for (const std::string& pass : operation_->passes())
      if (auto planned = launcher_.plan(variant, pass, *problem))
        wanted.push_back({std::move(*planned), problem->dtype()});
  launcher_.compile_ahead(wanted, variant);
}

// What its author wrote and no compiler takes is a mistake in the description, not a case that fails.
base::Result<void> LaunchSession::original_compiles(const std::vector<ProblemPtr>& problems) {
  if (operation_->is_trusted({})) return {};
  for (const ProblemPtr& problem : problems)
    for (const std::string& pass : operation_->passes()) {
      const auto planned = launcher_.plan({}, pass, *problem);
      if (!planned) continue;
      auto compiled = launcher_.program(planned->plan, pass, launcher_.edits({}, problem->dtype()));
      if (compiled) continue;
      base::Error error = compiled.error();
      if (error.kind == base::ErrorKind::gate) error.kind = base::ErrorKind::usage;
      return error;
    }
  return {};
}

base::Result<std::vector<CaseResult>> LaunchSession::verify(Extent extent, bool all_dtypes, const Each& each) {
  const Verification verification{device_, *operation_, launcher_.bind({}), nullptr};
  const std::vector<ProblemPtr> problems = operation_->cases(extent, all_dtypes, sizes_);
  compile_cases(problems, {});
  HONE_PROPAGATE(original_compiles(problems));
  std::vector<CaseResult> all;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    HONE_TRY(cases, launch::verify(verification, *problems[i], request_.seed + 17));
    for (VerifiedCase& done : *cases) {
      if (!each(static_cast<int>(i) + 1, static_cast<int>(problems.size()), done.result))
        return base::Error{base::ErrorKind::interrupted, "to finish the matrix", "an interrupt", "hone verify",
                           "run it again; nothing was written"};
      all.push_back(std::move(done.result));
      if (all.back().hung) return all;
    }
  }
  return all;
}

// What the original gives at the sizes that are measured, against what results are held against.
std::string LaunchSession::correctness() {
  if (const std::string why = unmeasurable(); !why.empty()) return "nothing was compared: " + why;
  const Verification verification{device_, *operation_, launcher_.bind({}), nullptr};
  int passed = 0;
  std::string failures;
  for (const ProblemPtr& problem : operation_->cases(Extent::full, false, sizes_)) {
    if (!std::count(sizes_.begin(), sizes_.end(), problem->x())) continue;
    const auto cases = launch::verify(verification, *problem, request_.seed + 17);
    if (!cases)
      return fmt::format("nothing was compared: {}, where hone expects {}", cases.error().found,
                         cases.error().expected);
    for (const auto& [result, worse] : *cases)
      if (result.passed)
        ++passed;
      else
        failures +=
            fmt::format("{} {} {}: {}", failures.empty() ? ":" : ";", result.mode, result.label, result.failure);
    if (cases->back().result.hung) break;
  }
  if (!failures.empty()) return "the original is wrong at sizes that are measured" + failures;
  if (passed == 0) return "nothing was compared: the sizes that are measured are too large to be verified";
  return fmt::format("{}; {} cases at the sizes that are measured pass", reference_words(), passed);
}

}  // namespace hone::repository::launch
