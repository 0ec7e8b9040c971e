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

#define TILE_COMPARISON(OP)                           \
  template <int N>                                    \
  TILE_FN Mask<N> operator OP(Pack<N> a, Pack<N> b) { \
    return {a.v OP b.v};                              \
  }                                                   \
  template <int N>                                    \
  TILE_FN Mask<N> operator OP(Pack<N> a, float b) {   \
    return a OP Pack<N>::broadcast(b);                \
  }                                                   \
  template <int N>                                    \
  TILE_FN Mask<N> operator OP(float a, Pack<N> b) {   \
    return Pack<N>::broadcast(a) OP b;                \
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
  return {a.bits & b.bits};
}
template <int N>
TILE_FN Mask<N> operator|(Mask<N> a, Mask<N> b) {
  return {a.bits | b.bits};
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
template <int N>
TILE_FN Pack<N> maximum(Pack<N> a, Pack<N> b) {
#if defined(__AVX512F__) && !defined(__clang__)
  if constexpr (N == 16) return {__builtin_ia32_maxps512_mask(a.v, b.v, b.v, 0xffff, 4)};
#endif
  return select(a > b, a, b);
}
TILE_FN float maximum(float a, float b) { return a > b ? a : b; }
template <int N>
TILE_FN Pack<N> minimum(Pack<N> a, Pack<N> b) {
  return select(a < b, a, b);
}
template <int N>
TILE_FN Pack<N> minimum(Pack<N> a, float b) {
  return minimum(a, Pack<N>::broadcast(b));
}
TILE_FN float minimum(float a, float b) { return a < b ? a : b; }

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

// x = k ln 2 + r with a whole k and |r| <= ln 2 / 2 (a little more where the product was rounded), and (e^r - 1) / r.
template <int N>
struct ReducedExp {
  Pack<N> k, r, quotient;
  TILE_FN typename Pack<N>::Integers whole_k() const {
    return __builtin_convertvector(k.v, typename Pack<N>::Integers);
  }
  TILE_FN Pack<N> value() const { return quotient * r + 1.0f; }  // e^r
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
  return {k, r, q};
}

// e^x within 2 units in the last place. The scaling by 2^k in two steps lets overflow end in infinity and underflow in
// subnormals and zero. NaN stays NaN.
template <int N>
TILE_FN Pack<N> exp(Pack<N> x) {
  if constexpr (no_compute) return x;
  const ReducedExp<N> e = reduced_exp(clamp(x, -104.0f, 89.0f));
  const auto k = e.whole_k(), half = k >> 1;
  return e.value() * power_of_two<N>(half) * power_of_two<N>(k - half);
}

// 1 + e^x, NaN for NaN. Scaled in one step: e^x is infinite from 88.4 on, and 2^-126 at least, which the sum does not see.
template <int N>
TILE_FN Pack<N> one_plus_exp(Pack<N> x) {
  if constexpr (no_compute) return x;
  const ReducedExp<N> e = reduced_exp(clamp(x, -87.0f, 89.0f));
  return e.value() * power_of_two<N>(e.whole_k()) + 1.0f;
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

// tanh(x) = t / (t + 2) with t = e^(2x) - 1 = 2^k (e^r - 1) + (2^k - 1), which loses no digit near 0. Within 4 units in the
// last place; from |x| = 9.1 on it is 1 or -1. NaN stays NaN.
template <int N>
TILE_FN Pack<N> tanh(Pack<N> x) {
  if constexpr (no_compute) return x;
  const ReducedExp<N> e = reduced_exp(clamp(x * 2.0f, -40.0f, 40.0f));
  const Pack<N> scale = power_of_two<N>(e.whole_k());
  const Pack<N> t = e.quotient * e.r * scale + (scale - 1.0f);
  return t / (t + 2.0f);
}

// The same functions of a value of a row.
TILE_FN float exp(float x) { return exp(Pack<4>::broadcast(x)).v[0]; }
// e^(x - shift).
template <int N>
TILE_FN Pack<N> exp_of_difference(Pack<N> x, float shift) {
  return exp(x - shift);
}
TILE_FN float tanh(float x) { return tanh(Pack<4>::broadcast(x)).v[0]; }
TILE_FN float sigmoid(float x) { return sigmoid(Pack<4>::broadcast(x)).v[0]; }
TILE_FN float log(float x) { return __builtin_logf(x); }
TILE_FN float infinity() { return __builtin_inff(); }
TILE_FN float not_a_number() { return __builtin_nanf(""); }

TILE_FN float rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }
template <int N>
TILE_FN Pack<N> rsqrt(Pack<N> x) {
  if constexpr (no_compute) return x;
  Pack<N> y;
  for (int j = 0; j < N; ++j) y.v[j] = rsqrt(x.v[j]);
  return y;
}

// The lower and the upper half of the lanes. Shuffled, not copied through memory: a vector that is also read in parts is kept in
// memory by the compiler.
template <int N>
TILE_FN Pack<N / 2> low_half(Pack<N> a) {
  if constexpr (N == 16) return {__builtin_shufflevector(a.v, a.v, 0, 1, 2, 3, 4, 5, 6, 7)};
  if constexpr (N == 8) return {__builtin_shufflevector(a.v, a.v, 0, 1, 2, 3)};
  if constexpr (N == 4) return {__builtin_shufflevector(a.v, a.v, 0, 1)};
}
template <int N>
TILE_FN Pack<N / 2> high_half(Pack<N> a) {
  if constexpr (N == 16) return {__builtin_shufflevector(a.v, a.v, 8, 9, 10, 11, 12, 13, 14, 15)};
  if constexpr (N == 8) return {__builtin_shufflevector(a.v, a.v, 4, 5, 6, 7)};
  if constexpr (N == 4) return {__builtin_shufflevector(a.v, a.v, 2, 3)};
}

// The lanes' sum, halves added to halves.
template <int N>
TILE_FN float horizontal_sum(Pack<N> a) {
  if constexpr (N == 2) {
    return a.v[0] + a.v[1];
  } else {
    return horizontal_sum(Pack<N / 2>{low_half(a).v + high_half(a).v});
  }
}

// The lanes' maximum.
template <int N>
TILE_FN float horizontal_maximum(Pack<N> a) {
  if constexpr (N == 1) {
    return a.v[0];
  } else {
    Pack<N / 2> low, high;
    __builtin_memcpy(&low.v, &a.v, sizeof low.v);
    __builtin_memcpy(&high.v, reinterpret_cast<const char*>(&a.v) + sizeof low.v, sizeof high.v);
    return horizontal_maximum(Pack<N / 2>{low.v > high.v ? low.v : high.v});
  }
}

// 0, 1, ..., N - 1
template <int N>
TILE_FN typename Pack<N>::Integers lane_numbers() {
  typename Pack<N>::Integers lane{};
  for (int j = 0; j < N; ++j) lane[j] = j;
  return lane;
}

// The first `count` lanes of a; `otherwise` elsewhere.
template <int N>
TILE_FN Pack<N> first_lanes(Pack<N> a, int count, float otherwise = 0.0f) {
  if constexpr (no_compute) return a;
  const typename Pack<N>::Integers lane = lane_numbers<N>();
  return {lane < count ? a.v : Pack<N>::broadcast(otherwise).v};
}

}  // namespace tile
