// See cross_entropy_config.hpp.
#include "kernels/cross_entropy/cross_entropy_config.hpp"

namespace kernels::cross_entropy {

RowSpace space(Pass pass) {
  RowSpace space;
  space.block_rows = {1, 2};  // rows share nothing but the weights: two of them are two more streams
  space.in_place = true;
  // CUDA: no bulk copies, because rows that are left out are not read; one vector's logits beside its exponentials.
  space.registers = 32;
  space.registers_per_vector = 20;
  if (pass == Pass::forward) {
    space.reads_rows_twice = true;
    space.longest_held_vectors = 2048;
    space.has_ring = true;
    // Logits that stay as they were read: 64 registers at four vectors, 124 at eight with every option in use.
    space.registers_per_vector = 8;
    space.most_vectors = 4;  // the exponential takes a dozen registers beside each vector in flight
  }
  return space;
}

RowSpace space(Pass pass, const Problem& problem) {
  RowSpace result = space(pass);
  result.output_bytes = double(problem.rows) * double(problem.columns) * size_of(problem.dtype);
  return result;
}

}  // namespace kernels::cross_entropy
