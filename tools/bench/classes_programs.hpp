// The texts of the kernels whose class is known by construction, for both machines. ABLATION as in kernels: 1 no arithmetic, 2 no
// memory traffic. The CPU's has LANES, the floats of its widest vector.
#pragma once

#include <cstdint>

namespace tools {

inline constexpr std::int64_t kClassesBlockBytes = 64 << 10;
inline constexpr int kClassesCpuChains = 12;  // of LANES values each: they fit the registers and cover the latency

inline constexpr char classes_gpu_text[] = R"text(
#ifndef ABLATION
#define ABLATION 0
#endif
typedef long long int64;
struct alignas(16) Vector { unsigned x, y, z, w; };

// A thread moves four vectors, a block's width apart.
extern "C" __global__ void pure_copy_forward(Vector* to, const Vector* from, int64 vectors) {
  const int64 first = (ABLATION == 2 ? 0 : (int64)blockIdx.x * blockDim.x * 4) + threadIdx.x;
  Vector kept[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) if (first + i * blockDim.x < vectors) kept[i] = from[first + i * blockDim.x];
#pragma unroll
  for (int i = 0; i < 4; ++i) if (first + i * blockDim.x < vectors) {
    if (ABLATION != 2 || kept[i].x == 0x9e3779b9u) to[first + i * blockDim.x] = kept[i];
  }
}

// Eight chains in each thread: enough to cover the latency of a link.
extern "C" __global__ void fma_chain_forward(float* sink, int steps) {
  float a[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) a[i] = threadIdx.x + i;
  float factor = 0.999f, addend = 0.001f;
  asm volatile("" : "+f"(factor), "+f"(addend));
  if (ABLATION != 1)
#pragma unroll 8
    for (int step = 0; step < steps; ++step)
#pragma unroll
      for (int i = 0; i < 8; ++i) a[i] = __fmaf_rn(a[i], factor, addend);
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum += a[i];
  if (sum == -1.0f) sink[threadIdx.x] = sum;
}

extern "C" __global__ void pointer_chase_forward(unsigned* sink, const unsigned* chain, int jumps, int64 lines) {
  unsigned at = ABLATION == 2 ? 0 : (unsigned)(((int64)blockIdx.x * blockDim.x + threadIdx.x) * 7919 % lines);
  for (int jump = 0; jump < jumps; ++jump) {
    const unsigned next = chain[(int64)at * 32];
    at = ABLATION == 2 ? next & 0 : next;
  }
  sink[(blockIdx.x * blockDim.x + threadIdx.x) & 0xffff] = at;
}

extern "C" __global__ void __launch_bounds__(1024) one_block_copy_forward(Vector* to, const Vector* from, int64 vectors) {
  for (int64 at = threadIdx.x; at < vectors; at += blockDim.x) {
    const int64 place = ABLATION == 2 ? threadIdx.x : at;
    const Vector value = from[place];
    if (ABLATION != 2 || value.x == 0x9e3779b9u) to[place] = value;
  }
}

// Values held across a chain of dependent loads leave room for one block of eight warps.
extern "C" __global__ void __launch_bounds__(256, 1) register_starved_forward(unsigned* sink, const unsigned* chain, const float* in, int jumps, int64 lines) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  float held[160];
#pragma unroll
  for (int i = 0; i < 160; ++i) held[i] = in[thread + i * 1024];
#pragma unroll
  for (int i = 0; i < 160; ++i) asm volatile("" : "+f"(held[i]));
  unsigned at = ABLATION == 2 ? 0 : (unsigned)((int64)thread * 7919 % lines);
  for (int jump = 0; jump < jumps; ++jump) {
    const unsigned next = chain[(int64)at * 32];
    at = ABLATION == 2 ? next & 0 : next;
  }
  float sum = at;
#pragma unroll
  for (int i = 0; i < 160; ++i) sum += held[i];
  sink[thread & 0xffff] = (unsigned)sum;
}
)text";

inline constexpr char classes_cpu_text[] = R"text(
#include <cstdint>
#include <cstring>
#ifndef ABLATION
#define ABLATION 0
#endif
namespace {
constexpr int64_t block_bytes = 64 << 10;
typedef float Vector __attribute__((vector_size(64), aligned(64)));
typedef float Lanes __attribute__((vector_size(4 * LANES), aligned(4 * LANES)));
char* bytes(void* const* arguments, int index) { return *static_cast<char* const*>(arguments[index]); }
}

extern "C" void pure_copy_forward(void* const* arguments, int64_t first, int64_t last, int, int, void*) {
  for (int64_t block = first; block < last; ++block) {
    const int64_t at = ABLATION == 2 ? 0 : block * block_bytes;
    if (ABLATION == 2) {
      asm volatile("" : : "r"(bytes(arguments, 1)[at]) : "memory");
      continue;
    }
    const Vector* from = reinterpret_cast<const Vector*>(bytes(arguments, 1) + at);
    Vector* to = reinterpret_cast<Vector*>(bytes(arguments, 0) + at);
    for (int64_t i = 0; i < block_bytes / 64; ++i) to[i] = from[i];
  }
}

extern "C" void fma_chain_forward(void* const* arguments, int64_t first, int64_t last, int worker, int, void*) {
  const int64_t rounds = ABLATION == 1 ? 0 : *static_cast<const int64_t*>(arguments[1]) * (last - first);
  Lanes sums[12];
  for (int i = 0; i < 12; ++i) sums[i] = Lanes{} + static_cast<float>(i);
  Lanes factor = Lanes{} + 0.999f, addend = Lanes{} + 0.001f;
  asm volatile("" : "+m"(factor), "+m"(addend));
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) sums[i] = sums[i] * factor + addend;
  }
  for (int i = 1; i < 12; ++i) sums[0] += sums[i];
  std::memcpy(bytes(arguments, 0) + 64 * worker, &sums[0], sizeof sums[0]);
}

extern "C" void pointer_chase_forward(void* const* arguments, int64_t, int64_t, int, int, void*) {
  const uint32_t* chain = reinterpret_cast<const uint32_t*>(bytes(arguments, 1));
  uint32_t at = 0;
  for (int64_t jumps = *static_cast<const int64_t*>(arguments[2]); jumps > 0; --jumps) {
    const uint32_t next = chain[int64_t{at} * 32];
    at = ABLATION == 2 ? next & 0 : next;
    asm volatile("" : "+r"(at));
  }
  std::memcpy(bytes(arguments, 0), &at, 4);
}
)text";

}  // namespace tools
