// What this GPU can do at most, measured with small programs compiled, launched and timed as kernels are.
#pragma once

#include <memory>

#include "base/clock.hpp"
#include "device/cuda/compiler.hpp"
#include "device/cuda/session.hpp"
#include "device/cuda/stopwatch.hpp"
#include "device/device.hpp"
#include "model/device_info.hpp"

namespace hone::device::cuda {

struct CeilingParts {
  std::shared_ptr<GpuSession> session;
  Stopwatch& stopwatch;  // prepared
  const CudaCompiler& compiler;
  Capability capability;
  const model::DeviceInfo& info;
  base::FileSystem& files;
};

// Names as in model::Ceilings. A ceiling that can not be measured is left out, with a note. See ceilings.cpp for each one's
// program and the choice of shapes.
base::Result<model::Ceilings> measure_ceilings(const CeilingParts& parts, const CeilingOptions& options,
                                               base::Clock& clock);

// See Device::ceiling_programs and Device::measure_cache_size.
base::Result<std::unique_ptr<CeilingPrograms>> programs_beside(const CeilingParts& parts,
                                                               const model::Ceilings& ceilings);
base::Result<std::int64_t> measure_cache_size(const CeilingParts& parts, const CeilingOptions& options,
                                              base::Clock& clock);

// The matrix rates, through cuBLASLt. Adds to `result`; where the library is missing a note says so.
void measure_matrix_rates(const CeilingParts& parts, const CeilingOptions& options, model::Ceilings& result);

// 20, 50 and 80 % quantiles.
model::Ceiling summarize(std::vector<double> values);

}  // namespace hone::device::cuda
