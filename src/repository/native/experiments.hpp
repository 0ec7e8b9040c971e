// The counter-free experiments: each changes one thing and times the pass against itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/catalog/operation.hpp"

namespace hone::repository::native {

struct Change {
  std::string name;
  std::string parameter;  // "threads=1"; empty where the name says it all
  std::string sentence;   // "{mode} at {x}: {sentence} it takes {ratio} of its time"
  kernels::Ablation ablation = kernels::Ablation::none;
  bool one_worker = false;
  kernels::Settings settings = {};  // in place of those in force; empty: those
  std::int64_t x = 0;               // in place of the size; 0: that size
};

// Those that mean something on `target` whatever the kernel: a CPU's launch has workers to take away where it has several
// cores; a GPU's has the threads of a block, without which the program is another one.
std::vector<Change> changes_on(const kernels::Target& target);

// On a GPU: the pass with half and with twice the warps of a program on the same rows, as far as its settings allow them.
std::vector<Change> warp_changes(const kernels::Operation& operation, kernels::Pass pass,
                                 const kernels::Settings& settings, const kernels::Problem& problem,
                                 const kernels::Target& target);

// The pass at a smaller size: what of the time does not go with the work.
Change size_change(const kernels::Operation& operation, kernels::Pass pass, const kernels::Problem& problem,
                   const kernels::Problem& smaller);

}  // namespace hone::repository::native
