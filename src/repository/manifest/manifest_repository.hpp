// A user's own kernel, described by a manifest: CUDA C++ on a GPU, or C++ on the CPU.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/process.hpp"
#include "device/device.hpp"
#include "repository/manifest/manifest.hpp"
#include "repository/device_ceilings.hpp"
#include "repository/repository.hpp"

namespace hone::repository::manifest {

struct ManifestContext {
  device::Device& device;          // what runs the kernel
  device::Device* host = nullptr;  // a CPU, which runs the reference; may be `device` itself
  base::FileSystem& files;
  base::Clock& clock;
  base::Processes* processes = nullptr;  // for the test command and Nsight Compute; none: neither is run
  // Starts a program that takes a device and the words of a counter pass behind this, and runs it.
  std::vector<std::string> counter_command = {};
  std::shared_ptr<DeviceCeilings> ceilings = std::make_shared<DeviceCeilings>(device, files, clock);
};

class ManifestRepository final : public Repository {
 public:
  ManifestRepository(ManifestContext context, Manifest manifest)
      : context_(std::move(context)), manifest_(std::make_shared<const Manifest>(std::move(manifest))) {}
  std::string name() const override { return "manifest"; }
  std::vector<KernelEntry> list() const override;
  std::vector<PreflightCheck> preflight(const model::Request& request) override;
  base::Result<std::unique_ptr<Session>> open(const model::Request& request) override;

 private:
  ManifestContext context_;
  std::shared_ptr<const Manifest> manifest_;
};

// The manifest's kernel; needs no device.
std::vector<KernelEntry> list_kernels(const Manifest& manifest);
// A usage error where `kernel` is not the manifest's.
base::Result<void> check_kernel(const Manifest& manifest, const std::string& kernel);

// Why the kernel can not run on a device; empty where it can.
std::string why_not_on(const Manifest& manifest, const model::DeviceInfo& device);

}  // namespace hone::repository::manifest
