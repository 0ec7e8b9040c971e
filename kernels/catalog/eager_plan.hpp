// Builds the plan of an eager provider: launches of primitive operations (kernels/tile/eager.hpp) one after the other.
#pragma once

#include <string>
#include <vector>

#include "kernels/catalog/row_plan.hpp"

namespace kernels {

class EagerPlan : public RowPlan {
 public:
  // `compute`: the type of the temporaries.
  EagerPlan(const std::string& main_file, Pass pass, const Problem& problem, DType compute, const Target& target);

  // A new temporary of the problem's rows x columns; a new temporary vector: of the temporaries' type, unless another is given.
  Operand temporary(const std::string& name, std::optional<DType> dtype = {});
  Operand vector(const std::string& name, std::int64_t length, std::optional<DType> dtype = {});

  // One operation over one row of `length` elements.
  void over_vector(const std::string& entry, const std::vector<Operand>& vectors, std::int64_t length,
                   const std::vector<float>& numbers = {});
  // output[row] = factor * the sum of the matrix's row.
  void row_reduction(const std::string& entry, const std::string& output, const Operand& matrix, float factor);
  // output[column] = the sum over the rows of a matrix, through one partial sum for each core.
  void column_sum(const std::string& output, const Operand& matrix,
                  const std::string& partial_entry = "eager_partial_column_sum");

 private:
  DType compute_;
};

}  // namespace kernels
