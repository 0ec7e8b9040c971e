// The built-in repository: the kernel library of kernels/, run on a device.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/process.hpp"
#include "device/device.hpp"
#include "kernels/catalog/operation.hpp"
#include "repository/native/settings_store.hpp"
#include "repository/device_ceilings.hpp"
#include "repository/repository.hpp"

namespace hone::repository::native {

struct NativeContext {
  device::Device& device;
  base::FileSystem& files;
  base::Clock& clock;
  std::string settings_directory;  // empty: SettingsStore::default_directory()
  // Measured once for all sessions of the device.
  std::shared_ptr<DeviceCeilings> ceilings = std::make_shared<DeviceCeilings>(device, files, clock);
  // For Nsight Compute and the disassembler; none: a GPU's counters are not asked for.
  base::Processes* processes = nullptr;
  // Starts a program that takes a device and the words of a CounterPass behind this, and runs it.
  std::vector<std::string> counter_command = {};
};

class NativeRepository final : public Repository {
 public:
  explicit NativeRepository(NativeContext context);
  std::string name() const override { return "native"; }
  std::vector<KernelEntry> list() const override;
  std::vector<PreflightCheck> preflight(const model::Request& request) override;
  base::Result<std::unique_ptr<Session>> open(const model::Request& request) override;

 private:
  NativeContext context_;
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

// A size as typed: a positive integer. Usage error with what is allowed.
base::Result<std::int64_t> parse_size(const std::string& text);

}  // namespace hone::repository::native
