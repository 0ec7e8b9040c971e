// Sizes, tensors and traffic. Launches are in plan.cpp.
#include "repository/manifest/problem.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "measure/dtypes.hpp"

namespace hone::repository::manifest {

namespace {

// More than any memory holds; products of sizes stay far from the end of 64 bits.
constexpr std::int64_t kMostElements = std::int64_t{1} << 44;
// Of the values of one element where the manifest does not say: a handful of roundings, and a sum of some length.
constexpr double kDefaultRoundings = 16;

Scope scope_of(const ProblemSizes& problem) { return {problem.sizes, {}}; }

bool reads(Role role) { return role == Role::input || role == Role::inout; }
bool writes(Role role) { return role == Role::output || role == Role::inout; }

}  // namespace

base::Result<ProblemSizes> sizes_at(const Manifest& manifest, std::int64_t x, const DTypeDecl& dtype,
                                    const std::map<std::string, std::int64_t>& free) {
  ProblemSizes problem{x, &dtype, {{manifest.x_name, x}}};
  for (const SizeSymbol& symbol : manifest.symbols) {
    const auto given = free.find(symbol.name);
    HONE_TRY(value, given != free.end() && !symbol.derived ? base::Result<std::int64_t>(given->second)
                                                           : symbol.value.whole(scope_of(problem)));
    if (*value < (symbol.derived ? 0 : 1))
      return symbol.value.error(fmt::format("{} of at least {}", symbol.name, symbol.derived ? 0 : 1),
                                fmt::format("{} at {} = {}", *value, manifest.x_name, x),
                                "bound it from below with max(1, ...)");
    problem.sizes[symbol.name] = *value;
  }
  return problem;
}

base::Result<ProblemSizes> problem_at(const Manifest& manifest, std::int64_t x, const DTypeDecl& dtype,
                                      const std::map<std::string, std::int64_t>& free) {
  HONE_TRY(problem, sizes_at(manifest, x, dtype, free));
  if (!manifest.valid) return problem;
  HONE_TRY(valid, manifest.valid->whole(scope_of(*problem)));
  if (*valid == 0)
    return manifest.valid->error("a size that the kernel can run: " + manifest.valid->text(),
                                 fmt::format("{} = {}", manifest.x_name, x), "choose other --sizes");
  return problem;
}

namespace {

base::Result<std::int64_t> elements_of(const TensorDecl& tensor, const Scope& scope) {
  std::int64_t elements = 1;
  for (const Expression& extent : tensor.shape) {
    HONE_TRY(value, extent.whole(scope));
    if (*value < 0) return extent.error("an extent of at least 0", std::to_string(*value), "correct the shape");
    if (__builtin_mul_overflow(elements, *value, &elements) || elements > kMostElements)
      return extent.error(fmt::format("at most {} elements of '{}'", kMostElements, tensor.name), "more",
                          "choose smaller sizes");
  }
  return elements;
}

}  // namespace

base::Result<std::vector<kernels::TensorSpec>> tensors_of(const Manifest& manifest, const ProblemSizes& problem) {
  std::vector<kernels::TensorSpec> tensors;
  for (const TensorDecl& tensor : manifest.tensors) {
    const bool scratch_alone = std::all_of(manifest.passes.begin(), manifest.passes.end(), [&](const PassDecl& pass) {
      const auto role = pass.roles.find(tensor.name);
      return role == pass.roles.end() || role->second == Role::scratch;
    });
    if (scratch_alone) continue;
    HONE_TRY(elements, elements_of(tensor, scope_of(problem)));
    tensors.push_back(tensor_spec(tensor, problem, *elements));
  }
  return tensors;
}

kernels::TensorSpec tensor_spec(const TensorDecl& tensor, const ProblemSizes& problem, std::int64_t elements) {
  return {tensor.name, tensor.type.value_or(problem.dtype->type), 1, elements, elements};
}

kernels::PassSpec pass_spec(const Manifest& manifest, const PassDecl& pass) {
  kernels::PassSpec spec;
  const PassDecl* next = &pass != &manifest.passes.back() ? &manifest.passes.back() : nullptr;
  for (const auto& [tensor, role] : pass.roles) {
    if (reads(role)) spec.inputs.push_back(tensor);
    if (writes(role)) spec.outputs.push_back(tensor);
    if (role == Role::inout) spec.overwritten.push_back(tensor);
    if (role != Role::output || next == nullptr) continue;
    if (const auto later = next->roles.find(tensor); later != next->roles.end() && reads(later->second))
      spec.saved.push_back(tensor);
  }
  return spec;
}

base::Result<void> set_values(const TensorDecl& tensor, const ProblemSizes& problem, kernels::TensorSpec& spec) {
  HONE_TRY(first, tensor.values.first.real(scope_of(problem)));
  HONE_TRY(second, tensor.values.second.real(scope_of(problem)));
  spec.distribution = tensor.values.distribution;
  spec.offset = *first;
  if (spec.distribution == kernels::Distribution::zeros) return {};
  const bool is_normal = spec.distribution == kernels::Distribution::normal;
  spec.scale = is_normal ? *second : *second - *first;
  constexpr double kMostLabels = 0x1p53, kMostDeviations = 6;  // what the generator draws
  const double largest = is_normal ? std::abs(*first) + kMostDeviations * std::abs(*second)
                                   : std::max(std::abs(*first), std::abs(*second));
  if (const double most = measure::largest_finite(spec.dtype); largest > most)
    return tensor.values.second.error(fmt::format("values of '{}' of at most {:.3g}, the largest {}", tensor.name, most,
                                                  kernels::name_of(spec.dtype)),
                                      fmt::format("up to {:.3g}", largest), "choose smaller values");
  if (!is_normal && (!(spec.scale > 0) || spec.scale >= kMostLabels))
    return tensor.values.second.error("a range of '" + tensor.name + "' that is not empty",
                                      fmt::format("{} to {}", *first, *second), "correct the bounds");
  return {};
}

base::Result<double> tolerance_of(const ProblemSizes& problem, const TensorDecl& tensor) {
  Scope scope = scope_of(problem);
  const double eps = measure::unit_roundoff(tensor.type.value_or(problem.dtype->type));
  scope.real["eps"] = eps;
  if (!tensor.tolerance) return kDefaultRoundings * eps;
  HONE_TRY(factor, tensor.tolerance->real(scope));
  if (!(*factor >= 0) || *factor > 1)
    return tensor.tolerance->error("a tolerance from 0 to 1, relative to the values", fmt::format("{}", *factor),
                                   "count roundings, such as \"4 * eps\"");
  return *factor;
}

base::Result<kernels::Traffic> traffic_of(const Manifest& manifest, const ProblemSizes& problem, const PassDecl& pass) {
  HONE_TRY(tensors, tensors_of(manifest, problem));
  kernels::Traffic traffic;
  for (const kernels::TensorSpec& tensor : *tensors) {
    const auto role = pass.roles.find(tensor.name);
    if (role == pass.roles.end()) continue;
    if (reads(role->second)) traffic.bytes_read += static_cast<double>(tensor.bytes());
    if (writes(role->second)) traffic.bytes_written += static_cast<double>(tensor.bytes());
  }
  Scope scope = scope_of(problem);
  scope.whole["dtype_bytes"] = static_cast<std::int64_t>(kernels::size_of(problem.dtype->type));
  for (const auto& [stated, value] : {std::pair{&pass.bytes_read, &traffic.bytes_read},
                                      {&pass.bytes_written, &traffic.bytes_written},
                                      {&pass.flops, &traffic.flops},
                                      {&pass.matrix_flops, &traffic.matrix_flops}}) {
    if (!*stated) continue;
    HONE_TRY(given, (*stated)->real(scope));
    if (*given < 0) return (*stated)->error("a count of at least 0", fmt::format("{}", *given), "correct it");
    *value = *given;
  }
  if (traffic.matrix_flops > traffic.flops) traffic.flops = traffic.matrix_flops;
  return traffic;
}

namespace {

// The next combination, the last knob fastest; false after the last one.
bool advance(std::vector<std::size_t>& digits, const std::vector<const KnobDecl*>& knobs) {
  for (std::size_t i = digits.size(); i-- > 0;) {
    if (++digits[i] < knobs[i]->values.size()) return true;
    digits[i] = 0;
  }
  return false;
}

}  // namespace

model::Settings current_settings(const Manifest& manifest, const std::string& pass) {
  model::Settings settings;
  for (const KnobDecl* knob : manifest.knobs_of(pass)) settings[knob->name] = knob->current.at(pass);
  return settings;
}

std::vector<model::Settings> valid_settings(const Manifest& manifest, const ProblemSizes& problem,
                                            const PassDecl& pass) {
  std::vector<model::Settings> all;
  const model::Settings current = current_settings(manifest, pass.name);
  if (plan_of(manifest, problem, pass, current)) all.push_back(current);
  const std::vector<const KnobDecl*> knobs = manifest.knobs_of(pass.name);
  std::vector<std::size_t> digits(knobs.size(), 0);
  do {
    model::Settings settings;
    for (std::size_t i = 0; i < knobs.size(); ++i) settings[knobs[i]->name] = knobs[i]->values[digits[i]];
    if (settings != current && plan_of(manifest, problem, pass, settings)) all.push_back(std::move(settings));
  } while (advance(digits, knobs));
  return all;
}

}  // namespace hone::repository::manifest
