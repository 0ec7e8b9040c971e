// A Python script of its own that runs an operator's passes on the inputs hone measures it with: for Nsight Compute, hone's
// own capture and a user's alike. It needs the operator's sources and packages, nothing of hone.
#pragma once

#include <string>
#include <vector>

#include "counters/ncu.hpp"
#include "repository/python/cases.hpp"
#include "repository/python/context.hpp"
#include "repository/python/worker.hpp"

namespace hone::repository::python {

// Inputs are built and every pass is run once before torch.cuda.profiler.start(), so that compilation, an autotuner's trials
// and PyTorch's own kernels stay out of a capture with --profile-from-start off. `by_hand` is shown in its first lines.
std::string reproduction_script(const WorkerSetup& setup, const CaseSpec& spec, const std::vector<std::string>& passes,
                                const std::string& by_hand);

// The capture of that script at `path`: the operator's own kernels, one launch of each configuration, no warm-up to skip.
counters::CaptureRequest reproduction_capture(const std::string& python, const std::string& path,
                                              const std::vector<std::string>& kernels);

// Counters of the operator's passes at the largest size, by that script, which stays beside the scratch folder.
base::Result<model::Counters> capture_counters(const Context& context, const OperatorSource& source, const Cases& cases,
                                               const std::string& device);

}  // namespace hone::repository::python
