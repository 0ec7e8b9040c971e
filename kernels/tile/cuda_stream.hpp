// Bulk copies: the operands of the next NUM_STAGES blocks of rows are under way into shared memory while one is worked on, so
// that no thread holds registers for loads in flight (compute capability 9.0 and later; elsewhere nothing here is used).
//
// The copy of a group of threads for operand k of stage s has a slot of shared memory and a barrier of its own. One thread
// starts it and announces its bytes; every thread waits until they have arrived. A slot may be filled again once every thread
// of the group has read it: after the group's next barrier, usually that of a reduction.
#pragma once

#include "kernels/tile/cuda_ring.hpp"

namespace tile {

class Stream {
 public:
  RowRing ring;  // of rows in chunks, which have no slots here

  static constexpr int slots = stages * streamed_operands * block_row;
  static constexpr int slot_bytes = row_threads * vectors * 16;
  static constexpr int most_columns = 4;  // that a body reads with load_column

  // Before the first copy, by all threads.
  TILE_FN void start() {
    if constexpr (stages > 0) {
      if (threadIdx.x == 0) {
        for (int i = 0; i < slots; ++i) {
          asm volatile("mbarrier.init.shared.b64 [%0], 1;" : : "r"(barrier(0) + i * 8) : "memory");
        }
        asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
      }
      __syncthreads();
    }
  }

  // A walk over rows first, first + step, ... below end begins.
  TILE_FN void begin(std::int64_t step, std::int64_t end) {
    step_ = step;
    end_ = end;
    is_first_ = true;
  }
  // `active`: the row exists.
  TILE_FN void begin_row(std::int64_t row, bool active) {
    row_ = row;
    active_ = active;
    loaded_ = 0;
    pending_ = 0;
    columns_ = 0;
  }

  // Whether the next load of the row comes through shared memory: a fact at compile time, once loads are inlined.
  template <class T>
  TILE_FN bool takes_next() const {
    return stages > 0 && sizeof(T) == sizeof(ELEMENT) && loaded_ < streamed_operands;
  }

  // The next operand of the row: waits for its copy and reads this thread's vectors.
  template <class T>
  TILE_FN void read(const T* matrix, std::int64_t stride, std::int64_t columns, Raw<T> (&raw)[vectors]) {
    const int k = loaded_++;
    const bool present_row = active_ && matrix != nullptr;
    source_[k] = reinterpret_cast<const char*>(matrix);
    stride_bytes_[k] = stride * std::int64_t(sizeof(T));
    bytes_ = static_cast<std::uint32_t>(columns * sizeof(T));
    pending_ |= 1 << k;
    if (is_first_) {
      for (int s = 0; s < stages; ++s) copy(k, s, row_ + s * step_);
    }
    if (present_row) wait_for_phase(barrier(slot(k, stage_)), phase_);
    const unsigned char* from = dynamic_shared() + slot(k, stage_) * slot_bytes + lane() * 16;
#pragma unroll
    for (int u = 0; u < vectors; ++u) {
      const bool present = present_row && (exact || (u * row_threads + lane()) * lanes < columns);
      const uint4 q = present ? *reinterpret_cast<const uint4*>(from + u * row_threads * 16) : make_uint4(0, 0, 0, 0);
      raw[u].words[0] = q.x;
      raw[u].words[1] = q.y;
      raw[u].words[2] = q.z;
      raw[u].words[3] = q.w;
    }
  }

  // The row's value in the next column of fp32 values that the body reads: asked for when the row ahead of it asked for its own,
  // so that no row waits for memory. Wrong for a column that a body reads under a condition.
  TILE_FN float next_column(const float* values) {
    const auto value = [&](std::int64_t row) { return row < end_ ? values[row] : 0.0f; };
    const int k = columns_++;
    const float now = is_first_ ? value(row_) : column_[k];
    column_[k] = value(row_ + step_);
    return now;
  }

  // After a barrier of the group: the slots read so far are filled for the row NUM_STAGES steps ahead.
  TILE_FN void release() {
    if constexpr (stages > 0) {
#pragma unroll
      for (int k = 0; k < streamed_operands; ++k) {
        if (pending_ & (1 << k)) copy(k, stage_, row_ + stages * step_);
      }
      pending_ = 0;
    }
  }

  // A row is done: by every thread of the group.
  TILE_FN void finish_row() {
    if constexpr (stages > 0) {
      if (loaded_ == 0) return;
      if (pending_ != 0) {
        group_barrier();
        release();
      }
      is_first_ = false;
      stage_ = stage_ + 1 == stages ? 0 : stage_ + 1;
      phase_ ^= stage_ == 0;
    }
  }

 private:
  static TILE_FN std::uint32_t shared_address(const void* p) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
  }
  static TILE_FN std::uint32_t barrier(int slot) {
    __shared__ std::uint64_t barriers[slots > 0 ? slots : 1];
    return shared_address(barriers) + slot * 8;
  }
  static TILE_FN int slot(int k, int stage) { return (stage * streamed_operands + k) * block_row + group(); }

  // Starts the copy of a row that exists, by one thread of the group.
  TILE_FN void copy(int k, int stage, std::int64_t row) {
    if (lane() != 0 || row >= end_ || source_[k] == nullptr) return;
    const int to = slot(k, stage);
    const std::int64_t from_row = no_memory ? row % 128 : row;
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" : : "r"(barrier(to)), "r"(bytes_) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :
                 : "r"(shared_address(dynamic_shared()) + to * slot_bytes),
                   "l"(__cvta_generic_to_global(source_[k] + from_row * stride_bytes_[k])), "r"(bytes_),
                   "r"(barrier(to))
                 : "memory");
  }
  std::int64_t step_ = 0, end_ = 0, row_ = 0;
  bool is_first_ = true, active_ = true;
  int stage_ = 0, phase_ = 0;
  int loaded_ = 0, pending_ = 0, columns_ = 0;
  float column_[most_columns] = {};
  std::uint32_t bytes_ = 0;
  const char* source_[streamed_operands > 0 ? streamed_operands : 1] = {};
  std::int64_t stride_bytes_[streamed_operands > 0 ? streamed_operands : 1] = {};
};

}  // namespace tile
