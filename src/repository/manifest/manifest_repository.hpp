// A user's own kernel, described by a manifest: CUDA C++ on a GPU, or C++ on the CPU.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "repository/launch/session.hpp"
#include "repository/manifest/manifest.hpp"

namespace hone::repository::manifest {

class ManifestRepository final : public Repository {
 public:
  // `host`: a CPU, which runs the reference; may be the context's device. None: the reference is not run.
  ManifestRepository(launch::Context context, device::Device* host, Manifest manifest)
      : context_(std::move(context)), host_(host), manifest_(std::make_shared<const Manifest>(std::move(manifest))) {}
  std::string name() const override { return "manifest"; }
  std::vector<KernelEntry> list() const override;
  std::vector<PreflightCheck> preflight(const model::Request& request) override;
  base::Result<std::unique_ptr<Session>> open(const model::Request& request) override;

 private:
  launch::Context context_;
  device::Device* host_;
  std::shared_ptr<const Manifest> manifest_;
};

// The manifest's kernel; needs no device.
std::vector<KernelEntry> list_kernels(const Manifest& manifest);
// A usage error where `kernel` is not the manifest's.
base::Result<void> check_kernel(const Manifest& manifest, const std::string& kernel);

// Why the kernel can not run on a device; empty where it can.
std::string why_not_on(const Manifest& manifest, const model::DeviceInfo& device);

}  // namespace hone::repository::manifest
