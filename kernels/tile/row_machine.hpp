// A program of a launch over the rows of a matrix: a machine that knows the rows.
#pragma once

#include "kernels/tile/arguments.hpp"
#ifdef __CUDACC__
#include "kernels/tile/cuda_machine.hpp"
#else
#include "kernels/tile/cpu_machine.hpp"
#endif

namespace tile {

class RowMachine : public Machine {
 public:
  TILE_FN RowMachine(const Machine& machine, Rows rows) : Machine(machine), rows_(rows) {}

  TILE_FN std::int64_t columns() const { return rows_.columns; }

  // Sums over the program's rows, in its own row of `partials` (programs x columns); none where they are not present.
  TILE_FN auto own_sums(float* partials, bool present = true) const {
    return accumulator(partials + program() * columns(), present ? columns() : 0);
  }

  // body(block) for the program's rows; for_rows(coming, body) where it says what its bodies load first.
  template <class... Body>
  TILE_FN void for_rows(Body... body) {
    Machine::for_rows(rows_.count, rows_.per_program, rows_.columns, body...);
  }

 private:
  Rows rows_;
};

template <auto Program, class... A>
TILE_FN void over_rows(Machine& machine, Rows rows, A... a) {
  RowMachine of_rows(machine, rows);
  Program(of_rows, a...);
}

// The entry of a program on either machine.
template <class M, auto Program, class... A>
struct EntryOn : MachineEntry<Program> {};
template <auto Program, class... A>
struct EntryOn<RowMachine, Program, A...> : MachineEntry<&over_rows<Program, A...>> {};
template <auto Program>
struct Entry;
template <class M, class... A, void (*Program)(M&, A...)>
struct Entry<Program> : EntryOn<M, Program, A...> {};

}  // namespace tile
