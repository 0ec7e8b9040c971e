// The settings a tile program is compiled with, as defines; each has a default, so that every header also compiles alone.
//   BLOCK_ROW         rows that one block of a program works on together: row vectors and accumulators are read once for all
//   UNROLL            vectors in flight of each row: independent accumulators of a reduction, unrolled stores of a map
//   VECTOR_BYTES      bytes of one vector of fp32 values
//   PREFETCH          bytes ahead of the current element that are prefetched where a tile is read first; 0: hardware alone
//   PREFETCH_ROWS     1: the next block's rows are prefetched while this one's are worked on
//   STREAMING_STORES  1: results bypass the caches (no read for ownership)
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
#ifndef TILE_ABLATION
#define TILE_ABLATION 0
#endif

namespace tile {

constexpr int block_row = BLOCK_ROW;
constexpr int unroll = UNROLL;
constexpr int lanes = VECTOR_BYTES / 4;
constexpr int prefetch_bytes = PREFETCH;
constexpr bool prefetch_rows = PREFETCH_ROWS != 0;
constexpr bool streaming_stores = STREAMING_STORES != 0;
constexpr bool no_compute = TILE_ABLATION == 1;
constexpr bool no_memory = TILE_ABLATION == 2;

static_assert(block_row >= 1 && unroll >= 1 && prefetch_bytes >= 0);
static_assert(lanes == 4 || lanes == 8 || lanes == 16, "VECTOR_BYTES is 16, 32 or 64");

}  // namespace tile
