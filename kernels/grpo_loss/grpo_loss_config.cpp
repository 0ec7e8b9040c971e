// See grpo_loss_config.hpp.
#include "kernels/grpo_loss/grpo_loss_config.hpp"

#include "kernels/catalog/row_problem.hpp"

namespace kernels::grpo_loss {

RowSpace space(Pass) {
  RowSpace space;
  space.block_rows = {1, 2};  // rows share nothing: two of them are two more streams
  space.most_vectors = 4;     // the exponential takes a dozen registers beside each vector in flight
  // CUDA: no bulk copies, because rows that are left out are not read; one vector's logits beside its exponentials.
  space.registers = 32;
  space.registers_per_vector = 20;
  return space;
}

RowSpace space(Pass pass, const Problem& problem) {
  RowSpace result = space(pass);
  result.output_bytes =
      pass == Pass::forward ? 0 : double(problem.rows) * double(problem.columns) * size_of(problem.dtype);
  result.in_place = pass == Pass::forward || flag_option(problem, "in_place");
  return result;
}

}  // namespace kernels::grpo_loss
