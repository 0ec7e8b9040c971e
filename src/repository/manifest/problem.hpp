// A manifest at one size and element type: every expression evaluated. What is launched, on what, and what it must move.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "measure/inputs.hpp"
#include "model/profile.hpp"
#include "repository/manifest/manifest.hpp"

namespace hone::repository::manifest {

struct Problem {
  std::int64_t x = 0;
  const DTypeDecl* dtype = nullptr;
  std::map<std::string, std::int64_t> sizes;  // x and every symbol
};

// `free`: values of free sizes in place of the manifest's own. Errors: an expression that has no value there, a size below 1, and
// a problem that 'valid' of the manifest excludes (kind usage).
base::Result<Problem> problem_at(const Manifest& manifest, std::int64_t x, const DTypeDecl& dtype,
                                 const std::map<std::string, std::int64_t>& free = {});

struct Tensor {
  std::string name;
  measure::DType type = measure::DType::fp32;
  std::int64_t elements = 0;
  std::size_t bytes() const { return static_cast<std::size_t>(elements) * measure::size_of(type); }
};

// The tensors of a problem but scratch, in the order of the manifest.
base::Result<std::vector<Tensor>> tensors_of(const Manifest& manifest, const Problem& problem);
// The values of a tensor that a pass reads and none writes.
base::Result<measure::InputSpec> input_of(const Manifest& manifest, const Problem& problem, const TensorDecl& tensor,
                                          std::uint64_t seed);
// True where hone fills it before forward; the others are what a pass makes.
bool is_given(const Manifest& manifest, const std::string& tensor);
// Tensors that the pass overwrites although it reads them.
std::vector<std::string> overwritten_in(const PassDecl& pass);

// The largest difference of an element from its reference is factor * (|reference| + the root mean square of the tensor).
base::Result<double> tolerance_of(const Manifest& manifest, const Problem& problem, const TensorDecl& tensor);

using PlannedArgument = std::variant<std::string, std::int32_t, std::int64_t, float>;  // the text: a tensor's name

struct PlannedLaunch {
  std::string entry;
  std::array<std::int64_t, 3> grid = {1, 1, 1};
  std::array<int, 3> block = {1, 1, 1};  // of a C++ kernel: its first number is the threads to work on, 0 = all
  std::int64_t shared_bytes = 0;
  std::vector<PlannedArgument> arguments;
};

struct Plan {
  std::string pass;
  std::vector<std::pair<std::string, std::string>> defines;  // settings, element type, the manifest's own
  std::vector<Tensor> scratch;
  std::vector<PlannedLaunch> launches;
};

// Errors (kind gate): settings that a constraint excludes, an empty grid, more threads than a block may have.
base::Result<Plan> plan_of(const Manifest& manifest, const Problem& problem, const PassDecl& pass,
                           const model::Settings& settings);
// Of what is launched apart from machine code.
std::string launch_hash(const Plan& plan);

// The arguments of a reference: tensors by name, numbers as they are.
base::Result<std::vector<PlannedArgument>> arguments_of(const Manifest& manifest, const Problem& problem,
                                                        const std::vector<ArgumentDecl>& arguments,
                                                        const model::Settings& settings);

// The knobs' values in force by the manifest.
model::Settings current_settings(const Manifest& manifest, const std::string& pass);
// Every valid combination of the pass's knobs; the manifest's own first where it is valid.
std::vector<model::Settings> valid_settings(const Manifest& manifest, const Problem& problem, const PassDecl& pass);
// The most combinations that the knobs of one pass may have.
inline constexpr std::int64_t kMostCombinations = 20'000;

struct PassTraffic {
  double bytes_read = 0, bytes_written = 0, flops = 0, matrix_flops = 0;
};
// As the manifest says; where it does not: each input read once and each output written once, no arithmetic.
base::Result<PassTraffic> traffic_of(const Manifest& manifest, const Problem& problem, const PassDecl& pass);

}  // namespace hone::repository::manifest
