// One pass on poisoned outputs between guard bands, run twice: what it wrote, what it must not have touched, and whether it
// does the same again. Every numerics gate that launches kernels itself stands on this.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "measure/numerics.hpp"
#include "repository/launch/bound_plan.hpp"

namespace hone::repository::launch {

struct GuardedTensor {
  measure::TensorShape shape;
  std::optional<std::vector<double>> values;  // before the pass; none: poison
  bool output = false;                        // judged: each element must be written
  bool may_change = false;                    // an input that the pass overwrites, or scratch
};

struct GuardedOutcome {
  std::string fault;  // it crashed, hung, or touched what is not its own, named by tensor; then nothing else is known
  bool hung = false;
  std::string unsteady;  // two runs on the same inputs differ: where
  std::map<std::string, std::vector<double>> outputs;
};

// `misaligned_bytes`: how far the bases are from a 256-byte boundary. An error means that it could not be tried at all.
base::Result<GuardedOutcome> run_guarded(device::Device& device, const std::map<std::string, GuardedTensor>& tensors,
                                         std::size_t misaligned_bytes,
                                         const std::function<base::Result<BoundLaunches>(const TensorViews&)>& bind);

}  // namespace hone::repository::launch
