// The element types in memory, and their way into and out of vectors of fp32 in a thread's registers: widening is exact,
// narrowing rounds to the nearest, ties to even, and a NaN stays a NaN.
//
// A vector is `lanes` consecutive elements, 16 bytes of the kernel's ELEMENT. One whose address is a multiple of 16 bytes and
// that lies inside its row is moved at once; every other element by element, exactly those that exist.
#pragma once

#include "kernels/tile/cuda_pack.hpp"

namespace tile {

constexpr int lanes = 16 / sizeof(ELEMENT);
using Values = Pack<lanes>;

// A type as a value, to choose between functions.
template <class T>
struct Type {};

// `lanes` elements of T as they lie in memory.
template <class T>
struct Raw {
  static constexpr int count = lanes * int(sizeof(T)) / 4;
  std::uint32_t words[count];
};

// ---- two 16-bit values in a word ----

TILE_FN std::uint32_t narrow_pair(Type<bf16>, float low, float high) {
  std::uint32_t word;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
#else
  // Adding half of the last kept place, less one where that place is even, carries exactly when the value is to be rounded
  // up. A NaN would be carried into another number, so it is made quiet instead.
  const auto upper = [](float f) {
    const std::uint32_t bits = __float_as_uint(f);
    return f == f ? (bits + (((bits >> 16) & 1) + 0x7fff)) >> 16 : (bits | 0x400000) >> 16;
  };
  word = upper(low) | upper(high) << 16;
#endif
  return word;
}
TILE_FN std::uint32_t narrow_pair(Type<fp16>, float low, float high) {
  std::uint32_t word;
  asm("{.reg .b16 l, h; cvt.rn.f16.f32 l, %1; cvt.rn.f16.f32 h, %2; mov.b32 %0, {l, h};}"
      : "=r"(word)
      : "f"(low), "f"(high));
  return word;
}
TILE_FN void widen_pair(Type<bf16>, std::uint32_t word, float& low, float& high) {
  low = __uint_as_float(word << 16);
  high = __uint_as_float(word & 0xffff0000u);
}
TILE_FN void widen_pair(Type<fp16>, std::uint32_t word, float& low, float& high) {
  asm("{.reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}"
      : "=f"(low), "=f"(high)
      : "r"(word));
}

// ---- vectors ----

template <class T>
TILE_FN Values widen(const Raw<T>& raw) {
  Values a;
  if constexpr (no_compute) {
#pragma unroll
    for (int j = 0; j < lanes; ++j) a.v[j] = __uint_as_float(raw.words[j * int(sizeof(T)) / 4]);
    return a;
  }
  if constexpr (sizeof(T) == 4) {
#pragma unroll
    for (int j = 0; j < lanes; ++j) a.v[j] = __uint_as_float(raw.words[j]);
  } else {
#pragma unroll
    for (int j = 0; j < lanes; j += 2) widen_pair(Type<T>{}, raw.words[j / 2], a.v[j], a.v[j + 1]);
  }
  return a;
}
template <class T>
TILE_FN Raw<T> narrow(Values a) {
  Raw<T> raw;
  if constexpr (sizeof(T) == 4 || no_compute) {
#pragma unroll
    for (int j = 0; j < lanes; ++j) raw.words[j * int(sizeof(T)) / 4] = __float_as_uint(a.v[j]);
  } else {
#pragma unroll
    for (int j = 0; j < lanes; j += 2) raw.words[j / 2] = narrow_pair(Type<T>{}, a.v[j], a.v[j + 1]);
  }
  return raw;
}

// a rounded to T's precision, as fp32.
template <class T>
TILE_FN Values rounded(Values a) {
  if constexpr (sizeof(T) == 4 || no_compute)
    return a;
  else
    return widen<T>(narrow<T>(a));
}
template <class T>
TILE_FN float to_float(T element) {
  if constexpr (sizeof(T) == 4) {
    return element;
  } else {
    float low, high;
    widen_pair(Type<T>{}, element.bits, low, high);
    return low;
  }
}
template <class T>
TILE_FN T from_float(float f) {
  if constexpr (sizeof(T) == 4)
    return f;
  else
    return {static_cast<std::uint16_t>(narrow_pair(Type<T>{}, f, 0.0f))};
}
template <class T>
TILE_FN float rounded(float a) {
  return to_float(from_float<T>(a));
}

// ---- memory ----

// Without arithmetic nothing uses what is loaded besides a map's first operand: the assembler keeps a load all the same
// where it is volatile.
TILE_FN uint4 load_16(const uint4* from) {
  if constexpr (no_compute) {
    uint4 q;
    asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(q.x), "=r"(q.y), "=r"(q.z), "=r"(q.w)
                 : "l"(__cvta_generic_to_global(from)));
    return q;
  } else if constexpr (cache_policy == 2) {
    return __ldcs(from);
  } else {
    return *from;
  }
}

template <class T>
TILE_FN Raw<T> load_vector(const T* from) {
  Raw<T> raw;
  if constexpr (Raw<T>::count % 4 == 0) {
#pragma unroll
    for (int i = 0; i < Raw<T>::count; i += 4) {
      const uint4 q = load_16(reinterpret_cast<const uint4*>(from) + i / 4);
      raw.words[i] = q.x;
      raw.words[i + 1] = q.y;
      raw.words[i + 2] = q.z;
      raw.words[i + 3] = q.w;
    }
  } else {
    const uint2 q = *reinterpret_cast<const uint2*>(from);
    raw.words[0] = q.x;
    raw.words[1] = q.y;
  }
  return raw;
}
template <class T>
TILE_FN void store_vector(T* to, const Raw<T>& raw) {
  if constexpr (Raw<T>::count % 4 == 0) {
#pragma unroll
    for (int i = 0; i < Raw<T>::count; i += 4) {
      const uint4 q = make_uint4(raw.words[i], raw.words[i + 1], raw.words[i + 2], raw.words[i + 3]);
      uint4* at = reinterpret_cast<uint4*>(to) + i / 4;
      if constexpr (cache_policy >= 1)
        __stcs(at, q);
      else
        *at = q;
    }
  } else {
    *reinterpret_cast<uint2*>(to) = make_uint2(raw.words[0], raw.words[1]);
  }
}

// The first `count` elements; the others are zero.
template <class T>
TILE_FN Raw<T> load_elements(const T* from, int count) {
  Raw<T> raw;
#pragma unroll
  for (int i = 0; i < Raw<T>::count; ++i) raw.words[i] = 0;
#pragma unroll
  for (int j = 0; j < lanes; ++j) {
    if (j >= count) continue;
    if constexpr (sizeof(T) == 4)
      raw.words[j] = reinterpret_cast<const std::uint32_t*>(from)[j];
    else
      raw.words[j / 2] |= std::uint32_t(reinterpret_cast<const std::uint16_t*>(from)[j]) << (j % 2 * 16);
  }
  return raw;
}
template <class T>
TILE_FN void store_elements(T* to, const Raw<T>& raw, int count) {
#pragma unroll
  for (int j = 0; j < lanes; ++j) {
    if (j >= count) continue;
    if constexpr (sizeof(T) == 4) {
      reinterpret_cast<std::uint32_t*>(to)[j] = raw.words[j];
    } else {
      reinterpret_cast<std::uint16_t*>(to)[j] = static_cast<std::uint16_t>(raw.words[j / 2] >> (j % 2 * 16));
    }
  }
}

}  // namespace tile
