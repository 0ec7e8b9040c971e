// A manifest at one size as the engine's problem.
#pragma once

#include <string>
#include <vector>

#include "repository/launch/operation.hpp"
#include "repository/manifest/reference.hpp"

namespace hone::repository::manifest {

std::vector<std::string> pass_names(const Manifest& manifest);

class ManifestProblem final : public launch::Problem {
 public:
  // Both outlive the problem.
  ManifestProblem(const Manifest& manifest, Reference& reference, ProblemSizes problem)
      : manifest_(manifest), reference_(reference), problem_(std::move(problem)) {}

  const ProblemSizes& evaluated() const { return problem_; }
  std::int64_t x() const override { return problem_.x; }
  kernels::DType dtype() const override { return problem_.dtype->type; }
  std::string shape() const override;
  std::string label() const override { return shape(); }

  base::Result<std::vector<kernels::TensorSpec>> tensors() const override;
  kernels::PassSpec pass(const std::string& pass) const override { return pass_spec(manifest_, of(pass)); }
  base::Result<kernels::Traffic> traffic(const std::string& pass) const override {
    return traffic_of(manifest_, problem_, of(pass));
  }
  // There are no ablations of a text that hone did not write.
  base::Result<kernels::Plan> plan(const std::string& pass, const model::Settings& settings,
                                   kernels::Ablation) const override {
    return plan_of(manifest_, problem_, of(pass), settings);
  }
  base::Result<kernels::Plan> provider_plan(const std::string& provider, const std::string& pass) const override;
  // The manifest's values; where they are not valid, the first that are.
  base::Result<model::Settings> shipped(const std::string& pass) const override;
  std::vector<model::Settings> valid_settings(const std::string& pass) const override {
    return manifest::valid_settings(manifest_, problem_, of(pass));
  }
  bool has_reference(const std::string& pass) const override { return of(pass).reference.has_value(); }
  base::Result<void> reference(const std::string& pass, kernels::Values& values) const override {
    return reference_.run(problem_, of(pass), values);
  }
  base::Result<launch::Tolerance> tolerance(const std::string& pass, const std::string& tensor,
                                            const kernels::Values& before,
                                            const kernels::Values& reference) const override;

 private:
  const PassDecl& of(const std::string& pass) const { return *manifest_.find_pass(pass); }

  const Manifest& manifest_;
  Reference& reference_;
  ProblemSizes problem_;
};

}  // namespace hone::repository::manifest
