// Builds the plan of an eager provider: launches of primitive operations (kernels/tile/eager.hpp) one after the other.
#pragma once

#include <string>
#include <vector>

#include "kernels/catalog/row_problem.hpp"

namespace kernels {

// An operand that is a matrix: its name and the distance of its rows.
struct Operand {
  std::string name;
  std::int64_t stride = 0;
};

class EagerPlan {
 public:
  // `compute`: the type of the temporaries.
  EagerPlan(const std::string& main_file, Pass pass, const Problem& problem, DType compute, const Target& target);

  // An operand of the problem's rows x columns; a new temporary of that size; a new temporary vector of fp32 or another type.
  Operand matrix(const std::string& name) const;
  Operand temporary(const std::string& name, DType dtype);
  Operand vector(const std::string& name, DType dtype, std::int64_t length);
  Operand whole_vector(const std::string& name, std::int64_t length) const { return {name, length}; }

  // One operation over the problem's rows: the entry's matrices, then its vectors (by name), then rows, rows of a program,
  // columns, then its numbers.
  void over_rows(const std::string& entry, const std::vector<Operand>& matrices,
                 const std::vector<std::string>& vectors = {}, const std::vector<float>& numbers = {});
  // The same over one row of `length` elements.
  void over_vector(const std::string& entry, const std::vector<Operand>& vectors, std::int64_t length,
                   const std::vector<float>& numbers = {});
  // output[row] = factor * the sum of the matrix's row.
  void row_reduction(const std::string& entry, const std::string& output, const Operand& matrix, float factor);
  void launch(const std::string& entry, std::int64_t programs, std::vector<Argument> arguments);
  // output[column] = the sum over the rows of a matrix, through one partial sum for each core.
  void column_sum(const std::string& output, const Operand& matrix,
                  const std::string& partial_entry = "eager_partial_column_sum");

  void define(const std::string& name, const std::string& value) { plan_.defines.emplace_back(name, value); }
  // The settings of row launches; threads of a launch.
  const RowConfig& config() const { return config_; }
  int threads() const { return config_.is_cuda() ? config_.num_threads : 0; }
  // The plan so far, for launches and scratch that this class has no words for.
  Plan& raw() { return plan_; }
  Plan take() { return std::move(plan_); }

 private:
  Problem problem_;
  RowConfig config_, accumulating_;  // the second of a CPU's sums over rows
  Plan plan_;
};

}  // namespace kernels
