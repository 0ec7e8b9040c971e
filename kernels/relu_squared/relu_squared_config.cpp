// See relu_squared_config.hpp.
#include "kernels/relu_squared/relu_squared_config.hpp"

#include "kernels/catalog/row_problem.hpp"

namespace kernels::relu_squared {

RowSpace space(Pass pass) {
  RowSpace space;
  space.block_rows = {1, 2};  // rows share nothing: two of them are two more streams, no reuse
  const bool forward = pass == Pass::forward;
  space.streamed_operands = forward ? 1 : 2;
  space.registers = 16;
  space.registers_per_vector = forward ? 8 : 12;
  return space;
}

RowSpace space(Pass pass, const Problem& problem) {
  RowSpace result = space(pass);
  result.output_bytes = double(problem.rows) * double(problem.columns) * size_of(problem.dtype);
  result.in_place = pass == Pass::backward && flag_option(problem, "in_place");
  return result;
}

}  // namespace kernels::relu_squared
