// A vector of fp32 values in a thread's registers, its arithmetic and elementary functions, for CUDA. NVRTC compiles this
// without any header: what is used of the language's library is declared here, the rest are its built-in functions.
//
// Under the ablation "no arithmetic" every operation returns its first operand unchanged; loads and stores stay.
#pragma once

#ifdef __CUDACC_RTC__
namespace std {
using int32_t = int;
using int64_t = long long;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long long;
using uintptr_t = unsigned long long;
}  // namespace std
#else
#include <cstdint>
#endif

#include "kernels/tile/settings.hpp"

#define TILE_FN __device__ __forceinline__
#define TILE_LAMBDA

namespace tile {

template <int N>
struct Pack {
  float v[N];

  static TILE_FN Pack broadcast(float f) {
    Pack a;
#pragma unroll
    for (int j = 0; j < N; ++j) a.v[j] = f;
    return a;
  }
};

// Lanes where a comparison holds.
template <int N>
struct Mask {
  bool holds[N];
};

// f(a[j]), f(a[j], b[j]) for every lane.
template <int N, class F>
TILE_FN Pack<N> each_lane(Pack<N> a, F f) {
  if constexpr (no_compute) return a;
#pragma unroll
  for (int j = 0; j < N; ++j) a.v[j] = f(a.v[j]);
  return a;
}
template <int N, class F>
TILE_FN Pack<N> each_lane(Pack<N> a, Pack<N> b, F f) {
  if constexpr (no_compute) return a;
#pragma unroll
  for (int j = 0; j < N; ++j) a.v[j] = f(a.v[j], b.v[j]);
  return a;
}

#define TILE_OPERATOR(OP)                                               \
  template <int N>                                                      \
  TILE_FN Pack<N> operator OP(Pack<N> a, Pack<N> b) {                   \
    return each_lane(a, b, [](float x, float y) { return x OP y; });    \
  }                                                                     \
  template <int N>                                                      \
  TILE_FN Pack<N> operator OP(Pack<N> a, float b) {                     \
    return each_lane(a, [&](float x) { return x OP b; });               \
  }                                                                     \
  template <int N>                                                      \
  TILE_FN Pack<N> operator OP(float a, Pack<N> b) {                     \
    return each_lane(b, [&](float y) { return a OP y; });               \
  }
TILE_OPERATOR(+)
TILE_OPERATOR(-)
TILE_OPERATOR(*)
TILE_OPERATOR(/)
#undef TILE_OPERATOR

template <int N>
TILE_FN Pack<N> operator-(Pack<N> a) {
  return each_lane(a, [](float x) { return -x; });
}

template <int N>
TILE_FN Mask<N> operator<(Pack<N> a, Pack<N> b) {
  Mask<N> mask;
#pragma unroll
  for (int j = 0; j < N; ++j) mask.holds[j] = a.v[j] < b.v[j];
  return mask;
}
template <int N>
TILE_FN Mask<N> operator<(Pack<N> a, float b) {
  return a < Pack<N>::broadcast(b);
}
template <int N>
TILE_FN Mask<N> operator>(Pack<N> a, float b) {
  return Pack<N>::broadcast(b) < a;
}

// Where the mask holds a, elsewhere b.
template <int N>
TILE_FN Pack<N> select(Mask<N> mask, Pack<N> a, Pack<N> b) {
  if constexpr (no_compute) return a;
#pragma unroll
  for (int j = 0; j < N; ++j) a.v[j] = mask.holds[j] ? a.v[j] : b.v[j];
  return a;
}
template <int N>
TILE_FN Pack<N> select(Mask<N> mask, Pack<N> a, float b) {
  return select(mask, a, Pack<N>::broadcast(b));
}
template <int N>
TILE_FN Pack<N> select(Mask<N> mask, float a, Pack<N> b) {
  if constexpr (no_compute) return b;
  return select(mask, Pack<N>::broadcast(a), b);
}

// max(x, 0) that keeps a NaN: a comparison with NaN is false.
template <int N>
TILE_FN Pack<N> relu(Pack<N> x) {
  return select(x < 0.0f, 0.0f, x);
}
// x, but not below `low` or above `high`; a NaN stays a NaN.
template <int N>
TILE_FN Pack<N> clamp(Pack<N> x, float low, float high) {
  x = select(x < low, low, x);
  return select(x > high, high, x);
}

// 1 / x within 1 unit in the last place; 0 for an infinite x.
TILE_FN float reciprocal(float x) {
  float y;
  asm("rcp.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// e^x within 2 units in the last place; NaN stays NaN.
template <int N>
TILE_FN Pack<N> exp(Pack<N> x) {
  return each_lane(x, [](float v) { return expf(v); });
}
// 1 / (1 + e^-x): 0 where e^-x overflows.
template <int N>
TILE_FN Pack<N> sigmoid(Pack<N> x) {
  return each_lane(x, [](float v) { return reciprocal(1.0f + expf(-v)); });
}
// x * sigmoid(x)
template <int N>
TILE_FN Pack<N> silu(Pack<N> x) {
  return each_lane(x, [](float v) { return v * reciprocal(1.0f + expf(-v)); });
}

TILE_FN float rsqrt(float x) { return rsqrtf(x); }
template <int N>
TILE_FN Pack<N> rsqrt(Pack<N> x) {
  return each_lane(x, [](float v) { return rsqrtf(v); });
}

// The lanes' sum, halves added to halves.
template <int N>
TILE_FN float horizontal_sum(Pack<N> a) {
#pragma unroll
  for (int half = N / 2; half > 0; half /= 2) {
#pragma unroll
    for (int j = 0; j < half; ++j) a.v[j] += a.v[j + half];
  }
  return a.v[0];
}

// The first `count` lanes of a; zero elsewhere.
template <int N>
TILE_FN Pack<N> first_lanes(Pack<N> a, int count) {
#pragma unroll
  for (int j = 0; j < N; ++j) a.v[j] = j < count ? a.v[j] : 0.0f;
  return a;
}

}  // namespace tile
