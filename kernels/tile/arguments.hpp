// Structs as arguments of kernels, from one definition for the host and the kernel.
//
// Arguments are slots of 8 bytes, one after another: pointers, integers, floats. A struct of them is a template over what is in a
// slot, with alignas(8) where that is narrower:
//   template <template <class> class Slot, class T>
//   struct Scaling { Slot<T*> out; Slot<const T*> in; Slot<std::int64_t> count; alignas(8) Slot<float> factor; };
// A kernel takes a Scaling<tile::Value, T>, the values. The host fills a Scaling<kernels::Given, void> by name with tensors and
// numbers (kernels/catalog/arguments.hpp).
#pragma once

#ifdef __CUDACC__
#include "kernels/tile/cuda_pack.hpp"
#else
#include <cstdint>
#endif

namespace tile {

template <class T>
using Value = T;

// What an argument is where a program takes it as A: by reference where it is large, so that it is copied once for all programs of
// a core.
template <class A>
struct ArgumentOf {
  using type = A;
};
template <class A>
struct ArgumentOf<const A&> {
  using type = A;
};

// A matrix whose rows are `stride` elements apart.
template <template <class> class Slot, class T>
struct MatrixOf {
  Slot<T*> data;
  Slot<std::int64_t> stride;
};
template <class T>
using Matrix = MatrixOf<Value, T>;

// What a launch over the rows of a matrix has ahead of its other arguments: how many rows there are, how many a program has, and
// how long they are.
template <template <class> class Slot>
struct RowsOf {
  Slot<std::int64_t> count, per_program, columns;
};
using Rows = RowsOf<Value>;

// The sum of the rows of `partial`, each `columns` long: a gradient that programs have summed up each for itself. A null pointer
// and no columns: there is none.
template <template <class> class Slot, class T>
struct ColumnSumOf {
  Slot<T*> output;
  Slot<const float*> partial;
  Slot<std::int64_t> columns;
};
template <class T>
using ColumnSum = ColumnSumOf<Value, T>;

}  // namespace tile
