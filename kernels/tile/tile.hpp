// The vocabulary that kernels are written in: a program sees rows and an element index, never a thread or a register.
// A program is a function of a machine and its arguments: tile::RowMachine for a launch over the rows of a matrix, otherwise
// tile::Machine. Arguments are matrices, pointers, numbers, and structs of these (arguments.hpp) where there are many.
//   block.load(matrix)                      rows of a matrix (tile::Matrix, or pointer and stride), to be read as tile[e]
//   block.keep(tile)                        the same rows once they were read: on the chip
//   block.sum([&](auto e) { ... })          a sum over the columns, one value for each row
//   block.sum_then(f, [&](const auto& block, const auto& sum) { ... })
//                                           the same, and what is done with it, on the block that is handed in: a CPU may sum
//                                           the next rows beside its map. What comes before it in a body may be done twice
//                                           and must not write; after it comes nothing
//   block.map([&](auto e) { ... }, to...)   a value for each element, stored or added to an accumulator
//   block.sums([&](auto e) { ... })         several sums in one reading: the map's tile::results, as .of[k]
//   block.max([&](auto e) { ... })          the largest value of each row
//   block.exp_sum([&](auto e) { ... })      the largest value of each row and the sum of e^(value - largest), in one reading
//   block.first_column_of(value, f)         the first column where f(e) is the row's value
//   block.each_row / each_index(f)          f(row) for each row, a float or an integer: column[row], indices[row]
//   block.load_column / load_indices(v)     one value, one label for each row; store_column, store_indices
//   block.gather(tile or row, indices)      the element of each row at the row's label (in memory: a reduction must come
//                                           before the row is overwritten)
//   indices.marks(e)                        where the element's column is its row's label
//   tile::subtract_at(v, indices, e, x)     v, less x where the element's column is its row's label
//   tile::exp_of_difference(v, x)           e^(v - x), x a value of the row
//   block.any([&](int row) { ... })         a condition that holds for any row of the block: what may be branched on
//   select(condition, a, b)                 a where a comparison of elements or of rows' values holds
//   tile::constant(number)                  a number as an element's value
//   block.load / rows_of(matrix, place)     the same where the block's row is row place(row) of the matrix
//   machine.row(vector, columns)            one row shared by all rows: indexed by the element's column
//   machine.accumulator(memory, columns)    sums over rows that live across the blocks of a program
//   machine.total(), block.sum_into(total)  one sum over everything a program visits; machine.store_total(address, total)
//   machine.numbers(labels), gather(row, numbers[e], count), machine.scalar(address)
//   machine.for_rows([&](auto block) { ... })   a RowMachine's blocks of rows, machine.columns() elements long
//   machine.for_rows(tile::coming_rows(matrix, fact, wanted), body)   says which rows the bodies' first load is of, and of
//                                           which: wanted(fact(row)), a fact being an integer that memory holds of a row,
//                                           which block.facts(coming) gives; nothing may follow the walk
//   machine.one_row(columns); machine.for_stretch(count, per_program, [&](auto block, auto first) { ... }) over a vector
// A tile, a row and a column (one value for each row) are all indexed by the element, which broadcasts them.
// What the element index is, a vector of one core or a register of a thread, only the machine's header knows, and which rows
// a program has: all programs together have all, each once.
#pragma once

#include "kernels/tile/row_machine.hpp"
