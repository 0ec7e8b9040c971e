// A kernel against its reference in double precision, or against the kernel in force where there is none.
//
// Every case runs twice on poisoned outputs between guard bands: an element that keeps the poison was not written, one that
// differs between the runs is not deterministic.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "measure/numerics.hpp"
#include "repository/launch/launcher.hpp"

namespace hone::repository::launch {

struct CaseResult {
  std::string kernel, mode, dtype, shape, label;
  double error = 0, bound = 0;  // of the worst element, relative to its own bound: error <= bound passes
  bool passed = false;
  std::string failure;  // tensor, element, value, reference; or what else went wrong
  bool hung = false;    // it did not end: whatever else is tried of this kernel may cost as long
};

struct VerifiedCase {
  CaseResult result;
  std::string worse;  // than the original on the same inputs; empty where it is not, or not known
};

struct Verification {
  device::Device& device;
  const Operation& operation;
  Bind candidate;
  Bind original;  // none: the candidate is the original
};

// Each pass of one problem, on what the pass before left; none after one that hung. A crash, a hang and a wrong result are results; an error means that it
// could not be tried (out of memory, no compiler).
base::Result<std::vector<VerifiedCase>> verify(const Verification& verification, const Problem& problem,
                                               std::uint64_t seed);

}  // namespace hone::repository::launch
