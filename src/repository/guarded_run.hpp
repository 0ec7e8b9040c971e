// One pass on poisoned outputs between guard bands, run twice: what it wrote, what it must not have touched, and whether it
// does the same again. Every numerics gate that launches kernels itself stands on this.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"
#include "measure/numerics.hpp"
#include "repository/resident_tensors.hpp"

namespace hone::repository {

struct CaseResult {
  std::string kernel, mode, dtype, shape, label;
  double error = 0, bound = 0;  // of the worst element, relative to its own bound: error <= bound passes
  bool passed = false;
  std::map<std::string, measure::Deviation> deviations;  // by output
  std::string failure;                                   // tensor, element, value, reference; or what else went wrong
};

struct GuardedTensor {
  measure::TensorShape shape;
  std::optional<std::vector<double>> values;  // before the pass; none: poison
  bool output = false;                        // judged: each element must be written
  bool may_change = false;                    // an input that the pass overwrites, or scratch
};

// Launches bound to the memory they are given, with what must live as long. `poison`: fills their own scratch with NaNs.
struct BoundLaunches {
  std::vector<device::Launch> launches;
  std::shared_ptr<void> owned;
  std::function<base::Result<void>()> poison;
};

struct GuardedOutcome {
  std::string fault;  // it crashed, hung, or touched what is not its own, named by tensor; then nothing else is known
  std::string unsteady;  // two runs on the same inputs differ: where
  std::map<std::string, std::vector<double>> outputs;
};

// `misaligned_bytes`: how far the bases are from a 256-byte boundary. An error means that it could not be tried at all.
base::Result<GuardedOutcome> run_guarded(device::Device& device, const std::map<std::string, GuardedTensor>& tensors,
                                         std::size_t misaligned_bytes,
                                         const std::function<base::Result<BoundLaunches>(const TensorViews&)>& bind);

}  // namespace hone::repository
