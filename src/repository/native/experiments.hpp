// The counter-free experiments: each changes one thing and times the pass against itself.
#pragma once

#include <vector>

#include "kernels/catalog/operation.hpp"

namespace hone::repository::native {

struct Change {
  const char* name;
  const char* parameter;
  const char* sentence;  // "{mode} at {x}: {sentence} it takes {ratio} of its time"
  kernels::Ablation ablation;
  bool one_worker;
};

// Those that mean something on `target`: a CPU's launch has workers to take away where it has several cores; a GPU's has the
// threads of a block, without which the program is another one.
std::vector<Change> changes_on(const kernels::Target& target);

}  // namespace hone::repository::native
