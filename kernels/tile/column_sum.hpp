// The sum of the rows of an fp32 matrix, rounded to T: the last step of a gradient that was accumulated in partial sums.
#pragma once

#include "kernels/tile/tile.hpp"

namespace tile {

// output[c] = sum over the first `partials` rows of matrix[., c], for the columns of this program.
template <class T>
TILE_FN void column_sum(Machine& m, T* output, const float* matrix, std::int64_t partials, std::int64_t columns,
                        std::int64_t columns_per_program) {
  const std::int64_t first = m.program() * columns_per_program;
  const std::int64_t count = columns - first < columns_per_program ? columns - first : columns_per_program;
  const auto block = m.one_row(count);
  block.map(
      [&](auto e) {
        Values sum = Values::broadcast(0.0f);
        for (std::int64_t p = 0; p < partials; ++p) sum = sum + Row<float>{matrix + p * columns + first}[e];
        return sum;
      },
      block.rows_of(output + first, 0));
}

}  // namespace tile
