// What cross_entropy and fused_linear_cross_entropy share on the host: options, tensors, launches, bounds.
#pragma once

#include <string>
#include <vector>

#include "kernels/catalog/eager_plan.hpp"
#include "kernels/catalog/row_problem.hpp"
#include "kernels/cross_entropy/cross_entropy_arguments.hpp"

namespace kernels::cross_entropy {

// `class_weight`: what the option and the tensor of class weights are called: "weight", or "ce_weight" where a weight is
// something else already.
std::vector<OptionSpec> loss_option_specs(const std::string& class_weight = "weight");
std::string class_weight_name(const Problem& problem);
// What is wrong with their values beyond each one's own range.
std::string check_loss_options(const Problem& problem);
Defines loss_defines(const Problem& problem);

// Labels, class weights, and the losses that the options ask for; `dloss` is what backward is given.
std::vector<TensorSpec> loss_tensors(const Problem& problem);
// Inputs and outputs among them.
std::vector<std::string> loss_inputs(const Problem& problem);
std::vector<std::string> loss_outputs(const Problem& problem);

// Scratch of a forward pass: totals, and values of each row where they are reduced. Argument names: of row values, the output
// itself without a reduction.
void add_loss_scratch(const Problem& problem, Plan& plan);
std::string row_values(const Problem& problem, const std::string& output);
// The launch that counts, where something needs its totals; the launches that reduce row values.
bool needs_totals(const Problem& problem);
void add_count(const std::string& entry, const Problem& problem, int threads, Plan& plan);
void add_reductions(const std::string& entry, const Problem& problem, int threads, Plan& plan);
// What makes the losses of the rows from `first` on.
using LossGiven = ::cross_entropy::LossArguments<Given, void>;
LossGiven loss_arguments(const Problem& problem, std::int64_t first = 0);

// Loss and gradient of rows of logits: `logits` of fp32 or of the problem's type is read and the gradient written to
// `gradient` of the problem's type, which may be the same matrix. For operations whose plans have logits of their own.
// `reductions`: whether rows' losses are reduced to the outputs; `has_gradient`: whether there is a gradient.
struct EagerParts {
  bool reductions = true, has_gradient = true;
};
void add_eager_forward(EagerPlan& plan, const Problem& problem, const Operand& logits, const Operand& gradient,
                       const EagerParts& parts = {});

// Operations for each logit, an exponential counted as one: forward a comparison, a difference, exp, a sum, and for the gradient
// a difference, exp, the product and the comparison with the label; a tanh in each of the two readings and three operations of its
// derivative where there is a softcap; two for the smoothing's sum and one for its gradient. Backward: one product.
double operations(Pass pass, const Problem& problem);

// Bounds of the losses, in units of their value_scale.
double loss_tolerance(const std::string& tensor, const Problem& problem);
// What a loss is added up from: |lse - x| is about |lse|, whatever is left of it.
double loss_scale(const std::string& tensor, const Problem& problem, const Values& results, double logit_size);

}  // namespace kernels::cross_entropy
