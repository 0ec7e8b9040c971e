#include "device/cuda/parts.hpp"

#include <array>

#include <fmt/format.h>

#include "device/cuda/cublas_lt.hpp"
#include "device/cuda/driver_api.hpp"

namespace hone::device::cuda {

namespace {

void inspect_driver(CudaParts& parts) {
  auto driver = open_driver();
  if (!driver) {
    parts.driver.problem = driver.error().found;
    return;
  }
  int version = 0, count = 0;
  (void)(*driver)->driver_version(&version);
  const Status status = (*driver)->init(0);
  if (status == kSuccess) (void)(*driver)->device_count(&count);
  if (status != kSuccess || count == 0) {
    parts.driver.problem = status == kSuccess ? "the driver sees no GPU" : status_words(**driver, status);
    return;
  }
  parts.driver.found =
      fmt::format("CUDA {}.{}, {} GPU{}", version / 1000, version % 1000 / 10, count, count == 1 ? "" : "s");
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    DeviceHandle device = 0;
    std::array<char, 256> name{};
    Capability capability;
    if ((*driver)->device_get(&device, ordinal) != kSuccess) continue;
    (void)(*driver)->device_name(name.data(), name.size() - 1, device);
    (void)(*driver)->device_attribute(&capability.major, static_cast<int>(DeviceAttribute::compute_capability_major),
                                      device);
    (void)(*driver)->device_attribute(&capability.minor, static_cast<int>(DeviceAttribute::compute_capability_minor),
                                      device);
    parts.gpus.push_back(
        fmt::format("cuda:{} {} ({}, {})", ordinal, name.data(), architecture_name(capability), capability.text()));
  }
}

}  // namespace

CudaParts inspect_parts(const CompilerOptions& options, base::FileSystem& files) {
  CudaParts parts;
  inspect_driver(parts);
  if (auto compiler = CudaCompiler::open(options, files))
    parts.nvrtc.found = fmt::format("{} in {}", (*compiler)->version(), (*compiler)->path());
  else
    parts.nvrtc.problem = compiler.error().found;
  std::string words;
  if (open_shared_library("libnvidia-ml.so.1", words) != nullptr)
    parts.nvml.found = "libnvidia-ml.so.1";
  else
    parts.nvml.problem = words;
  parts.cublas_lt.found = find_cublas_lt(files, options.search, parts.cublas_lt.problem);
  return parts;
}

}  // namespace hone::device::cuda
