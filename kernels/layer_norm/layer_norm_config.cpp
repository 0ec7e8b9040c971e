// See layer_norm_config.hpp.
#include "kernels/layer_norm/layer_norm_config.hpp"

namespace kernels::layer_norm {

RowSpace space(Pass pass) {
  RowSpace space;
  space.reads_rows_twice = true;
  space.sums_then_maps = pass == Pass::forward;
  space.rows_share = true;
  space.streamed_operands = 1;
  if (pass == Pass::backward) {
    space.streamed_operands = 2;
    // Two operands, a weight, three results and two accumulators for each vector.
    space.unrolls = {1, 2};
    space.most_vectors = 4;
    space.has_programs_per_thread = true;
  }
  space.shared_rows = 2;
  space.registers = pass == Pass::forward ? 20 : 36;
  space.registers_per_vector = pass == Pass::forward ? 26 : 42;
  return space;
}

RowSpace space(Pass pass, const Problem& problem) {
  RowSpace result = space(pass);
  // 88 % of the copy against 81; in 16 bits, where the second sum takes longer, 78 against 81.
  result.sums_beside_pay = pass == Pass::forward && problem.dtype == DType::fp32;
  result.output_bytes = double(problem.rows) * double(problem.columns) * size_of(problem.dtype);
  return result;
}

}  // namespace kernels::layer_norm
