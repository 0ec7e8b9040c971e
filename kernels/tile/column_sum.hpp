// The sum of the rows of fp32 matrices, rounded to T: the last step of gradients that were accumulated in partial sums.
#pragma once

#include "kernels/tile/tile.hpp"

namespace tile {

// The sum of the first `partials` rows, for the columns of this program.
template <class T>
TILE_FN void column_sum(Machine& m, ColumnSum<T> sum, std::int64_t partials, std::int64_t columns_per_program) {
  m.column_sums(sum.output, sum.partial, partials, sum.columns, m.program() * columns_per_program, columns_per_program);
}

// The same of up to three matrices in one launch, each of its own width: the first ceil(a.columns / columns_per_program) programs
// have a, the next ones b, the last ones c.
template <class T>
TILE_FN void column_sums(Machine& m, ColumnSum<T> a, ColumnSum<T> b, ColumnSum<T> c, std::int64_t partials,
                         std::int64_t columns_per_program) {
  const auto programs_for = [&](std::int64_t columns) {
    return (columns + columns_per_program - 1) / columns_per_program;
  };
  std::int64_t program = m.program();
  const std::int64_t of_a = programs_for(a.columns), of_b = programs_for(b.columns);
  if (program >= of_a + of_b) {
    program -= of_a + of_b;
    a = c;
  } else if (program >= of_a) {
    program -= of_a;
    a = b;
  }
  m.column_sums(a.output, a.partial, partials, a.columns, program * columns_per_program, columns_per_program);
}

}  // namespace tile
