// The sum of the rows of an fp32 matrix, rounded to T: the last step of a gradient that was accumulated in partial sums.
#pragma once

#include "kernels/tile/tile.hpp"

namespace tile {

// output[c] = sum over the first `partials` rows of matrix[., c], for the columns of this program.
template <class T>
TILE_FN void column_sum(Machine& m, T* output, const float* matrix, std::int64_t partials, std::int64_t columns,
                        std::int64_t columns_per_program) {
  m.column_sums(output, matrix, partials, columns, columns_per_program);
}

}  // namespace tile
