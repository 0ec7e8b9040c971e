// The built-in repository: the kernel library of kernels/, run on a device.
#pragma once

#include <memory>
#include <string>

#include "kernels/catalog/operation.hpp"
#include "repository/device_ceilings.hpp"
#include "repository/launch/session.hpp"
#include "repository/native/settings_store.hpp"
#include "repository/repository.hpp"

namespace hone::repository::native {

class NativeRepository final : public Repository {
 public:
  // `settings_directory` empty: SettingsStore::default_directory().
  explicit NativeRepository(launch::Context context, std::string settings_directory = "");
  std::string name() const override { return "native"; }
  std::vector<KernelEntry> list() const override;
  std::vector<PreflightCheck> preflight(const model::Request& request) override;
  base::Result<std::unique_ptr<Session>> open(const model::Request& request) override;
  // A session to verify a kernel in: with the default options, at sizes that the device need not hold.
  base::Result<std::unique_ptr<launch::LaunchSession>> open_to_verify(const model::Request& request);

 private:
  base::Result<std::unique_ptr<launch::Operation>> operation(const model::Request& request) const;

  launch::Context context_;
  SettingsStore store_;
};

// The names of the built-in kernels; needs no device.
std::vector<KernelEntry> list_kernels();

// The operation of a name, or a usage error with the nearest names.
base::Result<const kernels::Operation*> find_operation(const std::string& name);

// The machine as the kernel library's heuristics see it.
kernels::Target target_of(const model::DeviceInfo& device);

// Every option of the operation with a value: the given ones where they are allowed, defaults elsewhere.
base::Result<kernels::Options> complete_options(const kernels::Operation& operation,
                                                const std::map<std::string, std::string>& given);

// The dtype of a request; an empty one means fp32 on a CPU and bf16 elsewhere. A usage error for one the operation has not.
base::Result<kernels::DType> resolve_dtype(const kernels::Operation& operation, const std::string& dtype,
                                           const model::DeviceInfo& device);

}  // namespace hone::repository::native
