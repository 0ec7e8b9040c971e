// Blocks of rows that are worked on beside each other: while one is mapped, the next is summed.
//
// A row that is summed and then mapped keeps a core's reads waiting for its writes: during the sum nothing is stored, and during
// the map nothing is read, unless the next rows are prefetched; then the sum still stores nothing. Here each step of a map is
// followed by a step of the next block's sum, whose rows were prefetched a block before: reads and writes alternate line by
// line, as they do in a copy.
//
// The body of a loop over rows is entered twice for each block. The first time, from within the block before it, it gets as far
// as its sum_then, which holds what is to be summed: there the block before it is mapped, and the sum is done beside it. The
// second time the sum is there, and its sum_then enters the body for the block after it. So everything that a body refers to
// is alive where it is used, and a body that has no sum_then is run once for each block, as without all this.
#pragma once

#include "kernels/tile/cpu_block.hpp"

namespace tile {

// The sums of a program's present block, once they were done beside the one before it.
template <int R>
struct SumsBeside {
  Column<R> sums;
  bool done;
};

// A block as the one that follows: `Pending` maps the block before it.
template <int R, class Pending>
class NextBlock : public Block<R> {
 public:
  TILE_FN NextBlock(const Block<R>& block, Pending& pending, SumsBeside<R>& sums)
      : Block<R>(block), pending_(&pending), sums_(&sums) {}

  template <class F, class Rest>
  TILE_FN void sum_then(F f, Rest) const {
    RunningSum<R, unroll, F> sum(0, this->columns(), f);
    (*pending_)(sum);
    *sums_ = {sum.finish(), true};
  }

 private:
  Pending* pending_;
  SumsBeside<R>* sums_;
};

// A block whose map is done beside the sum of the next one. Body: that of the loop over rows.
template <int R, class Body>
class PresentBlock : public Block<R> {
 public:
  TILE_FN PresentBlock(const Block<R>& block, const Block<R>& next, Body& body, SumsBeside<R>& sums)
      : Block<R>(block), next_(&next), body_(&body), sums_(&sums) {}

  template <class F, class Rest>
  TILE_FN void sum_then(F f, Rest rest) const {
    const Column<R> sums = sums_->done ? sums_->sums : this->sum(f);
    auto pending = [&](auto& sum) TILE_LAMBDA { rest(this->beside(sum), sums); };
    (*body_)(NextBlock<R, decltype(pending)>(*next_, pending, *sums_));
  }

 private:
  const Block<R>* next_;
  Body* body_;
  SumsBeside<R>* sums_;
};

// body(block) for the blocks of R rows from `first` to `last`; place(row): where a row is to be found. The last block is its
// own next one: its rows are summed again from the caches, for nothing, rather than compiled for a third time.
template <int R, class Place, class Body>
TILE_FN void rows_beside_each_other(std::int64_t first, std::int64_t last, std::int64_t columns, char* ring,
                                    Place place, Body& body) {
  SumsBeside<R> sums{};
  for (std::int64_t row = first; row < last; row += R) {
    const std::int64_t next = row + R < last ? row + R : row;
    body(PresentBlock<R, Body>(Block<R>(place(row), columns, ring), Block<R>(place(next), columns, ring), body, sums));
  }
}

}  // namespace tile
