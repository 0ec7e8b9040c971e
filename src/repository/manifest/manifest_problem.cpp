#include "repository/manifest/manifest_problem.hpp"

#include <algorithm>
#include <cmath>

#include "repository/launch/resident_tensors.hpp"
#include "repository/manifest/verification_cases.hpp"

namespace hone::repository::manifest {

std::vector<std::string> pass_names(const Manifest& manifest) {
  std::vector<std::string> names;
  for (const PassDecl& pass : manifest.passes) names.push_back(pass.name);
  return names;
}

std::string ManifestProblem::shape() const { return label_of(manifest_, problem_); }

base::Result<std::vector<kernels::TensorSpec>> ManifestProblem::tensors() const {
  auto tensors = tensors_of(manifest_, problem_);
  if (!tensors) return tensors;
  for (kernels::TensorSpec& tensor : *tensors)
    if (launch::is_given(*this, pass_names(manifest_), tensor.name))
      HONE_PROPAGATE(set_values(*manifest_.find_tensor(tensor.name), problem_, tensor));
  return tensors;
}

base::Result<kernels::Plan> ManifestProblem::provider_plan(const std::string& provider, const std::string&) const {
  return base::Error{base::ErrorKind::usage, "a provider of a manifest's kernel: it has none", "'" + provider + "'",
                     "provider", "leave it out"};
}

base::Result<model::Settings> ManifestProblem::shipped(const std::string& pass) const {
  const model::Settings current = current_settings(manifest_, pass);
  const auto fits = plan_of(manifest_, problem_, of(pass), current);
  if (fits) return current;
  const std::vector<model::Settings> all = manifest::valid_settings(manifest_, problem_, of(pass));
  return all.empty() ? base::Result<model::Settings>(fits.error()) : all.front();
}

base::Result<launch::Tolerance> ManifestProblem::tolerance(const std::string& pass, const std::string& tensor,
                                                           const kernels::Values&,
                                                           const kernels::Values& reference) const {
  const TensorDecl& declared = *manifest_.find_tensor(tensor);
  const std::vector<double>& values = reference.at(tensor);
  HONE_TRY(factor, tolerance_of(problem_, declared));
  if (!values.empty() && std::none_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); }))
    return base::Error{base::ErrorKind::usage, "a finite element of '" + tensor + "' to compare with, at " + shape(),
                       has_reference(pass) ? "none in what the reference computes" : "none in what the kernel computes",
                       at(manifest_.path, declared.place),
                       "choose other 'values' of the inputs, or correct the reference"};
  return launch::Tolerance{{*factor, measure::root_mean_square(values), {}}, declared.tolerance.has_value()};
}

}  // namespace hone::repository::manifest
