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

#define TILE_OPERATOR(OP)                                                      \
  template <int N>                                                             \
  TILE_FN Pack<N> operator OP(Pack<N> a, Pack<N> b) {                          \
    if constexpr (no_compute) return a;                                        \
    return {a.v OP b.v};                                                       \
  }                                                                            \
  template <int N>                                                             \
  TILE_FN Pack<N> operator OP(Pack<N> a, float b) {                            \
    if constexpr (no_compute) return a;                                        \
    return {a.v OP b};                                                         \
  }                                                                            \
  template <int N>                                                             \
  TILE_FN Pack<N> operator OP(float a, Pack<N> b) {                            \
    if constexpr (no_compute) return b;                                        \
    return {a OP b.v};                                                         \
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
TILE_FN Mask<N> operator<(Pack<N> a, Pack<N> b) { return {a.v < b.v}; }
template <int N>
TILE_FN Mask<N> operator<(Pack<N> a, float b) { return a < Pack<N>::broadcast(b); }
template <int N>
TILE_FN Mask<N> operator>(Pack<N> a, float b) { return Pack<N>::broadcast(b) < a; }

// Where the mask holds a, elsewhere b.
template <int N>
TILE_FN Pack<N> select(Mask<N> mask, Pack<N> a, Pack<N> b) {
  if constexpr (no_compute) return a;
  return {mask.bits ? a.v : b.v};
}

template <int N>
TILE_FN Pack<N> select(Mask<N> mask, Pack<N> a, float b) { return select(mask, a, Pack<N>::broadcast(b)); }
template <int N>
TILE_FN Pack<N> select(Mask<N> mask, float a, Pack<N> b) {
  if constexpr (no_compute) return b;
  return select(mask, Pack<N>::broadcast(a), b);
}

// max(x, 0) that keeps a NaN: a comparison with NaN is false.
template <int N>
TILE_FN Pack<N> relu(Pack<N> x) { return select(x < 0.0f, 0.0f, x); }

// e^x within 1.5 units in the last place: x = k ln 2 + r with |r| <= ln 2 / 2, a polynomial in r (Taylor to r^7 / 7!, whose
// remainder there is below 2^-27), scaled by 2^k in two steps, so that overflow ends in infinity and underflow in
// subnormals and zero. NaN stays NaN.
template <int N>
TILE_FN Pack<N> exp(Pack<N> x) {
  if constexpr (no_compute) return x;
  using Integers = typename Pack<N>::Integers;
  x = select(x < -104.0f, -104.0f, x);
  x = select(x > 89.0f, 89.0f, x);
  const float shift = 12582912.0f;  // 1.5 * 2^23: adding and subtracting it rounds to an integer
  const Pack<N> k = (x * 1.44269504f + shift) - shift;
  Pack<N> r = x - k * 0.693145752f;  // ln 2 in two parts, the first with trailing zeros: k * part is exact
  r = r - k * 1.42860677e-6f;
  Pack<N> p = Pack<N>::broadcast(1.0f / 5040);
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const Integers n = __builtin_convertvector(k.v, Integers);
  const Integers half = n >> 1;
  const Integers first = (half + 127) << 23, second = (n - half + 127) << 23;
  return {p.v * reinterpret_cast<typename Pack<N>::Vector>(first) * reinterpret_cast<typename Pack<N>::Vector>(second)};
}

template <int N>
TILE_FN Pack<N> sigmoid(Pack<N> x) { return 1.0f / (1.0f + exp(-x)); }

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
