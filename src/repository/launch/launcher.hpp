// Passes of an operation on a device: settings in force, programs by content, tensors that stay, and subjects that are timed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "measure/subject.hpp"
#include "repository/launch/bound_plan.hpp"
#include "repository/launch/isolation.hpp"
#include "repository/launch/operation.hpp"

namespace hone::repository::launch {

// How a pass of a problem is bound to memory; errors of kind gate say that the kernel can not run there.
using Bind = std::function<base::Result<BoundLaunches>(const Problem&, const std::string& pass, const TensorViews&)>;

class Launcher {
 public:
  Launcher(Isolation& device, const Operation& operation, std::uint64_t seed)
      : device_(device), operation_(operation), seed_(seed) {}

  // A pass with the variant's settings, else the installed ones, else those that the kernel chooses: the first that are valid at
  // the problem. An error (gate) where none is.
  base::Result<Planned> plan(const model::Variant& variant, const std::string& pass, const Problem& problem) const;
  // Why installed settings of a pass are not in force at a problem; empty where they are, or where there are none.
  std::string why_not_in_force(const std::string& pass, const Problem& problem) const;
  // The variant's, else those that are installed with the settings.
  std::vector<model::SourceEdit> edits(const model::Variant& variant, kernels::DType dtype) const;

  // Compiled and loaded once for each content. Several threads may ask.
  base::Result<std::shared_ptr<device::Program>> program(const Plan& plan, const std::string& pass,
                                                         const std::vector<model::SourceEdit>& edits);
  // The programs of the variant (none: of the kernel in force) for these plans, on all cores; what fails is told when it is
  // asked for.
  struct Wanted {
    Planned planned;
    kernels::DType dtype;
  };
  void compile_ahead(const std::vector<Wanted>& wanted, const model::Variant& variant = {});
  Bind bind(const model::Variant& variant);

  // The tensors of a problem at a size that is measured, with what forward leaves for backward: written once, by the kernel in
  // force, for every variant. The least recently used ones go when memory runs short.
  base::Result<std::shared_ptr<ResidentTensors>> resident(const ProblemPtr& problem);

  // What the protocol times: the passes in order, admitted by the isolation. Subjects of one size share inputs and addresses.
  base::Result<std::unique_ptr<measure::Subject>> subject(const std::string& name, const ProblemPtr& problem,
                                                          const std::vector<Planned>& passes,
                                                          const std::vector<model::SourceEdit>& edits);

  // The kernel in force on the tensors of a problem, admitted by the isolation.
  struct InForce {
    std::shared_ptr<ResidentTensors> tensors;
    std::shared_ptr<device::Program> program;
    BoundLaunches bound;
  };
  base::Result<InForce> in_force(const std::string& pass, const ProblemPtr& problem);

 private:
  // Launches that the isolation does not know yet are run in it, on inputs that are as they should be.
  base::Result<void> admit(const std::vector<device::Launch>& launches, ResidentTensors& tensors,
                           const std::string& pass);

  Isolation& device_;
  const Operation& operation_;
  std::uint64_t seed_;
  std::mutex mutex_;  // of the programs
  std::map<std::string, base::Result<std::shared_ptr<device::Program>>> programs_;
  ScratchPool scratch_;                                      // of the subjects that are timed against each other
  std::vector<std::shared_ptr<ResidentTensors>> residents_;  // most recently used last
};

}  // namespace hone::repository::launch
