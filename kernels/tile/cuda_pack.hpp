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

#ifndef ELEMENT
#define ELEMENT fp32
#endif

namespace tile {

using fp32 = float;
struct bf16 {
  std::uint16_t bits;
};
struct fp16 {
  std::uint16_t bits;
};

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

#define TILE_OPERATOR(OP)                                            \
  template <int N>                                                   \
  TILE_FN Pack<N> operator OP(Pack<N> a, Pack<N> b) {                \
    return each_lane(a, b, [](float x, float y) { return x OP y; }); \
  }                                                                  \
  template <int N>                                                   \
  TILE_FN Pack<N> operator OP(Pack<N> a, float b) {                  \
    return each_lane(a, [&](float x) { return x OP b; });            \
  }                                                                  \
  template <int N>                                                   \
  TILE_FN Pack<N> operator OP(float a, Pack<N> b) {                  \
    return each_lane(b, [&](float y) { return a OP y; });            \
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

#define TILE_COMPARISON(OP)                                                         \
  template <int N>                                                                  \
  TILE_FN Mask<N> operator OP(Pack<N> a, Pack<N> b) {                               \
    Mask<N> mask;                                                                   \
    _Pragma("unroll") for (int j = 0; j < N; ++j) mask.holds[j] = a.v[j] OP b.v[j]; \
    return mask;                                                                    \
  }                                                                                 \
  template <int N>                                                                  \
  TILE_FN Mask<N> operator OP(Pack<N> a, float b) {                                 \
    return a OP Pack<N>::broadcast(b);                                              \
  }                                                                                 \
  template <int N>                                                                  \
  TILE_FN Mask<N> operator OP(float a, Pack<N> b) {                                 \
    return Pack<N>::broadcast(a) OP b;                                              \
  }
TILE_COMPARISON(<)
TILE_COMPARISON(<=)
TILE_COMPARISON(>)
TILE_COMPARISON(>=)
TILE_COMPARISON(==)
#undef TILE_COMPARISON

// Where both hold, and where one does.
template <int N>
TILE_FN Mask<N> operator&(Mask<N> a, Mask<N> b) {
#pragma unroll
  for (int j = 0; j < N; ++j) a.holds[j] = a.holds[j] && b.holds[j];
  return a;
}
template <int N>
TILE_FN Mask<N> operator|(Mask<N> a, Mask<N> b) {
#pragma unroll
  for (int j = 0; j < N; ++j) a.holds[j] = a.holds[j] || b.holds[j];
  return a;
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

template <int N>
TILE_FN Pack<N> select(Mask<N> mask, float a, float b) {
  return select(mask, Pack<N>::broadcast(a), Pack<N>::broadcast(b));
}
// The same with a condition that all lanes share, and on values of a row.
template <int N>
TILE_FN Pack<N> select(bool condition, Pack<N> a, Pack<N> b) {
  return condition ? a : b;
}
template <int N>
TILE_FN Pack<N> select(bool condition, Pack<N> a, float b) {
  return condition ? a : Pack<N>::broadcast(b);
}
TILE_FN float select(bool condition, float a, float b) { return condition ? a : b; }

// The larger and the smaller one. Where one operand is a NaN it is b.
TILE_FN float maximum(float a, float b) { return a > b ? a : b; }
TILE_FN float minimum(float a, float b) { return a < b ? a : b; }
// The larger one by one instruction; where one operand is a NaN, the other.
TILE_FN float larger(float a, float b) { return fmaxf(a, b); }
template <int N>
TILE_FN Pack<N> maximum(Pack<N> a, Pack<N> b) {
  return each_lane(a, b, [](float x, float y) { return maximum(x, y); });
}
template <int N>
TILE_FN Pack<N> minimum(Pack<N> a, Pack<N> b) {
  return each_lane(a, b, [](float x, float y) { return minimum(x, y); });
}
template <int N>
TILE_FN Pack<N> minimum(Pack<N> a, float b) {
  return minimum(a, Pack<N>::broadcast(b));
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

// Whether values come from and go to 16 bits: functions may then err by 2^-17, far less than a result's rounding.
constexpr bool is_half_width = sizeof(ELEMENT) == 2;

// 1 / x within 1 unit in the last place; 0 for an infinite x, and in 16 bits for one above 2^126: subnormal results cost a
// comparison and two products each.
TILE_FN float reciprocal(float x) {
  float y;
  if constexpr (is_half_width)
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  else
    asm("rcp.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// e^x within 2 units in the last place; for 16-bit elements by one product and the chip's 2^x, off by |x| 2^-24 besides.
TILE_FN float exp(float x) {
  if constexpr (!is_half_width) return expf(x);
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 1.44269504f));
  return y;
}
// e^(x - shift); for 16-bit elements one rounding less than exp(x - shift), and one operation.
TILE_FN float exp_of_difference(float x, float shift) {
  if constexpr (!is_half_width) return expf(x - shift);
  constexpr float log2_e = 1.44269504f;
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(fmaf(x, log2_e, -shift * log2_e)));
  return y;
}
template <int N>
TILE_FN Pack<N> exp_of_difference(Pack<N> x, float shift) {
  return each_lane(x, [&](float v) { return exp_of_difference(v, shift); });
}
// 1 / (1 + e^-x), 0 where e^-x overflows, and x times that.
TILE_FN float sigmoid(float x) { return reciprocal(1.0f + exp(-x)); }
TILE_FN float silu(float x) { return x * sigmoid(x); }
// 1 - 2 / (e^(2x) + 1) loses digits near 0, where the first terms of the series stand in for it.
TILE_FN float tanh(float x) {
  if constexpr (!is_half_width) return tanhf(x);
  const float squared = x * x, far = 1.0f - 2.0f * reciprocal(exp(2.0f * x) + 1.0f);
  const float near = x * (1.0f + squared * (-0.333333333f + squared * 0.133333333f));
  return squared < 0.02f ? near : far;
}
TILE_FN float rsqrt(float x) { return rsqrtf(x); }
TILE_FN float log(float x) { return logf(x); }
#define TILE_FUNCTION(NAME)                               \
  template <int N>                                        \
  TILE_FN Pack<N> NAME(Pack<N> x) {                       \
    return each_lane(x, [](float v) { return NAME(v); }); \
  }
TILE_FUNCTION(exp)
TILE_FUNCTION(sigmoid)
TILE_FUNCTION(silu)
TILE_FUNCTION(tanh)
TILE_FUNCTION(rsqrt)
#undef TILE_FUNCTION

TILE_FN float infinity() { return __int_as_float(0x7f800000); }
TILE_FN float not_a_number() { return __int_as_float(0x7fc00000); }

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

// The lanes' maximum.
template <int N>
TILE_FN float horizontal_maximum(Pack<N> a) {
#pragma unroll
  for (int half = N / 2; half > 0; half /= 2) {
#pragma unroll
    for (int j = 0; j < half; ++j) a.v[j] = larger(a.v[j], a.v[j + half]);
  }
  return a.v[0];
}

// The first `count` lanes of a; `otherwise` elsewhere.
template <int N>
TILE_FN Pack<N> first_lanes(Pack<N> a, int count, float otherwise = 0.0f) {
#pragma unroll
  for (int j = 0; j < N; ++j) a.v[j] = j < count ? a.v[j] : otherwise;
  return a;
}

}  // namespace tile
