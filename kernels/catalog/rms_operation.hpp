// What the operations that end in RMSNorm (Zhang and Sennrich 2019, arXiv:1910.07467) have in common: casting modes, the weight
// and its offset, bounds.
#pragma once

#include "kernels/catalog/row_operation.hpp"

namespace kernels {

class RmsOperation : public RowOperation {
 public:
  // `normalized`: the matrix that is normalized. One that the operation computes itself is rounded before.
  RmsOperation(std::string normalized, bool is_computed)
      : normalized_(std::move(normalized)), is_computed_(is_computed) {}

  int tier() const override { return 2; }
  std::string tier_reason() const override {
    return "each row is reduced (mean of squares forward, a dot product backward) before any of it can be written";
  }
  std::vector<OptionSpec> options() const override;
  double tolerance(Pass pass, const std::string& tensor, const Problem& problem) const override;
  double value_scale(Pass pass, const std::string& tensor, const Problem& problem, const Values& inputs,
                     const Values& results) const override;
  std::vector<double> term_sizes(Pass pass, const std::string& tensor, const Problem& problem,
                                 const Values& inputs) const override;

 protected:
  // The option that the operation has besides the common ones, a flag.
  virtual OptionSpec own_option() const = 0;
  virtual bool has_weight(const Problem&) const { return true; }

  static TensorSpec rstd_tensor(const Problem& problem) { return row_scalars("rstd", problem, rstd_dtype(problem)); }
  static TensorSpec weight_tensor(const Problem& problem);
  static std::string casting(const Problem& problem) { return problem.options.at("casting_mode"); }
  static float eps(const Problem& problem) { return float(number_option(problem, "eps")); }
  static float offset(const Problem& problem) { return float(number_option(problem, "offset")); }

  // The mean of squares of `values` and rstd; the weight with its offset, as the name of a vector; the gradient of the terms'
  // sums that reach the mean of squares, times `factor`, as the name of a vector.
  static void add_eager_rstd(EagerPlan& plan, const Operand& values);
  static std::string add_eager_scale(EagerPlan& plan);
  static std::string add_eager_mean_gradient(EagerPlan& plan, const Operand& terms, float factor);

  Defines option_defines(const Problem& problem) const override;
  std::string check_values(const Problem& problem) const override;
  DType eager_dtype(const Problem& problem) const override { return rstd_dtype(problem); }

 private:
  // "none" keeps every intermediate value in the problem's type, rstd included.
  static DType rstd_dtype(const Problem& problem) { return casting(problem) == "none" ? problem.dtype : DType::fp32; }

  std::string normalized_;
  bool is_computed_;
};

}  // namespace kernels
