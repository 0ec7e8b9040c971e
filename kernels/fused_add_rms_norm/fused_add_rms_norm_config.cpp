// See fused_add_rms_norm_config.hpp.
#include "kernels/fused_add_rms_norm/fused_add_rms_norm_config.hpp"

#include "kernels/catalog/row_problem.hpp"

namespace kernels::fused_add_rms_norm {

RowSpace space(Pass pass) {
  RowSpace space;
  space.reads_rows_twice = true;
  space.sums_then_maps = pass == Pass::forward;
  space.rows_share = true;
  space.unrolls = {1, 2};
  space.most_vectors = 4;       // two or three operands, a weight and two results for each vector
  space.streamed_operands = 2;  // ds is loaded third, where it exists
  if (pass == Pass::forward) {
    space.unrolls = {1, 2, 4};
  } else {
    space.has_programs_per_thread = true;
  }
  space.shared_rows = 1;
  space.registers = pass == Pass::forward ? 16 : 36;
  space.registers_per_vector = pass == Pass::forward ? 18 : 38;
  return space;
}

RowSpace space(Pass pass, const Problem& problem) {
  RowSpace result = space(pass);
  const double matrix = double(problem.rows) * double(problem.columns) * size_of(problem.dtype);
  result.output_bytes = pass == Pass::forward ? 2 * matrix : matrix;
  result.in_place = pass == Pass::backward && flag_option(problem, "in_place");
  return result;
}

}  // namespace kernels::fused_add_rms_norm
