// Keeps a row that is too long for its threads' registers on the chip: in chunks of a circular shared-memory buffer (a ring) that
// a producer warp fills by bulk copies (compute capability 9.0 and later). Memory is read once, however often the program reads
// the row, and the chunks of the next rows are in flight while one is computed.
//
// Chunk c of a row is `row_threads * vectors` vectors. Each slot has two barriers: `full` counts the bytes that arrive, `empty`
// the warps that have read it for the last time. Where a row has more chunks than the ring has slots, a thread keeps its vectors
// of the first chunks in registers, so that their slots are filled again at the first reading; the map that ends the row
// releases those of the others.
//
// The hazards: only its own threads read a slot before they release it, and the producer warp waits for all warps; the rows that
// it reads ahead are never those which the map writes.
#pragma once

#include "kernels/tile/coming_rows.hpp"
#include "kernels/tile/cuda_group.hpp"

namespace tile {

// Waits until the phase of that parity of a barrier in shared memory has ended.
TILE_FN void wait_for_phase(std::uint32_t barrier, int parity) {
  asm volatile(
      "{\n"
      ".reg .pred arrived;\n"
      "again: mbarrier.try_wait.parity.shared.b64 arrived, [%0], %1;\n"
      "@!arrived bra again;\n"
      "}"
      :
      : "r"(barrier), "r"(parity)
      : "memory");
}

class RowRing {
 public:
  static constexpr int slots = ring_slots, chunks = row_chunks;
  static constexpr int kept_chunks = chunks > slots ? chunks - slots : 0;
  static constexpr int chunk_vectors = row_threads * vectors;
  static constexpr int most_slots = slots > 0 ? slots : 1, most_kept = kept_chunks > 0 ? kept_chunks : 1;
  static_assert(chunks <= 2 * most_slots || slots == 0, "a row may go round the ring at most twice");

  // Before the first row, by all threads of the block.
  static TILE_FN void start() {
    if (threadIdx.x == 0) {
      for (int s = 0; s < slots; ++s) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" : : "r"(full(s)) : "memory");
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(empty(s)), "n"(NUM_WARPS) : "memory");
      }
      asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
    }
    __syncthreads();
  }

  // The filling warp: all wanted rows first, first + step, ... below end, of `row_vectors` vectors each.
  template <class T, class Fact, class Wanted>
  static TILE_FN void fill(const ComingRows<T, Fact, Wanted>& rows, std::int64_t first, std::int64_t step,
                           std::int64_t end, int row_vectors) {
    static_assert(sizeof(T) == sizeof(ELEMENT));
    if (threadIdx.x % 32 != 0) return;
    int slot = 0, phase = 1;  // a wait for the phase before the first passes at once
    std::int64_t next_fact = rows.fact(first < end ? first : 0);
    for (std::int64_t row = first; row < end; row += step) {
      const std::int64_t fact = next_fact;
      next_fact = rows.fact(row + step < end ? row + step : row);  // on its way while the slots are waited for
      if (!rows.wanted(fact)) continue;
      const T* from = rows.matrix.data + (no_memory ? row % 128 : row) * rows.matrix.stride;
#pragma unroll 1
      for (int c = 0; c < chunks; ++c) {
        wait_for_phase(empty(slot), phase);
        const int left = row_vectors - c * chunk_vectors;
        const int bytes = (left < chunk_vectors ? left : chunk_vectors) * 16;
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" : : "r"(full(slot)), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     :
                     : "r"(address(vectors_of(slot))),
                       "l"(__cvta_generic_to_global(from + std::int64_t(c) * chunk_vectors * lanes)), "r"(bytes),
                       "r"(full(slot))
                     : "memory");
        if (++slot == slots) slot = 0, phase ^= 1;
      }
    }
  }

  // The other warps, of each row in turn. `coming`: the ring is filled with this row, because of `fact`.
  TILE_FN void begin_row(bool coming, std::int64_t fact, int row_vectors) {
    coming_ = coming;
    fact_ = fact;
    loaded_ = false;
    ended_ = false;
    readings_ = 0;
    row_vectors_ = row_vectors;
  }
  // A load of the body: whether it is the one that the ring brings in. It must be of a wanted row: the wait for another one
  // would have no end. Known at compile time, so that a tile is in the ring or in memory and never asked which.
  TILE_FN bool load() {
    if (loaded_) return false;
    return loaded_ = true;
  }
  TILE_FN std::int64_t fact() const { return fact_; }
  TILE_FN bool is_loaded() const { return slots > 0 && loaded_; }

  // A reading of the row begins: of its chunks one after another.
  TILE_FN void begin_reading() { place(readings_ == 0 ? 0 : kept_chunks, slot_, phase_); }
  // Chunk c as this thread's vectors `now`; at the last reading its slot is released. `Whole`: it is not the row's last one,
  // of which there may be less.
  template <bool Whole>
  TILE_FN void fetch(int c, bool last) {
    const bool first = readings_ == 0;
    if (c < kept_chunks && !first) {
#pragma unroll
      for (int u = 0; u < vectors; ++u) now_[u] = kept_[c < kept_chunks ? c : 0][u];
      return;
    }
    const int slot = slot_;
    if (first) wait_for_phase(full(slot), phase_);
    if (++slot_ == slots) slot_ = 0, phase_ ^= 1;
    const uint4* from = vectors_of(slot);
#pragma unroll
    for (int u = 0; u < vectors; ++u) {
      if (!Whole && !has(c, u)) continue;
      const uint4 q = from[u * row_threads + lane()];
      now_[u].words[0] = q.x, now_[u].words[1] = q.y, now_[u].words[2] = q.z, now_[u].words[3] = q.w;
      if (c < kept_chunks) kept_[c < kept_chunks ? c : 0][u] = now_[u];
    }
    if (last || c < kept_chunks) give_back(slot);
  }
  TILE_FN void end_reading(bool last) {
    ++readings_;
    ended_ = ended_ || last;
  }
  // Whether vector u of chunk c is a part of the row.
  TILE_FN bool has(int c, int u) const { return c * chunk_vectors + u * row_threads + lane() < row_vectors_; }
  template <class T>
  TILE_FN Raw<T> now(int u) const {
    Raw<T> raw;
#pragma unroll
    for (int i = 0; i < Raw<T>::count; ++i) raw.words[i] = now_[u].words[i];
    return raw;
  }

  // A row is done: what the body left in the ring is released.
  TILE_FN void finish_row() {
    if (!coming_) return;
    if (!ended_) {
#pragma unroll 1
      for (int c = readings_ == 0 ? 0 : kept_chunks; c < chunks; ++c) {
        int slot = 0, phase = 0;
        place(c, slot, phase);
        if (readings_ == 0) wait_for_phase(full(slot), phase);
        give_back(slot);
      }
    }
    place(chunks, first_slot_, first_phase_);
  }

 private:
  static TILE_FN std::uint32_t address(const void* p) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
  }
  static TILE_FN std::uint32_t barriers() {
    __shared__ std::uint64_t all[2 * most_slots];
    return address(all);
  }
  static TILE_FN std::uint32_t full(int slot) { return barriers() + slot * 16; }
  static TILE_FN std::uint32_t empty(int slot) { return barriers() + slot * 16 + 8; }
  static TILE_FN uint4* vectors_of(int slot) {
    return reinterpret_cast<uint4*>(dynamic_shared()) + slot * chunk_vectors;
  }
  // By each warp, once all its threads have read.
  static TILE_FN void give_back(int slot) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
      asm volatile("mbarrier.arrive.shared.b64 _, [%0];" : : "r"(empty(slot)) : "memory");
    }
  }
  // The slot of the row's chunk c, and the parity of its phase: at most two rounds after the row's first.
  TILE_FN void place(int c, int& slot, int& phase) const {
    int at = first_slot_ + c, round = first_phase_;
    if (at >= 2 * slots) {
      at -= 2 * slots;
    } else if (at >= slots) {
      at -= slots, round ^= 1;
    }
    slot = at, phase = round;
  }

  bool coming_ = false, loaded_ = false, ended_ = false;
  int readings_ = 0, row_vectors_ = 0;
  std::int64_t fact_ = 0;
  int first_slot_ = 0, first_phase_ = 0;  // of the row
  int slot_ = 0, phase_ = 0;              // of the next chunk that is fetched
  Raw<ELEMENT> now_[vectors];
  Raw<ELEMENT> kept_[most_kept][vectors];
};

}  // namespace tile
