// The loss of one row of logits and its gradient in double precision: what the references of cross_entropy and
// fused_linear_cross_entropy share.
#pragma once

#include <string>
#include <vector>

#include "kernels/catalog/operation.hpp"

namespace kernels::cross_entropy {

struct LossOptions {
  double ignore_index = -100, smoothing = 0, lse_square_scale = 0, softcap = 0;
  bool mean = true, weighted = false, token_scaling = false;
};
LossOptions loss_options(const Problem& problem);

struct LossTotals {
  double rows = 0, weights_of_labels = 0;  // of the rows that are not ignored
};
LossTotals loss_totals(const LossOptions& options, const std::vector<double>& target,
                       const std::vector<double>* weights);

struct LossRows {
  std::vector<double> loss, z_loss, hit, prediction;
};
// Appends one row's results and writes its gradient (columns values) where that is wanted.
void loss_row(const LossOptions& options, const LossTotals& totals, const double* logits, std::int64_t columns,
              double label, const std::vector<double>* weights, double* gradient, LossRows& results);

// Row results as the problem's outputs: summed up unless there is no reduction.
void put_losses(const Problem& problem, const LossTotals& totals, const LossRows& results, Values& values);

}  // namespace kernels::cross_entropy
