// See swiglu_config.hpp.
#include "kernels/swiglu/swiglu_config.hpp"

#include "kernels/catalog/row_problem.hpp"

namespace kernels::swiglu {

RowSpace space(Pass pass) {
  RowSpace space;
  space.block_rows = {1, 2};  // rows share nothing: two of them are two more streams, no reuse
  space.most_vectors = 4;     // the polynomial of the exponential takes a dozen registers beside each vector in flight
  const bool forward = pass == Pass::forward;
  space.streamed_operands = forward ? 2 : 3;
  space.registers = forward ? 16 : 24;
  space.registers_per_vector = forward ? 12 : 17;
  return space;
}

RowSpace space(Pass pass, const Problem& problem) {
  RowSpace result = space(pass);
  const double matrix = double(problem.rows) * double(problem.columns) * size_of(problem.dtype);
  result.output_bytes = pass == Pass::forward ? matrix : 2 * matrix;
  result.in_place = pass == Pass::backward && flag_option(problem, "in_place");
  return result;
}

}  // namespace kernels::swiglu
