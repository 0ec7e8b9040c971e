// The text of the programs that measure a GPU's ceilings.
#pragma once

namespace hone::device::cuda {

// A block works on UNROLL * threads consecutive vectors of 16 bytes, a thread on UNROLL of them, a block's width apart.
//   ceiling_copy_U(to, from, int64 vectors)   ceiling_read_U(sink, from, int64 vectors)   ceiling_write_U(to, int64 vectors)
//   ceiling_l2(sink, from, int64 vectors, int32 rounds): all blocks read the same vectors again and again, past the first level
//   ceiling_fma(sink, int32 rounds): 16 chains of 4 dependent multiply-adds a thread and round
//   ceiling_chase(sink, from, int32 steps): one thread follows indices stored in `from`
//   ceiling_empty()   ceiling_random(to, int64 words, int32 kind): normal-like values; kind 0 bf16, 1 fp16, 2 fp32
// A sum is stored only where it is a value that never comes out, so that nothing is optimised away and nothing is written.
inline constexpr char ceiling_program_text[] = R"text(
typedef long long int64;

struct alignas(16) Vector { unsigned x, y, z, w; };

__device__ __forceinline__ unsigned mix(Vector v) { return v.x ^ v.y ^ v.z ^ v.w; }

template <int unroll> __device__ __forceinline__ void copy(Vector* to, const Vector* from, int64 vectors) {
  const int64 first = (int64)blockIdx.x * blockDim.x * unroll + threadIdx.x;
  Vector kept[unroll];
#pragma unroll
  for (int i = 0; i < unroll; ++i) if (first + i * blockDim.x < vectors) kept[i] = from[first + i * blockDim.x];
#pragma unroll
  for (int i = 0; i < unroll; ++i) if (first + i * blockDim.x < vectors) to[first + i * blockDim.x] = kept[i];
}

template <int unroll> __device__ __forceinline__ void read(unsigned* sink, const Vector* from, int64 vectors) {
  const int64 first = (int64)blockIdx.x * blockDim.x * unroll + threadIdx.x;
  unsigned sum = 0;
#pragma unroll
  for (int i = 0; i < unroll; ++i) if (first + i * blockDim.x < vectors) sum ^= mix(from[first + i * blockDim.x]);
  if (sum == 0x9e3779b9u) sink[threadIdx.x] = sum;
}

template <int unroll> __device__ __forceinline__ void write(Vector* to, int64 vectors) {
  const int64 first = (int64)blockIdx.x * blockDim.x * unroll + threadIdx.x;
  const Vector value = {threadIdx.x, 1, 2, 3};
#pragma unroll
  for (int i = 0; i < unroll; ++i) if (first + i * blockDim.x < vectors) to[first + i * blockDim.x] = value;
}

#define CEILING_ENTRIES(U)                                                                                              \
  extern "C" __global__ void ceiling_copy_##U(Vector* to, const Vector* from, int64 n) { copy<U>(to, from, n); }        \
  extern "C" __global__ void ceiling_read_##U(unsigned* sink, const Vector* from, int64 n) { read<U>(sink, from, n); }  \
  extern "C" __global__ void ceiling_write_##U(Vector* to, int64 n) { write<U>(to, n); }
CEILING_ENTRIES(1)
CEILING_ENTRIES(2)
CEILING_ENTRIES(4)
CEILING_ENTRIES(8)

extern "C" __global__ void ceiling_l2(unsigned* sink, const Vector* from, int64 vectors, int rounds) {
  const int64 stride = (int64)gridDim.x * blockDim.x;
  unsigned sum = 0;
  for (int round = 0; round < rounds; ++round) {
    int64 at = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    for (; at + 3 * stride < vectors; at += 4 * stride) {
      Vector v[4];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v[i].x), "=r"(v[i].y), "=r"(v[i].z), "=r"(v[i].w) : "l"(from + at + i * stride));
#pragma unroll
      for (int i = 0; i < 4; ++i) sum ^= mix(v[i]);
    }
  }
  if (sum == 0x9e3779b9u) sink[threadIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(1024) ceiling_fma(float* sink, int rounds) {
  float sums[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) sums[i] = threadIdx.x + i;
  float factor = 0.999f, addend = 0.001f;
  asm volatile("" : "+f"(factor), "+f"(addend));
  for (int round = 0; round < rounds; ++round)
#pragma unroll
    for (int k = 0; k < 4; ++k)
#pragma unroll
      for (int i = 0; i < 16; ++i) sums[i] = __fmaf_rn(sums[i], factor, addend);
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 16; ++i) sum += sums[i];
  if (sum == -1.0f) sink[threadIdx.x] = sum;
}

extern "C" __global__ void ceiling_chase(unsigned* sink, const unsigned* from, int steps) {
  unsigned at = 0;
  for (int step = 0; step < steps; ++step) at = from[(int64)at * 32];
  sink[0] = at;
}

extern "C" __global__ void ceiling_empty() {}

// The sum of four uniform values, scaled to a variance of 1: close to normal, and the same on every GPU.
extern "C" __global__ void ceiling_random(void* to, int64 words, int kind) {
  for (int64 at = (int64)blockIdx.x * blockDim.x + threadIdx.x; at < words; at += (int64)gridDim.x * blockDim.x) {
    unsigned long long state = (unsigned long long)at * 0x9e3779b97f4a7c15ull + 0x632be59bd9b4e019ull;
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      state ^= state >> 30; state *= 0xbf58476d1ce4e5b9ull; state ^= state >> 27; state *= 0x94d049bb133111ebull; state ^= state >> 31;
      sum += (unsigned)(state >> 40) * (1.0f / 16777216.0f);
    }
    const float value = (sum - 2.0f) * 1.7320508f;
    if (kind == 2) { ((float*)to)[at] = value; continue; }
    unsigned short half;
    if (kind == 1) asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
    else half = (unsigned short)((__float_as_uint(value) + 0x8000u) >> 16);
    ((unsigned short*)to)[at] = half;
  }
}
)text";

}  // namespace hone::device::cuda
