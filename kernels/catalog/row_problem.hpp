// What kernels over the rows of a matrix share: tensors, sizes of the baseline tables, options, tolerances.
#pragma once

#include <string>
#include <vector>

#include "kernels/catalog/operation.hpp"

namespace kernels {

// A rows x columns matrix of the problem's dtype, with its row padding.
TensorSpec row_matrix(const std::string& name, const Problem& problem);
std::vector<TensorSpec> row_matrices(const std::vector<std::string>& names, const Problem& problem);
// columns values that all rows share.
TensorSpec row_vector(const std::string& name, const Problem& problem);
// One value for each row.
TensorSpec row_scalars(const std::string& name, const Problem& problem, DType dtype);
std::int64_t row_stride(const Problem& problem);
float column_share(const Problem& problem);  // what a row's sum is multiplied by to give its mean: 0 of no columns

// hidden sizes of models in use, each several times the usual last-level cache with row_count's rows.
std::vector<std::int64_t> hidden_sizes();
// CPU: a matrix holds 32 to 128 MiB at the hidden sizes, so that the caches hold no part worth mentioning and a pass takes
// tens of milliseconds; more on a machine with a larger last-level cache. CUDA: 16384, a batch of training.
std::int64_t row_count(const Target& target, DType dtype);

// Empty when sizes are not negative and the matrix's bytes fit in 63 bits.
std::string check_sizes(const Problem& problem);

double number_option(const Problem& problem, const std::string& name);
bool flag_option(const Problem& problem, const std::string& name);
bool in_place(const Problem& problem);              // the option of that name, where there is one
std::string dx_name(const Problem& problem);        // the gradient of the input, which in place overwrites dy
std::string flag(bool set);                         // the value of a define: "1" or "0"
std::string rounding_note(const Problem& problem);  // of what is computed in fp32

// The traffic of a pass whose inputs are all read once and whose outputs are all written once.
Traffic tensor_traffic(const Operation& operation, Pass pass, const Problem& problem, double flops);

// Half the distance between 1 and the next value: 2^-24, 2^-11, 2^-8.
double unit_roundoff(DType dtype);
// The smallest normal number: values below it are rounded to steps of its unit_roundoff, whatever their size.
double smallest_normal(DType dtype);
// What the roundings of a sum's terms leave in it, in units of one rounding, for each column of a rows x columns matrix of terms:
// the sum of their sizes, which no rounding exceeds, or six standard deviations of independent ones (0.42 units each, the mean
// over a binade), whichever is less.
std::vector<double> rounded_terms(const std::vector<double>& terms, std::int64_t columns);
// Error of an fp32 sum of n terms relative to its terms' scale: four standard deviations of the random walk of the
// roundings along the longest chain of additions. A CPU's vectors have at least 4 lanes, chains end after 1024 additions.
double sum_error(std::int64_t terms);

}  // namespace kernels
