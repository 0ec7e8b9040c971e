// What a program says of its rows before it walks over them, so that a machine can bring them in.
#pragma once

#ifdef __CUDACC__
#include "kernels/tile/cuda_pack.hpp"
#else
#include "kernels/tile/pack.hpp"
#endif

namespace tile {

// A matrix whose rows a body loads first, and which of them it does load: `wanted(row)`.
template <class T, class Wanted>
struct ComingRows {
  const T* matrix;
  std::int64_t stride;
  Wanted wanted;
};
template <class T, class Wanted>
TILE_FN ComingRows<T, Wanted> coming_rows(const T* matrix, std::int64_t stride, Wanted wanted) {
  return {matrix, stride, wanted};
}

}  // namespace tile
