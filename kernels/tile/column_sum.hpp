// The sum of the rows of fp32 matrices, rounded to T: the last step of gradients that were accumulated in partial sums.
#pragma once

#include "kernels/tile/tile.hpp"

namespace tile {

// output[c] = sum over the first `partials` rows of matrix[., c], for the columns of this program.
template <class T>
TILE_FN void column_sum(Machine& m, T* output, const float* matrix, std::int64_t partials, std::int64_t columns,
                        std::int64_t columns_per_program) {
  m.column_sums(output, matrix, partials, columns, m.program() * columns_per_program, columns_per_program);
}

// The same of up to three matrices in one launch, each of its own width (0: there is none): the first ceil(a_columns /
// columns_per_program) programs have a, the next ones b, the last ones c.
template <class T>
TILE_FN void column_sums(Machine& m, T* a, const float* a_matrix, std::int64_t a_columns, T* b, const float* b_matrix,
                         std::int64_t b_columns, T* c, const float* c_matrix, std::int64_t c_columns,
                         std::int64_t partials, std::int64_t columns_per_program) {
  const auto programs_for = [&](std::int64_t columns) {
    return (columns + columns_per_program - 1) / columns_per_program;
  };
  std::int64_t program = m.program();
  const std::int64_t of_a = programs_for(a_columns), of_b = programs_for(b_columns);
  if (program >= of_a + of_b) {
    program -= of_a + of_b;
    a = c, a_matrix = c_matrix, a_columns = c_columns;
  } else if (program >= of_a) {
    program -= of_a;
    a = b, a_matrix = b_matrix, a_columns = b_columns;
  }
  m.column_sums(a, a_matrix, partials, a_columns, program * columns_per_program, columns_per_program);
}

}  // namespace tile
