// The settings a tile program is compiled with, as defines; each has a default, so that every header also compiles alone.
//   BLOCK_ROW         rows that one block of a program works on together; on a CPU row vectors and accumulators are read once
//                     for all, on CUDA the threads are divided among them
// On a CPU:
//   UNROLL            vectors in flight of each row: independent accumulators of a reduction, unrolled stores of a map
//   VECTOR_BYTES      bytes of one vector of fp32 values
//   PREFETCH          bytes ahead of the current element that are prefetched where a tile is read first; 0: hardware alone
//   PREFETCH_ROWS     1: the next block's rows are prefetched while this one's are worked on, half in each of its two readings;
//                     2: they are summed beside this one's map (block.sum_then), and those after them prefetched
//   STREAMING_STORES  1: results bypass the caches (no read for ownership)
// On CUDA:
//   NUM_WARPS         warps of a program
//   VECTORS           vectors of lanes elements that each thread holds of its row
//   NUM_STAGES        blocks of rows whose operands are under way in bulk copies; 0: plain loads
//   STREAMED_OPERANDS matrices of a body that are brought in by bulk copies, in the order of its loads
//   RING_SLOTS        rows in chunks: chunks of a ring in shared memory that holds them, filled by one more warp; 0: no ring
//   ROW_CHUNKS        chunks of a row, where there is a ring
//   MIN_PROGRAMS      programs of a multiprocessor that the registers must suffice for
//   CACHE_POLICY      0 cached; 1 results are evicted first; 2 operands too
//   STRAIGHT          1: the launch has a program for each block of rows, which loads one matrix and reduces it: no loop, no test
//                     for each vector. (With two matrices the assembler then widens the first one before it asks for the second:
//                     swiglu forward at 16384 x 8192 on one H200 0.208 ms instead of 0.187, fused_add_rms_norm 0.305, 0.261)
//   ROWS_FROM_BEFORE  1: the rows that a ring brings in were written before the launch ahead of this one began
//   ROW_FIT           how a row fits the vectors of its threads: FIT_CHUNKED it is longer and goes in chunks; FIT_ANY it fits;
//                     FIT_EXACT it fills them all
//   WHOLE_VECTORS     1: columns and row strides are multiples of a vector
// On both:
//   TILE_ABLATION     0 none; 1 no arithmetic, same bytes; 2 no memory traffic, same arithmetic
//   TILE_PASS         TILE_FORWARD or TILE_BACKWARD: whose entries the object holds, so that its code is that pass's alone
#pragma once

#define TILE_FORWARD 0
#define TILE_BACKWARD 1
#ifndef TILE_PASS
#define TILE_PASS TILE_FORWARD
#endif

#ifndef BLOCK_ROW
#define BLOCK_ROW 1
#endif
#ifndef TILE_ABLATION
#define TILE_ABLATION 0
#endif

namespace tile {

constexpr int block_row = BLOCK_ROW;
constexpr bool no_compute = TILE_ABLATION == 1;
constexpr bool no_memory = TILE_ABLATION == 2;
static_assert(block_row >= 1);

}  // namespace tile

#ifdef __CUDACC__

#define FIT_CHUNKED 0
#define FIT_ANY 1
#define FIT_EXACT 2
#ifndef NUM_WARPS
#define NUM_WARPS 4
#endif
#ifndef VECTORS
#define VECTORS 2
#endif
#ifndef STRAIGHT
#define STRAIGHT 0
#endif
#ifndef ROWS_FROM_BEFORE
#define ROWS_FROM_BEFORE 0
#endif
#ifndef NUM_STAGES
#define NUM_STAGES 0
#endif
#ifndef STREAMED_OPERANDS
#define STREAMED_OPERANDS 0
#endif
#ifndef RING_SLOTS
#define RING_SLOTS 0
#endif
#ifndef ROW_CHUNKS
#define ROW_CHUNKS 1
#endif
#ifndef MIN_PROGRAMS
#define MIN_PROGRAMS 1
#endif
#ifndef CACHE_POLICY
#define CACHE_POLICY 0
#endif
#ifndef ROW_FIT
#define ROW_FIT FIT_CHUNKED
#endif
#ifndef WHOLE_VECTORS
#define WHOLE_VECTORS 0
#endif

namespace tile {

constexpr int threads = NUM_WARPS * 32, row_threads = threads / block_row;
constexpr bool straight = STRAIGHT != 0;
constexpr int vectors = VECTORS;
constexpr int cache_policy = CACHE_POLICY;
constexpr bool chunked = ROW_FIT == FIT_CHUNKED, exact = ROW_FIT == FIT_EXACT, whole = WHOLE_VECTORS != 0;
// Bulk copies came with compute capability 9.0; rows that are no whole vectors can not be copied by them.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
constexpr int stages = whole && !chunked && STREAMED_OPERANDS > 0 ? NUM_STAGES : 0;
constexpr int ring_slots = whole && chunked ? RING_SLOTS : 0;
#else
constexpr int stages = 0, ring_slots = 0;
#endif
constexpr int row_chunks = ROW_CHUNKS;
constexpr bool rows_from_before =
    ring_slots > 0 && ROWS_FROM_BEFORE != 0;                       // the filling warp need not wait for that launch
constexpr int most_threads = threads + (RING_SLOTS > 0 ? 32 : 0);  // of a launch: with the warp that fills the ring
constexpr int streamed_operands = STREAMED_OPERANDS;

// A body is run for rows that exist alone, which no warp shares; otherwise absent rows take part in it and every vector is tested.
// Plain loads of two matrices are better tested: without it the assembler asks for the second after it has widened the first.
constexpr bool present_rows_alone = row_threads >= 32 && (block_row == 1 || straight || stages > 0);

static_assert(NUM_WARPS >= 1 && NUM_WARPS <= 32 && (NUM_WARPS & (NUM_WARPS - 1)) == 0,
              "NUM_WARPS is 1, 2, 4, 8, 16 or 32");
static_assert((block_row & (block_row - 1)) == 0 && block_row <= threads,
              "BLOCK_ROW is a power of two, a thread each at least");
static_assert(row_threads <= 32 || block_row <= 15, "at most 15 groups of more than a warp: a barrier each");
static_assert(RING_SLOTS == 0 || (block_row == 1 && threads > 32 && most_threads <= 1024), "a ring holds one row");
static_assert(vectors >= 1 && NUM_STAGES >= 0 && (!exact || whole));

}  // namespace tile

#else

#ifndef UNROLL
#define UNROLL 2
#endif
#ifndef VECTOR_BYTES
#ifdef __AVX512F__
#define VECTOR_BYTES 64
#else
#define VECTOR_BYTES 32
#endif
#endif
#ifndef PREFETCH
#define PREFETCH 0
#endif
#ifndef PREFETCH_ROWS
#define PREFETCH_ROWS 0
#endif
#ifndef STREAMING_STORES
#define STREAMING_STORES 0
#endif

namespace tile {

constexpr int unroll = UNROLL;
constexpr int lanes = VECTOR_BYTES / 4;
constexpr int prefetch_bytes = PREFETCH;
constexpr int prefetch_rows = PREFETCH_ROWS, rows_by_halves = 1, rows_beside = 2;
constexpr bool streaming_stores = STREAMING_STORES != 0;

static_assert(unroll >= 1 && prefetch_bytes >= 0 && prefetch_rows >= 0 && prefetch_rows <= rows_beside);
static_assert(lanes == 4 || lanes == 8 || lanes == 16, "VECTOR_BYTES is 16, 32 or 64");

}  // namespace tile

#endif
