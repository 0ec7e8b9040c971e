// The element types in memory, and their way into and out of vectors of fp32: widening is exact, narrowing rounds to the
// nearest, ties to even, and a NaN stays a NaN. Partial forms touch exactly `count` elements.
#pragma once

#include <cstdint>

#include "kernels/tile/pack.hpp"

namespace tile {

using fp32 = float;
struct bf16 {
  std::uint16_t bits;
};
struct fp16 {
  std::uint16_t bits;
};

// N elements of T as they lie in memory.
template <class T, int N>
struct Raw {
  typedef std::uint16_t Vector __attribute__((vector_size(N * 2)));
};
template <int N>
struct Raw<float, N> {
  typedef float Vector __attribute__((vector_size(N * 4)));
};
template <class T, int N>
using RawVector = typename Raw<T, N>::Vector;

template <int N>
using Bits = typename Pack<N>::Integers;
template <int N>
TILE_FN Bits<N> bits_of(Pack<N> a) {
  return reinterpret_cast<Bits<N>>(a.v);
}
template <int N>
TILE_FN Pack<N> from_bits(Bits<N> bits) {
  return {reinterpret_cast<typename Pack<N>::Vector>(bits)};
}

// A type as a value, to choose between functions.
template <class T>
struct Type {};

template <int N>
TILE_FN Pack<N> widen(Type<float>, RawVector<float, N> raw) {
  return {raw};
}
template <int N>
TILE_FN RawVector<float, N> narrow(Type<float>, Pack<N> a) {
  return a.v;
}
template <int N>
TILE_FN Pack<N> round_to(Type<float>, Pack<N> a) {
  return a;
}

// GCC 12 makes two extensions and two shuffles of one 512-bit extension, so it is told the instruction.
typedef short Signed16 __attribute__((vector_size(32)));
typedef int Integers16 __attribute__((vector_size(64)));
template <int N>
TILE_FN Bits<N> zero_extend(RawVector<bf16, N> raw) {
#if defined(__AVX512F__) && !defined(__clang__)
  if constexpr (N == 16) {
    return __builtin_ia32_pmovzxwd512_mask(reinterpret_cast<Signed16>(raw), Integers16{}, 0xffff);
  } else {
    return __builtin_convertvector(raw, Bits<N>);
  }
#else
  return __builtin_convertvector(raw, Bits<N>);
#endif
}

// One instruction moves each number to the upper half of its lane and clears the lower, where an extension and a shift are two.
typedef short Signed32 __attribute__((vector_size(64)));
template <int N>
TILE_FN Pack<N> widen(Type<bf16>, RawVector<bf16, N> raw) {
#if defined(__AVX512BW__) && !defined(__clang__)
  if constexpr (N == 16) {
    constexpr Signed32 from = {0, 0, 0, 1, 0, 2,  0, 3,  0, 4,  0, 5,  0, 6,  0, 7,
                               0, 8, 0, 9, 0, 10, 0, 11, 0, 12, 0, 13, 0, 14, 0, 15};
    const Signed32 numbers = reinterpret_cast<Signed32>(
        __builtin_shufflevector(raw, raw, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, -1, -1, -1, -1, -1, -1,
                                -1, -1, -1, -1, -1, -1, -1, -1, -1, -1));
    return from_bits<N>(
        reinterpret_cast<Bits<N>>(__builtin_ia32_permvarhi512_mask(numbers, from, Signed32{}, 0xaaaaaaaa)));
  }
#endif
  return from_bits<N>(zero_extend<N>(raw) << 16);
}

// The upper 16 bits hold the rounded value, the lower ones are arbitrary. Adding half of the last kept place, less one
// where that place is even, carries exactly when the value is to be rounded up, into infinity where it overflows. A NaN
// would be carried into another number, so it is made quiet instead: setting bit 22 leaves a NaN whatever the rest.
template <int N>
TILE_FN Bits<N> round_upper_half(Pack<N> a) {
  const Bits<N> bits = bits_of(a);
  const Bits<N> rounded = bits + (((bits >> 16) & 1) + 0x7fff);
  return a.v == a.v ? rounded : bits | 0x400000;
}
// Where there is an instruction it replaces ten; it differs in one thing: results below 2^-126 become zero.
template <int N>
TILE_FN RawVector<bf16, N> narrow(Type<bf16>, Pack<N> a) {
#if defined(__AVX512BF16__) && defined(__AVX512VL__)
  if constexpr (N == 16 || N == 8) {
    RawVector<bf16, N> raw;
    asm("vcvtneps2bf16 %1, %0" : "=v"(raw) : "v"(a.v));
    return raw;
  }
#endif
  return __builtin_convertvector(round_upper_half(a) >> 16, RawVector<bf16, N>);
}
template <int N>
TILE_FN Pack<N> round_to(Type<bf16>, Pack<N> a) {
#if defined(__AVX512BF16__) && defined(__AVX512VL__)
  if constexpr (N == 16 || N == 8) return widen<N>(Type<bf16>{}, narrow<N>(Type<bf16>{}, a));
#endif
  return from_bits<N>(round_upper_half(a) & -0x10000);
}

// Half precision by integer and fp32 arithmetic, on every instruction set. The exponents differ by 112: a multiplication by
// 2^112 moves a half's fields into place and also normalizes its subnormals.
template <int N>
TILE_FN Pack<N> widen(Type<fp16>, RawVector<fp16, N> raw) {
  const Bits<N> bits = zero_extend<N>(raw);
  const Bits<N> magnitude = bits & 0x7fff;
  const Pack<N> scaled = {from_bits<N>(magnitude << 13).v * 0x1p112f};
  const Bits<N> value = magnitude >= 0x7c00 ? (magnitude << 13) | 0x7f800000 : bits_of(scaled);
  return from_bits<N>(value | ((bits & 0x8000) << 16));
}
// Normal results round on the bits, as bf16 does, with the exponent lowered by 112. Below 2^-14 adding 0.5 aligns the value
// so that the addition itself rounds at a subnormal half's last place. From 65520 on the result is infinity.
template <int N>
TILE_FN Bits<N> to_half_bits(Pack<N> a) {
  const Bits<N> bits = bits_of(a), magnitude = bits & 0x7fffffff;
  const Bits<N> normal = (magnitude - (112 << 23) + (((magnitude >> 13) & 1) + 0xfff)) >> 13;
  const Bits<N> subnormal = bits_of(Pack<N>{from_bits<N>(magnitude).v + 0.5f}) - 0x3f000000;
  Bits<N> half = magnitude < (113 << 23) ? subnormal : normal;
  half = magnitude >= 0x477ff000 ? Bits<N>{} + 0x7c00 : half;
  half = magnitude > 0x7f800000 ? Bits<N>{} + 0x7e00 : half;
  return half | ((bits >> 16) & 0x8000);
}
template <int N>
TILE_FN RawVector<fp16, N> narrow(Type<fp16>, Pack<N> a) {
  return __builtin_convertvector(to_half_bits(a), RawVector<fp16, N>);
}
template <int N>
TILE_FN Pack<N> round_to(Type<fp16>, Pack<N> a) {
  return widen<N>(Type<fp16>{}, narrow<N>(Type<fp16>{}, a));
}

// a rounded to T's precision, as a vector of fp32.
template <class T, int N>
TILE_FN Pack<N> rounded(Pack<N> a) {
  if constexpr (no_compute) return a;
  return round_to<N>(Type<T>{}, a);
}
template <class T>
TILE_FN float rounded(float a) {
  return rounded<T>(Pack<4>::broadcast(a)).v[0];
}
template <class T>
TILE_FN float to_float(T element) {
  RawVector<T, 4> raw{};
  __builtin_memcpy(&raw, &element, sizeof element);
  return widen<4>(Type<T>{}, raw).v[0];
}
template <class T>
TILE_FN T from_float(float f) {
  const RawVector<T, 4> raw = narrow<4>(Type<T>{}, Pack<4>::broadcast(f));
  T element;
  __builtin_memcpy(&element, &raw, sizeof element);
  return element;
}

// Makes the compiler load v although nothing uses it.
template <class V>
TILE_FN void keep_load(V v) {
#if defined(__AVX512F__) || (defined(__AVX__) && VECTOR_BYTES <= 32) || (defined(__SSE2__) && VECTOR_BYTES <= 16)
  asm volatile("" : : "v"(v));
#else
  asm volatile("" : : "m"(v));
#endif
}

template <class T, int N>
TILE_FN Pack<N> widen_loaded(RawVector<T, N> raw) {
  if constexpr (no_compute) {
    keep_load(raw);
    return Pack<N>{};
  } else {
    return widen<N>(Type<T>{}, raw);
  }
}

template <class T, int N>
TILE_FN Pack<N> load(const T* from) {
  RawVector<T, N> raw;
  __builtin_memcpy(&raw, from, sizeof raw);
  return widen_loaded<T, N>(raw);
}

// Copies `count` elements. Called, not inlined: it is used at the ends of rows, from many places.
template <class T>
static __attribute__((noinline)) void copy_partial(T* to, const T* from, int count) {
  int done = 0;
  for (; done + 4 <= count; done += 4) __builtin_memcpy(to + done, from + done, 4 * sizeof(T));
  for (; done < count; ++done) to[done] = from[done];
}

template <class T, int N>
TILE_FN Pack<N> load_partial(const T* from, int count) {
  T buffer[N] = {};
  copy_partial<T>(buffer, from, count);
  return load<T, N>(buffer);
}

template <class T, int N>
TILE_FN RawVector<T, N> narrow_stored(Pack<N> a) {
  if constexpr (no_compute) {
    return RawVector<T, N>{};
  } else {
    return narrow<N>(Type<T>{}, a);
  }
}

template <class T, int N>
TILE_FN void store(T* to, Pack<N> a) {
  const RawVector<T, N> raw = narrow_stored<T, N>(a);
  __builtin_memcpy(to, &raw, sizeof raw);
}

template <class T, int N>
TILE_FN void store_partial(T* to, Pack<N> a, int count) {
  T buffer[N];
  store<T, N>(buffer, a);
  copy_partial<T>(to, buffer, count);
}

// Streaming stores of 16, 32 and 64 bytes; in halves where the instruction set has none of that width, and plain where it
// has none at all.
typedef float Vector16 __attribute__((vector_size(16)));
typedef float Vector32 __attribute__((vector_size(32)));
typedef float Vector64 __attribute__((vector_size(64)));

TILE_FN void stream(char* to, Vector16 v) {
#if defined(__clang__)
  __builtin_nontemporal_store(v, reinterpret_cast<Vector16*>(to));
#elif defined(__SSE__)
  __builtin_ia32_movntps(reinterpret_cast<float*>(to), v);
#else
  __builtin_memcpy(to, &v, sizeof v);
#endif
}
TILE_FN void stream(char* to, Vector32 v) {
#if defined(__clang__) && defined(__AVX__)
  __builtin_nontemporal_store(v, reinterpret_cast<Vector32*>(to));
#elif defined(__AVX__)
  __builtin_ia32_movntps256(reinterpret_cast<float*>(to), v);
#else
  Vector16 halves[2];
  __builtin_memcpy(halves, &v, sizeof v);
  stream(to, halves[0]);
  stream(to + 16, halves[1]);
#endif
}
TILE_FN void stream(char* to, Vector64 v) {
#if defined(__clang__) && defined(__AVX512F__)
  __builtin_nontemporal_store(v, reinterpret_cast<Vector64*>(to));
#elif defined(__AVX512F__)
  __builtin_ia32_movntps512(reinterpret_cast<float*>(to), v);
#else
  Vector32 halves[2];
  __builtin_memcpy(halves, &v, sizeof v);
  stream(to, halves[0]);
  stream(to + 32, halves[1]);
#endif
}

template <int Bytes>
struct StreamVector {
  typedef float type __attribute__((vector_size(Bytes)));
};

// A streaming store where the address is aligned to the vector's bytes, otherwise a plain one.
template <class T, int N>
TILE_FN void store_streaming(T* to, Pack<N> a) {
  const RawVector<T, N> raw = narrow_stored<T, N>(a);
  if constexpr (sizeof raw >= 16) {
    if (reinterpret_cast<std::uintptr_t>(to) % sizeof raw == 0) {
      typename StreamVector<sizeof raw>::type v;
      __builtin_memcpy(&v, &raw, sizeof v);
      return stream(reinterpret_cast<char*>(to), v);
    }
  }
  __builtin_memcpy(to, &raw, sizeof raw);
}

// Two vectors next to each other, in one streaming store where that is how wide the instruction set's are: a cache line written
// in two goes is two writes to the memory's queue.
template <class T, int N>
TILE_FN void store_streaming(T* to, Pack<N> a, Pack<N> b) {
#ifdef __AVX512F__
  constexpr int bytes = 2 * N * int(sizeof(T));
  if constexpr (bytes == 64) {
    if (reinterpret_cast<std::uintptr_t>(to) % bytes == 0) {
      const RawVector<T, N> raw[2] = {narrow_stored<T, N>(a), narrow_stored<T, N>(b)};
      Vector64 v;
      __builtin_memcpy(&v, raw, sizeof v);
      return stream(reinterpret_cast<char*>(to), v);
    }
  }
#endif
  store_streaming<T, N>(to, a);
  store_streaming<T, N>(to + N, b);
}

// Streaming stores are ordered with what follows only by a fence.
TILE_FN void finish_streaming() {
#ifdef __SSE__
  if constexpr (streaming_stores) __builtin_ia32_sfence();
#endif
}

using Values = Pack<lanes>;

}  // namespace tile
