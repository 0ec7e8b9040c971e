// See rms_norm_config.hpp.
#include "kernels/rms_norm/rms_norm_config.hpp"

#include "kernels/catalog/row_problem.hpp"

namespace kernels::rms_norm {

RowSpace space(Pass pass) {
  RowSpace space;
  space.reads_rows_twice = true;
  space.sums_then_maps = pass == Pass::forward;  // backward was not faster so: two operands are read twice
  space.shared_rows = 1;
  space.streamed_operands = 1;
  space.registers = 16;
  space.registers_per_vector = 12;
  if (pass == Pass::backward) {
    // Two operands, a weight, two results and an accumulator for each vector.
    space.unrolls = {1, 2};
    space.most_vectors = 4;
    space.has_programs_per_thread = true;
    space.streamed_operands = 2;
    space.registers = 36;
    space.registers_per_vector = 36;
  }
  return space;
}

RowSpace space(Pass pass, const Problem& problem) {
  RowSpace result = space(pass);
  result.rows_share = flag_option(problem, "weight");
  result.output_bytes = double(problem.rows) * double(problem.columns) * size_of(problem.dtype);
  result.sums_beside_pay = pass == Pass::forward;
  result.in_place = pass == Pass::backward && flag_option(problem, "in_place");
  return result;
}

}  // namespace kernels::rms_norm
