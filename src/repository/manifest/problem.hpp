// A manifest at one size and element type: every expression evaluated. What is launched, on what, and what it must move.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "kernels/catalog/plan.hpp"
#include "model/profile.hpp"
#include "repository/manifest/manifest.hpp"

namespace hone::repository::manifest {

struct ProblemSizes {
  std::int64_t x = 0;
  const DTypeDecl* dtype = nullptr;
  std::map<std::string, std::int64_t> sizes;  // x and every symbol
};

// `free`: values of free sizes in place of the manifest's own. Errors: an expression that has no value there, and a size below 1.
base::Result<ProblemSizes> sizes_at(const Manifest& manifest, std::int64_t x, const DTypeDecl& dtype,
                                    const std::map<std::string, std::int64_t>& free = {});
// The same; also an error (kind usage): a problem that 'valid' of the manifest excludes.
base::Result<ProblemSizes> problem_at(const Manifest& manifest, std::int64_t x, const DTypeDecl& dtype,
                                      const std::map<std::string, std::int64_t>& free = {});

// A user's tensor lies without gaps: one row of all its elements.
kernels::TensorSpec tensor_spec(const TensorDecl& tensor, const ProblemSizes& problem, std::int64_t elements);

// The tensors of a problem but scratch, in the order of the manifest.
base::Result<std::vector<kernels::TensorSpec>> tensors_of(const Manifest& manifest, const ProblemSizes& problem);
// Gives a tensor the distribution of its values; an error for a range that is empty there.
base::Result<void> set_values(const TensorDecl& tensor, const ProblemSizes& problem, kernels::TensorSpec& spec);
// Who touches what in a pass. Forward saves what it makes and backward reads.
kernels::PassSpec pass_spec(const Manifest& manifest, const PassDecl& pass);

// The largest difference of an element from its reference is factor * (|reference| + the root mean square of the tensor).
base::Result<double> tolerance_of(const ProblemSizes& problem, const TensorDecl& tensor);

// What a launch of a plan is called in the program: for a C++ kernel the function that hone writes around its entry.
std::string entry_of(const Manifest& manifest, const std::string& entry, std::size_t launch);
// Errors (kind gate): settings that a constraint excludes, an empty grid, more threads than a block may have.
base::Result<kernels::Plan> plan_of(const Manifest& manifest, const ProblemSizes& problem, const PassDecl& pass,
                                    const model::Settings& settings);
// The arguments of a reference: tensors by name, numbers as they are.
base::Result<std::vector<kernels::Argument>> arguments_of(const Manifest& manifest, const ProblemSizes& problem,
                                                          const std::vector<ArgumentDecl>& arguments,
                                                          const model::Settings& settings);

// The knobs' values in force by the manifest.
model::Settings current_settings(const Manifest& manifest, const std::string& pass);
// Every valid combination of the pass's knobs; the manifest's own first where it is valid.
std::vector<model::Settings> valid_settings(const Manifest& manifest, const ProblemSizes& problem,
                                            const PassDecl& pass);
// The most combinations that the knobs of one pass may have.
inline constexpr std::int64_t kMostCombinations = 20'000;

// As the manifest says; where it does not: each input read once and each output written once, no arithmetic.
base::Result<kernels::Traffic> traffic_of(const Manifest& manifest, const ProblemSizes& problem, const PassDecl& pass);

}  // namespace hone::repository::manifest
