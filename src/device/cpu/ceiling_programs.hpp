// The text of the programs that measure ceilings, compiled at run time with the flags of kernels.
#pragma once

namespace hone::device::cpu {

// Entries and their arguments (a program is one block of BLOCK_BYTES; _N: a worker walks its share at N = 1, 2 or 4 places
// at the same time; _streaming: stores go past the caches):
//   ceiling_copy_N(to, from)   ceiling_copy_streaming_N(to, from)   ceiling_read_N(sink, from)
//   ceiling_write_N(to)        ceiling_write_streaming_N(to)
//   ceiling_fma(sink, int64 rounds): FMA_FLOPS_PER_ROUND operations each round; a program is one worker's work
//   ceiling_chase(sink, from, int64 steps): follows pointers stored in `from`
//   ceiling_empty()
// sink: a cache line for each worker.
inline constexpr char ceiling_program_text[] = R"text(
#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

#if defined(__AVX512F__)
typedef float Vector __attribute__((vector_size(64), aligned(64)));
#elif defined(__AVX__)
typedef float Vector __attribute__((vector_size(32), aligned(32)));
#else
typedef float Vector __attribute__((vector_size(16), aligned(16)));
#endif

inline __attribute__((always_inline)) void store_past_caches(Vector* to, Vector value) {
#if defined(__clang__)
  __builtin_nontemporal_store(value, to);
#elif defined(__AVX512F__)
  _mm512_stream_ps(reinterpret_cast<float*>(to), reinterpret_cast<__m512&>(value));
#elif defined(__AVX__)
  _mm256_stream_ps(reinterpret_cast<float*>(to), reinterpret_cast<__m256&>(value));
#elif defined(__x86_64__)
  _mm_stream_ps(reinterpret_cast<float*>(to), reinterpret_cast<__m128&>(value));
#elif defined(__aarch64__)
  const uint64_t low = reinterpret_cast<const uint64_t*>(&value)[0], high = reinterpret_cast<const uint64_t*>(&value)[1];
  asm volatile("stnp %0, %1, [%2]" : : "r"(low), "r"(high), "r"(to) : "memory");
#else
  *to = value;
#endif
}

template <bool streaming>
inline __attribute__((always_inline)) void store(Vector* to, Vector value) {
  if constexpr (streaming) {
    store_past_caches(to, value);
  } else {
    *to = value;
  }
}

inline void finish_stores() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

constexpr int vectors_of_a_line = 64 / sizeof(Vector);

// Walks the cache lines of the blocks [first, last) at `streams` places at once: body(line, stream).
template <int streams, class Body>
inline __attribute__((always_inline)) void walk(int64_t first, int64_t last, Body body) {
  const int64_t lines = (last - first) * (BLOCK_BYTES / 64) / streams;
  const int64_t start = first * (BLOCK_BYTES / 64);
  for (int64_t line = 0; line < lines; ++line) {
#pragma GCC unroll 8
    for (int stream = 0; stream < streams; ++stream) body(start + stream * lines + line, stream);
  }
}

Vector* vectors(void* const* arguments, int index) { return *static_cast<Vector* const*>(arguments[index]); }

void keep(void* const* arguments, int worker, Vector value) {
  *reinterpret_cast<Vector*>(*static_cast<char* const*>(arguments[0]) + int64_t{64} * worker) = value;
}

template <int streams, bool streaming>
inline __attribute__((always_inline)) void copy(void* const* arguments, int64_t first, int64_t last) {
  Vector* to = vectors(arguments, 0);
  const Vector* from = vectors(arguments, 1);
  walk<streams>(first, last, [=](int64_t line, int) {
#pragma GCC unroll 4
    for (int i = 0; i < vectors_of_a_line; ++i) {
      store<streaming>(to + line * vectors_of_a_line + i, from[line * vectors_of_a_line + i]);
    }
  });
  if (streaming) finish_stores();
}

template <int streams>
inline __attribute__((always_inline)) void read(void* const* arguments, int64_t first, int64_t last, int worker) {
  const Vector* from = vectors(arguments, 1);
  Vector sums[streams * vectors_of_a_line] = {};
  walk<streams>(first, last, [&](int64_t line, int stream) {
#pragma GCC unroll 4
    for (int i = 0; i < vectors_of_a_line; ++i) sums[stream * vectors_of_a_line + i] += from[line * vectors_of_a_line + i];
  });
  for (int i = 1; i < streams * vectors_of_a_line; ++i) sums[0] += sums[i];
  keep(arguments, worker, sums[0]);
}

template <int streams, bool streaming>
inline __attribute__((always_inline)) void write(void* const* arguments, int64_t first, int64_t last) {
  Vector* to = vectors(arguments, 0);
  const Vector value = Vector{} + 1.0f;
  walk<streams>(first, last, [=](int64_t line, int) {
#pragma GCC unroll 4
    for (int i = 0; i < vectors_of_a_line; ++i) store<streaming>(to + line * vectors_of_a_line + i, value);
  });
  if (streaming) finish_stores();
}

}  // namespace

#define CEILING_ENTRIES(N)                                                                                           \
  extern "C" void ceiling_copy_##N(void* const* a, int64_t first, int64_t last, int, int, void*) {                   \
    copy<N, false>(a, first, last);                                                                                  \
  }                                                                                                                  \
  extern "C" void ceiling_copy_streaming_##N(void* const* a, int64_t first, int64_t last, int, int, void*) {         \
    copy<N, true>(a, first, last);                                                                                   \
  }                                                                                                                  \
  extern "C" void ceiling_read_##N(void* const* a, int64_t first, int64_t last, int worker, int, void*) {            \
    read<N>(a, first, last, worker);                                                                                 \
  }                                                                                                                  \
  extern "C" void ceiling_write_##N(void* const* a, int64_t first, int64_t last, int, int, void*) {                  \
    write<N, false>(a, first, last);                                                                                 \
  }                                                                                                                  \
  extern "C" void ceiling_write_streaming_##N(void* const* a, int64_t first, int64_t last, int, int, void*) {        \
    write<N, true>(a, first, last);                                                                                  \
  }
CEILING_ENTRIES(1)
CEILING_ENTRIES(2)
CEILING_ENTRIES(4)

// 12 independent chains: latency 4 times at most 2 units a cycle, and 16 registers hold them with both factors.
extern "C" void ceiling_fma(void* const* arguments, int64_t first, int64_t last, int worker, int, void*) {
  const int64_t rounds = *static_cast<const int64_t*>(arguments[1]) * (last - first);
  Vector sums[12];
  for (int i = 0; i < 12; ++i) sums[i] = Vector{} + static_cast<float>(i);
  Vector factor = Vector{} + 0.999f, addend = Vector{} + 0.001f;
  asm volatile("" : "+m"(factor), "+m"(addend));
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) sums[i] = sums[i] * factor + addend;
  }
  for (int i = 1; i < 12; ++i) sums[0] += sums[i];
  keep(arguments, worker, sums[0]);
}

// How many operations one round of ceiling_fma is, written to the sink as an int64.
extern "C" void ceiling_fma_flops(void* const* arguments, int64_t, int64_t, int, int, void*) {
  **static_cast<int64_t* const*>(arguments[0]) = 12 * 2 * (sizeof(Vector) / sizeof(float));
}

extern "C" void ceiling_chase(void* const* arguments, int64_t, int64_t, int worker, int, void*) {
  void** at = *static_cast<void** const*>(arguments[1]);
  for (int64_t steps = *static_cast<const int64_t*>(arguments[2]); steps > 0; --steps) at = static_cast<void**>(*at);
  *reinterpret_cast<void**>(*static_cast<char* const*>(arguments[0]) + int64_t{64} * worker) = at;
}

extern "C" void ceiling_empty(void* const*, int64_t, int64_t, int, int, void*) {}
)text";

}  // namespace hone::device::cpu
