// See softmax_config.hpp.
#include "kernels/softmax/softmax_config.hpp"

namespace kernels::softmax {

RowSpace space(Pass pass) {
  RowSpace space;
  space.reads_rows_twice = true;
  space.block_rows = {1, 2};  // rows share nothing: two of them are two more streams, no reuse
  space.streamed_operands = pass == Pass::forward ? 1 : 2;
  if (pass == Pass::forward)
    space.most_vectors = 4;  // the exponential takes a dozen registers beside a vector in flight
  space.registers = 16;
  space.registers_per_vector = pass == Pass::forward ? 12 : 14;
  return space;
}

RowSpace space(Pass pass, const Problem& problem) {
  RowSpace result = space(pass);
  result.output_bytes = double(problem.rows) * double(problem.columns) * size_of(problem.dtype);
  return result;
}

}  // namespace kernels::softmax
