// What a program says of its rows before it walks over them, so that a machine can bring them in.
#pragma once

#include "kernels/tile/arguments.hpp"
#ifndef __CUDACC__
#include "kernels/tile/pack.hpp"
#endif

namespace tile {

// A matrix whose rows a body loads first, and which of them it does load: `wanted(fact(row))`. The fact is an integer that
// memory holds of a row; a machine may ask for it long before it needs the answer, and block.facts(coming) gives them to the body.
template <class T, class Fact, class Wanted>
struct ComingRows {
  Matrix<T> matrix;
  Fact fact;
  Wanted wanted;
};
template <class T, class Fact, class Wanted>
TILE_FN ComingRows<T, Fact, Wanted> coming_rows(Matrix<T> matrix, Fact fact, Wanted wanted) {
  return {matrix, fact, wanted};
}

}  // namespace tile
