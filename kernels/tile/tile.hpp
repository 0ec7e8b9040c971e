// The vocabulary that kernels are written in: a program sees rows and an element index, never a thread or a register.
//   block.load(matrix, stride)              rows of a matrix, to be read as tile[e]
//   block.keep(tile)                        the same rows once they were read: on the chip
//   block.sum([&](auto e) { ... })          a sum over the columns, one value for each row
//   block.map([&](auto e) { ... }, to...)   a value for each element, stored or added to an accumulator
//   machine.row(vector, columns)            one row shared by all rows: indexed by the element's column
//   machine.accumulator(memory, columns)    sums over rows that live across the blocks of a program
//   machine.for_rows(rows, per_program, columns, [&](auto block) { ... })
// A tile, a row and a column (one value for each row) are all indexed by the element, which broadcasts them.
// What the element index is, a vector of one core or a register of a thread, only the machine's header knows, and which rows
// a program has: all programs together have all, each once.
#pragma once

#ifdef __CUDACC__
#include "kernels/tile/cuda_machine.hpp"
#else
#include "kernels/tile/cpu_machine.hpp"
#endif
