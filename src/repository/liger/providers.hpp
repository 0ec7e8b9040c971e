// Liger's kernels and PyTorch, as python3 has them here, timed beside the kernels of another repository: the rows "liger" and
// "torch" of a table whose other rows are run by somebody else on the same GPU.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/files.hpp"
#include "base/process.hpp"
#include "base/result.hpp"
#include "measure/protocol.hpp"
#include "repository/liger/environment.hpp"
#include "repository/liger/worker.hpp"

namespace hone::repository::liger {

struct ProviderContext {
  base::FileSystem& files;
  base::Processes& processes;
  std::string scratch;  // absolute; the worker's scripts go below it
  std::string python = "python3";
  std::string device;  // "cuda:N", or "cpu": no provider then
};

// What is timed: the kernel by its name, its extents (`depth`: sequences or hidden size, 0 where it has none), its options
// with every value, and those of them that are not the kernel's defaults.
struct ProviderCase {
  std::string kernel, dtype, mode;
  std::int64_t rows = 0, columns = 0, depth = 0;
  std::map<std::string, std::string> options, not_default;
};

class PythonProviders {
 public:
  explicit PythonProviders(ProviderContext context) : context_(std::move(context)) {}
  ~PythonProviders();

  // Why `provider` ("liger" or "torch") can not run this case here, with what would change it; empty where it can.
  std::string absent(const std::string& provider, const ProviderCase& asked);

  // A subject of the protocol, run once already. It must not outlive this object. Errors: what the worker says.
  base::Result<std::unique_ptr<measure::Subject>> subject(const std::string& provider, const ProviderCase& asked);

 private:
  class Timed;
  const PythonEnvironment& environment();
  base::Result<Worker*> worker_for(const std::string& kernel);
  base::Result<model::Sample> sample(const std::string& provider, const ProviderCase& asked);

  ProviderContext context_;
  std::optional<PythonEnvironment> environment_;
  std::unique_ptr<Worker> worker_;  // of one kernel at a time
  std::string worker_kernel_;
  std::map<std::string, bool> loaded_;
};

// The worker's tensors of a case: extents and options under its names.
CaseSpec case_of(const ProviderCase& asked);

// Empty where the worker's call of the kernel computes what the options say; otherwise the option that it can not follow.
std::string unlike(const ProviderCase& asked);

}  // namespace hone::repository::liger
