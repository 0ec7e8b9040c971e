// See dyt_config.hpp.
#include "kernels/dyt/dyt_config.hpp"

namespace kernels::dyt {

RowSpace space(Pass pass) {
  RowSpace space;
  space.rows_share = true;
  space.most_vectors = 4;  // the exponential in tanh takes a dozen registers beside each vector in flight
  space.streamed_operands = 1;
  if (pass == Pass::backward) {
    space.streamed_operands = 2;
    space.unrolls = {1, 2};
    space.has_programs_per_thread = true;
  }
  space.shared_rows = 2;
  space.registers = pass == Pass::forward ? 20 : 36;
  space.registers_per_vector = pass == Pass::forward ? 20 : 44;
  return space;
}

RowSpace space(Pass pass, const Problem& problem) {
  RowSpace result = space(pass);
  result.output_bytes = double(problem.rows) * double(problem.columns) * size_of(problem.dtype);
  return result;
}

}  // namespace kernels::dyt
