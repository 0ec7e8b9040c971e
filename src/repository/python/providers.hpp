// A package's operators and PyTorch's formulas, as python3 has them here, timed beside kernels that somebody else runs on the same
// GPU.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/result.hpp"
#include "measure/subject.hpp"
#include "repository/python/context.hpp"
#include "repository/python/environment.hpp"
#include "repository/python/worker.hpp"

namespace hone::repository::python {

// One row: an operator of the installed package, or its formula in PyTorch alone.
struct Provided {
  std::string name;  // of the row
  std::shared_ptr<const OperatorDescription> description;
  std::string module;  // "package.ops.rms_norm"
  bool formula = false;
  CaseSpec spec;
  std::string mode;
};

class Providers {
 public:
  Providers(Context context, std::string package) : context_(std::move(context)), package_(std::move(package)) {}
  ~Providers();

  const PythonEnvironment& environment();
  // Why neither of them can be timed here, with what would change it; empty where it can.
  std::string absent();
  // A subject of the protocol, run once already. It must not outlive this object. Errors: what the worker says.
  base::Result<std::unique_ptr<measure::Subject>> subject(Provided provided);

 private:
  class Timed;
  base::Result<Worker*> worker_for(const Provided& provided);
  base::Result<model::Sample> sample(const Provided& provided);

  Context context_;
  std::string package_;
  std::optional<PythonEnvironment> environment_;
  std::unique_ptr<Worker> worker_;  // of one operator at a time
  std::string worker_operator_;
  std::set<std::string> loaded_;
};

}  // namespace hone::repository::python
