// The counter-free experiments: each changes one thing and times the pass against itself.
#pragma once

#include <string>
#include <vector>

#include "model/device_info.hpp"
#include "repository/launch/operation.hpp"

namespace hone::repository::launch {

struct Change {
  std::string name;
  std::string parameter;  // "threads=1"; empty where the name says it all
  std::string sentence;   // "{mode} at {x}: {sentence} it takes {ratio} of its time"
  Ablation ablation = Ablation::none;
  bool one_worker = false;
  model::Settings settings = {};  // in place of those in force; empty: those
  std::int64_t x = 0;             // in place of the size; 0: that size
};

// Those that mean something whatever the kernel: without arithmetic or memory traffic where the program can be ablated; with one
// worker on a CPU of several cores. A GPU's blocks keep their threads, without which the program is another one.
std::vector<Change> changes_on(const model::DeviceInfo& device, bool can_ablate);

// On a GPU: the pass with half and with twice the warps of a program on the same rows, as far as its settings allow them.
std::vector<Change> warp_changes(const model::DeviceInfo& device, const Problem& problem, const std::string& pass,
                                 const model::Settings& settings);

// The pass at a smaller size: what of the time does not go with the work.
Change size_change(const std::string& x_name, const Problem& problem, const Problem& smaller, const std::string& pass);

}  // namespace hone::repository::launch
