// The threads of a row: a block's threads are divided among its BLOCK_ROW rows, `row_threads` consecutive ones each. Barriers
// and reductions of such a group.
#pragma once

#include "kernels/tile/cuda_elements.hpp"

namespace tile {

TILE_FN int lane() { return threadIdx.x & (row_threads - 1); }  // of this thread in its row
TILE_FN int group() { return threadIdx.x / row_threads; }       // its row in the block

// Waits for all threads of this row; what they wrote or read in shared memory before it is done.
TILE_FN void group_barrier() {
  if constexpr (row_threads <= 32) {
    __syncwarp();
  } else if constexpr (ring_slots > 0) {
    asm volatile("bar.sync 1, %0;" : : "n"(row_threads) : "memory");  // without the warp that fills the ring
  } else if constexpr (block_row == 1) {
    __syncthreads();
  } else {
    asm volatile("bar.sync %0, %1;" : : "r"(group() + 1), "n"(row_threads) : "memory");
  }
}

// Values of all threads of this row joined by `join`, in each of them, in the same order always. `parity` alternates between
// calls, so that one barrier is enough: a buffer is written again only after everyone has passed the barrier of the other one.
template <class V, class Join>
TILE_FN V group_reduce(V value, int& parity, Join join) {
#pragma unroll
  for (int offset = (row_threads < 32 ? row_threads : 32) / 2; offset > 0; offset /= 2) {
    value = join(value, __shfl_xor_sync(~0u, value, offset));
  }
  if constexpr (row_threads > 32) {
    __shared__ __align__(16) V warp_values[2][NUM_WARPS];
    constexpr int group_warps = row_threads / 32;
    if (threadIdx.x % 32 == 0) warp_values[parity][threadIdx.x / 32] = value;
    group_barrier();
    const V* values = &warp_values[parity][group() * group_warps];
    value = values[0];
#pragma unroll
    for (int w = 1; w < group_warps; ++w) value = join(value, values[w]);
    parity ^= 1;
  }
  return value;
}
TILE_FN float group_sum(float value, int& parity) {
  return group_reduce(value, parity, [](float a, float b) { return a + b; });
}
TILE_FN float group_maximum(float value, int& parity) {
  return group_reduce(value, parity, [](float a, float b) { return maximum(a, b); });
}

// The block's dynamic shared memory: slots of bulk copies, then the joining of accumulators.
TILE_FN unsigned char* dynamic_shared() {
  extern __shared__ __align__(128) unsigned char tile_dynamic_shared[];
  return tile_dynamic_shared;
}

}  // namespace tile
