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

// Several numbers that are summed together.
template <int K>
struct Sums {
  float of[K];
};
template <int K>
TILE_FN Sums<K> operator+(Sums<K> a, const Sums<K>& b) {
#pragma unroll
  for (int k = 0; k < K; ++k) a.of[k] += b.of[k];
  return a;
}

// The value of the thread of this warp whose number differs in the bit `offset`.
template <class V>
TILE_FN V of_other_lane(V value, int offset) {
  return __shfl_xor_sync(~0u, value, offset);
}
template <int K>
TILE_FN Sums<K> of_other_lane(Sums<K> value, int offset) {
#pragma unroll
  for (int k = 0; k < K; ++k) value.of[k] = of_other_lane(value.of[k], offset);
  return value;
}

// Values of all threads of this row joined by `join`, in each of them, in the same order always. `parity` alternates between
// calls, so that one barrier is enough: a buffer is written again only after everyone has passed the barrier of the other one.
template <class V, class Join>
TILE_FN V group_reduce(V value, int& parity, Join join) {
#pragma unroll
  for (int offset = (row_threads < 32 ? row_threads : 32) / 2; offset > 0; offset /= 2) {
    value = join(value, of_other_lane(value, offset));
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
template <class V>
TILE_FN V group_sum(V value, int& parity) {
  return group_reduce(value, parity, [](const V& a, const V& b) { return a + b; });
}
TILE_FN float group_maximum(float value, int& parity) {
  return group_reduce(value, parity, [](float a, float b) { return larger(a, b); });
}

// What is subtracted before e^x: where every value is -infinity, e^(value - 0) is the 0 that it should add.
TILE_FN float finite_shift(float largest) { return largest == -infinity() ? 0.0f : largest; }

// The largest value of all threads of this row, and their sums of e^(value - their own largest) as one of e^(value - largest):
// both by one barrier, with one exponential for each warp where joining in pairs would take two at each step.
TILE_FN void group_exp_sum(float& largest, float& sum, int& parity) {
  constexpr int first_offset = (row_threads < 32 ? row_threads : 32) / 2;
  const float own = largest;
#pragma unroll
  for (int offset = first_offset; offset > 0; offset /= 2) {
    largest = larger(largest, of_other_lane(largest, offset));
  }
  sum *= own == -infinity() ? 1.0f : exp(own - largest);
#pragma unroll
  for (int offset = first_offset; offset > 0; offset /= 2) sum += of_other_lane(sum, offset);
  if constexpr (row_threads > 32) {
    __shared__ float2 of_warps[2][NUM_WARPS];
    constexpr int group_warps = row_threads / 32;
    if (threadIdx.x % 32 == 0) of_warps[parity][threadIdx.x / 32] = make_float2(largest, sum);
    group_barrier();
    const float2* values = &of_warps[parity][group() * group_warps];
    constexpr int at_a_time = group_warps < 8 ? group_warps : 8;  // 32 spill where a thread has 64 registers
    largest = values[0].x;
#pragma unroll at_a_time
    for (int w = 1; w < group_warps; ++w) largest = larger(largest, values[w].x);
    const float shift = finite_shift(largest);
    sum = 0;
#pragma unroll at_a_time
    for (int w = 0; w < group_warps; ++w) sum += values[w].y * exp(values[w].x - shift);
    parity ^= 1;
  }
}

// The block's dynamic shared memory: slots of bulk copies, then the joining of accumulators.
TILE_FN unsigned char* dynamic_shared() {
  extern __shared__ __align__(128) unsigned char tile_dynamic_shared[];
  return tile_dynamic_shared;
}

}  // namespace tile
