// See geglu_config.hpp.
#include "kernels/geglu/geglu_config.hpp"

#include "kernels/catalog/row_problem.hpp"

namespace kernels::geglu {

RowSpace space(Pass pass) {
  RowSpace space;
  space.block_rows = {1, 2};  // rows share nothing: two of them are two more streams, no reuse
  space.most_vectors = 4;     // the exponential takes a dozen registers beside each vector in flight
  space.streamed_operands = pass == Pass::forward ? 2 : 3;
  space.registers = pass == Pass::forward ? 16 : 24;
  space.registers_per_vector = pass == Pass::forward ? 14 : 19;
  return space;
}

RowSpace space(Pass pass, const Problem& problem) {
  RowSpace result = space(pass);
  const double matrix = double(problem.rows) * double(problem.columns) * size_of(problem.dtype);
  result.output_bytes = pass == Pass::forward ? matrix : 2 * matrix;
  result.in_place = pass == Pass::backward && flag_option(problem, "in_place");
  return result;
}

}  // namespace kernels::geglu
