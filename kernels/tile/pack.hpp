// A vector of fp32 values in registers, its arithmetic and elementary functions, on the compiler's vector extensions: no
// intrinsic header is included, because a tile program is compiled hundreds of times in a sweep.
//
// Under the ablation "no arithmetic" every operation returns its first operand unchanged; loads and stores stay.
#pragma once

#include <cstdint>

#include "kernels/tile/settings.hpp"

#define TILE_FN inline __attribute__((always_inline))
#define TILE_LAMBDA __attribute__((always_inline))
// 64-byte vectors are passed between inlined functions only, so the note on their calling convention does not apply.
#pragma GCC diagnostic ignored "-Wpsabi"
#ifdef __clang__
#pragma clang fp contract(fast)  // as GCC does: a * b + c is one fused operation
#endif

namespace tile {

template <int N>
struct Pack {
  typedef float Vector __attribute__((vector_size(N * 4)));
  typedef std::int32_t Integers __attribute__((vector_size(N * 4)));
  Vector v;

  static TILE_FN Pack broadcast(float f) { return {f - Vector{}}; }  // a sum would turn -0 into 0
};

// Lanes where a comparison holds.
template <int N>
struct Mask {
  typename Pack<N>::Integers bits;
};

#define TILE_OPERATOR(OP)                             \
  template <int N>                                    \
  TILE_FN Pack<N> operator OP(Pack<N> a, Pack<N> b) { \
    if constexpr (no_compute) return a;               \
    return {a.v OP b.v};                              \
  }                                                   \
  template <int N>                                    \
  TILE_FN Pack<N> operator OP(Pack<N> a, float b) {   \
    if constexpr (no_compute) return a;               \
    return {a.v OP b};                                \
  }                                                   \
  template <int N>                                    \
  TILE_FN Pack<N> operator OP(float a, Pack<N> b) {   \
    if constexpr (no_compute) return b;               \
    return {a OP b.v};                                \
  }
TILE_OPERATOR(+)
TILE_OPERATOR(-)
TILE_OPERATOR(*)
TILE_OPERATOR(/)
#undef TILE_OPERATOR

template <int N>
TILE_FN Pack<N> operator-(Pack<N> a) {
  if constexpr (no_compute) return a;
  return {-a.v};
}

template <int N>
TILE_FN Mask<N> operator<(Pack<N> a, Pack<N> b) {
  return {a.v < b.v};
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
  return {mask.bits ? a.v : b.v};
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
#if defined(__AVX512F__) && !defined(__clang__)
  // One instruction each where the comparison and choice would be two; the second operand is the result where one is a NaN.
  if constexpr (N == 16) {
    const auto least = Pack<N>::broadcast(low).v, most = Pack<N>::broadcast(high).v;
    x.v = __builtin_ia32_maxps512_mask(least, x.v, x.v, 0xffff, 4);
    return {__builtin_ia32_minps512_mask(most, x.v, x.v, 0xffff, 4)};
  }
#endif
  x = select(x < low, low, x);
  return select(x > high, high, x);
}

// 2^n by its bits, for -127 < n <= 128 (128: infinity).
template <int N>
TILE_FN Pack<N> power_of_two(typename Pack<N>::Integers n) {
  return {reinterpret_cast<typename Pack<N>::Vector>((n + 127) << 23)};
}

// x = k ln 2 + r with a whole k and |r| <= ln 2 / 2 (a little more where the product was rounded), and e^r.
template <int N>
struct ReducedExp {
  typename Pack<N>::Integers k;
  Pack<N> value;
};
// The polynomial 1 + r + r^2 q(r) has the q of degree 4 that minimizes its largest relative error on that interval, 3.1e-9
// before its coefficients are rounded (least squares, weights raised where the error is large until it is level).
template <int N>
TILE_FN ReducedExp<N> reduced_exp(Pack<N> x) {
  const float shift = 12582912.0f;  // 1.5 * 2^23: adding and subtracting it rounds to an integer
  const Pack<N> k = (x * 1.44269504f + shift) - shift;
  Pack<N> r = x - k * 0.693145752f;  // ln 2 in two parts, the first with trailing zeros: k * part is exact
  r = r - k * 1.42860677e-6f;
  Pack<N> q = Pack<N>::broadcast(0.001381459878757596f);
  q = q * r + 0.008368716575205326f;
  q = q * r + 0.04166838899254799f;
  q = q * r + 0.1666652113199234f;
  q = q * r + 0.4999999403953552f;
  q = q * r + 1.0f;
  q = q * r + 1.0f;
  return {__builtin_convertvector(k.v, typename Pack<N>::Integers), q};
}

// e^x within 2 units in the last place. The scaling by 2^k in two steps lets overflow end in infinity and underflow in
// subnormals and zero. NaN stays NaN.
template <int N>
TILE_FN Pack<N> exp(Pack<N> x) {
  if constexpr (no_compute) return x;
  const ReducedExp<N> e = reduced_exp(clamp(x, -104.0f, 89.0f));
  const auto half = e.k >> 1;
  return e.value * power_of_two<N>(half) * power_of_two<N>(e.k - half);
}

// 1 + e^x, NaN for NaN. Scaled in one step: e^x is infinite from 88.4 on, and 2^-126 at least, which the sum does not see.
template <int N>
TILE_FN Pack<N> one_plus_exp(Pack<N> x) {
  if constexpr (no_compute) return x;
  const ReducedExp<N> e = reduced_exp(clamp(x, -87.0f, 89.0f));
  return e.value * power_of_two<N>(e.k) + 1.0f;
}

template <int N>
TILE_FN Pack<N> sigmoid(Pack<N> x) {
  return 1.0f / one_plus_exp(-x);
}
// x * sigmoid(x)
template <int N>
TILE_FN Pack<N> silu(Pack<N> x) {
  return x / one_plus_exp(-x);
}

TILE_FN float rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }
template <int N>
TILE_FN Pack<N> rsqrt(Pack<N> x) {
  if constexpr (no_compute) return x;
  Pack<N> y;
  for (int j = 0; j < N; ++j) y.v[j] = rsqrt(x.v[j]);
  return y;
}

// The lanes' sum, halves added to halves.
template <int N>
TILE_FN float horizontal_sum(Pack<N> a) {
  if constexpr (N == 1) {
    return a.v[0];
  } else {
    Pack<N / 2> low, high;
    __builtin_memcpy(&low.v, &a.v, sizeof low.v);
    __builtin_memcpy(&high.v, reinterpret_cast<const char*>(&a.v) + sizeof low.v, sizeof high.v);
    return horizontal_sum(Pack<N / 2>{low.v + high.v});
  }
}

// The first `count` lanes of a; zero elsewhere.
template <int N>
TILE_FN Pack<N> first_lanes(Pack<N> a, int count) {
  typename Pack<N>::Integers lane{};
  for (int j = 0; j < N; ++j) lane[j] = j;
  return select(Mask<N>{lane < count}, a, 0.0f);
}

}  // namespace tile
