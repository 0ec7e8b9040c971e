// Built-in kernels against double precision: which problems are tried, and what is checked on each.
//
// Every case runs twice on poisoned outputs between guard bands: an element that keeps the poison was not written, one that
// differs between the runs is not deterministic.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"
#include "kernels/catalog/operation.hpp"
#include "measure/numerics.hpp"
#include "model/variant.hpp"
#include "repository/guarded_run.hpp"

namespace hone::repository::native {

struct VerificationCase {
  kernels::Problem problem;
  std::size_t misaligned_bytes = 0;  // how far the bases are from a 64-byte boundary
  std::string label;                 // "33 x 1000 fp32 casting_mode=gemma, rows padded by 3"
};

enum class Extent { smoke, full };

// The matrix of problems. smoke: few small shapes of one dtype and these options. full: odd, prime, one, empty, strided,
// misaligned and large shapes for every dtype, and every combination of options at some of them.
std::vector<VerificationCase> cases(const kernels::Operation& operation, Extent extent,
                                    const std::vector<kernels::DType>& dtypes, const kernels::Options& options,
                                    const std::vector<std::int64_t>& columns);

// How a variant is launched: its plan for a pass of a problem, and its program.
struct Implementation {
  std::function<kernels::Plan(kernels::Pass, const kernels::Problem&)> plan;
  std::function<base::Result<std::shared_ptr<device::Program>>(const kernels::Plan&, kernels::Pass)> program;
};

// Runs forward and backward of one case. A crash, a hang and a wrong result are results; an Error means that the case could
// not be tried (out of memory, no compiler).
base::Result<std::vector<CaseResult>> verify(device::Device& device, const kernels::Operation& operation,
                                             const VerificationCase& which, const Implementation& implementation,
                                             std::uint64_t seed);

}  // namespace hone::repository::native
