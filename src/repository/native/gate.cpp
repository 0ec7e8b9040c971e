// The numerics gate of a variant: the verification matrix, and its error beside the shipped kernel's on the same case.
#include <algorithm>

#include <fmt/format.h>

#include "repository/native/element_types.hpp"
#include "repository/native/native_session.hpp"
#include "repository/native/verification.hpp"

namespace hone::repository::native {

namespace {

// A variant may round differently from v0, but not worse than this many times its error in norm and in the worst element.
constexpr double kErrorFactor = 4.0;

// What of `result` is worse than the shipped kernel's on the same case; empty when nothing is.
std::string worse_than(const CaseResult& result, const CaseResult& shipped,
                       const std::map<std::string, measure::DType>& dtypes) {
  for (const auto& [name, deviation] : result.deviations)
    if (auto it = shipped.deviations.find(name); it != shipped.deviations.end())
      if (std::string worse = measure::worse_than_baseline(deviation, it->second, kErrorFactor, dtypes.at(name));
          !worse.empty())
        return name + ": " + worse;
  return "";
}

}  // namespace

base::Result<GateResult> NativeSession::gate(const model::Variant& variant, GateLevel level) {
  const bool full = level == GateLevel::full;
  const std::vector<kernels::DType> dtypes = full ? operation_.dtypes() : std::vector<kernels::DType>{dtype_};
  const std::vector<VerificationCase> matrix =
      cases(operation_, full ? Extent::full : Extent::smoke, dtypes, options_, sizes_);
  auto implementation = [&](const model::Variant& which) {
    Implementation made;
    made.plan = [this, which](kernels::Pass pass, const kernels::Problem& problem) {
      return operation_.plan(pass, problem, resolve(which, pass, problem), target_, kernels::Ablation::none);
    };
    made.program = [this, which](const kernels::Plan& plan, kernels::Pass pass) {
      return program(plan, operation_.name() + " " + kernels::name_of(pass), edits_of(which));
    };
    return made;
  };
  const Implementation candidate = implementation(variant), shipped = implementation({});

  GateResult gate;
  auto fail = [&](const CaseResult& result, const std::string& why) {
    ++gate.failed;
    if (gate.first_failure.empty()) gate.first_failure = fmt::format("{} {}: {}", result.mode, result.label, why);
  };
  for (const VerificationCase& which : matrix) {
    auto results = verify(context_.device, operation_, which, candidate, request_.seed + 17);
    if (!results) return results.error();
    auto baseline = verify(context_.device, operation_, which, shipped, request_.seed + 17);
    if (!baseline) return baseline.error();
    std::map<std::string, measure::DType> dtypes_by_name;
    for (const kernels::TensorSpec& spec : operation_.tensors(which.problem))
      dtypes_by_name[spec.name] = element_type(spec.dtype);
    for (std::size_t i = 0; i < results->size(); ++i) {
      const CaseResult& result = (*results)[i];
      gate.largest_error_over_bound = std::max(gate.largest_error_over_bound, result.error);
      if (!result.passed)
        fail(result, result.failure);
      else if (std::string worse = worse_than(result, (*baseline)[i], dtypes_by_name); !worse.empty())
        fail(result, worse);
      else
        ++gate.passed;
    }
    // A smoke gate is there to be quick: the first failure decides.
    if (!full && gate.failed > 0) break;
  }
  gate.detail = fmt::format("{} cases in double precision: {} passed, {} failed; largest error {:.2f} of its bound",
                            gate.passed + gate.failed, gate.passed, gate.failed, gate.largest_error_over_bound);
  return gate;
}

}  // namespace hone::repository::native
