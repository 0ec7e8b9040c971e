// Liger's kernels and PyTorch, as python3 has them here, timed beside the kernels of another repository: the rows "liger" and
// "torch" of a table whose other rows are run by somebody else on the same GPU.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "repository/python/providers.hpp"

namespace hone::repository::liger {

// What is timed: the kernel by its name, its extents (`depth`: sequences or hidden size, 0 where it has none), its options
// with every value, and those of them that are not the kernel's defaults.
struct ProviderCase {
  std::string kernel, dtype, mode;
  std::int64_t rows = 0, columns = 0, depth = 0;
  std::map<std::string, std::string> options, not_default;
};

class PythonProviders {
 public:
  explicit PythonProviders(python::Context context);

  // Why `provider` ("liger" or "torch") can not run this case here, with what would change it; empty where it can.
  std::string absent(const std::string& provider, const ProviderCase& asked);

  // A subject of the protocol, run once already. It must not outlive this object. Errors: what the worker says.
  base::Result<std::unique_ptr<measure::Subject>> subject(const std::string& provider, const ProviderCase& asked);

 private:
  python::Providers python_;
};

// The worker's tensors of a case: extents and options under its names.
base::Result<python::CaseSpec> case_of(const ProviderCase& asked);

// Empty where the worker's call of the kernel computes what the options say; otherwise the option that it can not follow.
std::string unlike(const ProviderCase& asked);

}  // namespace hone::repository::liger
