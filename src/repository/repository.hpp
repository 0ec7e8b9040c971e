// Where kernels live. native/, liger/ and manifest/ implement it; the stages know nothing else of a kernel: no language, no
// device. A stage, and each of its functions, takes those of the interfaces that it uses.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "repository/buildable.hpp"
#include "repository/changeable.hpp"
#include "repository/counted.hpp"
#include "repository/described.hpp"
#include "repository/judged.hpp"
#include "repository/preflight_check.hpp"
#include "repository/timed.hpp"

namespace hone::repository {

struct KernelEntry {
  std::string name, description;
  int tier = 0;
  std::vector<std::string> passes, dtypes;
};

// One kernel on one device with one request: everything that can be done to it.
class Session : public Described, public Buildable, public Timed, public Judged, public Changeable, public Counted {};

class Repository {
 public:
  virtual ~Repository() = default;
  virtual std::string name() const = 0;
  virtual std::vector<KernelEntry> list() const = 0;
  virtual std::vector<PreflightCheck> preflight(const model::Request& request) = 0;
  // Checks the request (kernel, dtype, sizes, options) and opens it. An unknown kernel is a usage error with the nearest names.
  virtual base::Result<std::unique_ptr<Session>> open(const model::Request& request) = 0;
};

}  // namespace hone::repository
