#include "repository/native/verification.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "measure/inputs.hpp"
#include "measure/numerics.hpp"
#include "repository/native/bound_plan.hpp"
#include "repository/native/element_types.hpp"

namespace hone::repository::native {

namespace {

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

class CaseRun {
 public:
  CaseRun(device::Device& device, const kernels::Operation& operation, const VerificationCase& which,
          const Implementation& implementation)
      : device_(device), operation_(operation), which_(which), implementation_(implementation) {
    for (kernels::TensorSpec& spec : operation.tensors(which.problem)) {
      std::string name = spec.name;
      specs_.emplace(std::move(name), std::move(spec));
    }
  }

  base::Result<std::vector<CaseResult>> run(std::uint64_t seed) {
    generate(seed);
    std::vector<CaseResult> results;
    for (kernels::Pass pass : {kernels::Pass::forward, kernels::Pass::backward}) {
      const kernels::Values before = values_;
      operation_.reference(pass, which_.problem, values_);
      auto result = one_pass(pass, before);
      if (!result) return result.error();
      results.push_back(std::move(*result));
      // Backward starts from what this implementation saved, and so does its reference: forward's errors are judged once.
      for (const auto& [name, saved] : saved_) values_[name] = saved;
    }
    return results;
  }

 private:
  // Inputs of both passes that no pass produces.
  void generate(std::uint64_t seed) {
    const kernels::PassSpec forward = operation_.pass(kernels::Pass::forward, which_.problem),
                            backward = operation_.pass(kernels::Pass::backward, which_.problem);
    std::uint64_t stream = 0;
    for (const auto& [name, spec] : specs_) {
      ++stream;
      const bool made_by_forward =
          contains(forward.saved, name) || (contains(forward.outputs, name) && !contains(forward.inputs, name));
      if (!contains(forward.inputs, name) && (!contains(backward.inputs, name) || made_by_forward)) continue;
      const std::size_t elements = static_cast<std::size_t>(spec.rows * spec.columns);
      std::vector<std::uint8_t> raw(elements * static_cast<std::size_t>(kernels::size_of(spec.dtype)));
      measure::fill(input_spec(spec, seed * 1000 + stream), raw.data(), elements, 1);
      values_[name] = measure::decode(element_type(spec.dtype), raw.data(), elements);
      generated_.push_back(name);
    }
  }

  bool is_generated(const std::string& name) const { return contains(generated_, name); }

  // Every tensor as it is before the pass: inputs set, saved tensors as the last forward left them, the rest poisoned.
  std::map<std::string, GuardedTensor> guarded(const kernels::PassSpec& spec, const kernels::Values& before) const {
    std::map<std::string, GuardedTensor> tensors;
    for (const auto& [name, tensor] : specs_) {
      GuardedTensor guarded;
      guarded.shape = {element_type(tensor.dtype), tensor.rows, tensor.columns, tensor.row_stride};
      if (contains(spec.inputs, name) || is_generated(name))
        guarded.values = saved_.count(name) ? saved_.at(name) : before.at(name);
      guarded.output = contains(spec.outputs, name) || contains(spec.saved, name);
      guarded.may_change = contains(spec.overwritten, name);
      tensors.emplace(name, std::move(guarded));
    }
    return tensors;
  }

  base::Result<CaseResult> one_pass(kernels::Pass pass, const kernels::Values& before) {
    CaseResult result;
    result.kernel = operation_.name();
    result.mode = kernels::name_of(pass);
    result.dtype = kernels::name_of(which_.problem.dtype);
    result.shape = fmt::format("{} x {}", which_.problem.rows, which_.problem.columns);
    result.label = which_.label;
    result.bound = 1;
    auto failed = [&](std::string why) {
      result.failure = std::move(why);
      result.passed = false;
      return result;
    };

    const kernels::PassSpec spec = operation_.pass(pass, which_.problem);
    const kernels::Plan plan = implementation_.plan(pass, which_.problem);
    auto program = implementation_.program(plan, pass);
    if (!program) {
      const base::ErrorKind kind = program.error().kind;
      if (kind == base::ErrorKind::preflight || kind == base::ErrorKind::interrupted) return program.error();
      return failed("does not compile: " + program.error().found);
    }
    const auto bind = [&](const TensorViews& views) -> base::Result<BoundLaunches> {
      auto plan_bound = BoundPlan::bind(device_, plan, *program, views);
      if (!plan_bound) return plan_bound.error();
      std::shared_ptr<BoundPlan> bound = std::move(*plan_bound);
      return BoundLaunches{bound->launches(), bound, [this, bound] { return bound->poison_scratch(device_); }};
    };
    auto outcome = run_guarded(device_, guarded(spec, before), which_.misaligned_bytes, bind);
    if (!outcome) return outcome.error();
    if (!outcome->fault.empty()) return failed(outcome->fault);
    for (const auto& [name, values] : outcome->outputs)
      if (std::string wrong = check_values(pass, name, values, before, result); !wrong.empty()) return failed(wrong);
    if (!outcome->unsteady.empty()) return failed(outcome->unsteady);
    for (const std::string& name : spec.saved) saved_[name] = outcome->outputs.at(name);
    result.passed = true;
    return result;
  }

  std::string check_values(kernels::Pass pass, const std::string& name, const std::vector<double>& found,
                           const kernels::Values& before, CaseResult& result) {
    auto reference = values_.find(name);
    if (reference == values_.end()) return name + ": the reference computes no such tensor";
    if (reference->second.size() != found.size())
      return fmt::format("{}: {} elements where the reference has {}", name, found.size(), reference->second.size());
    const measure::Bound bound{operation_.tolerance(pass, name, which_.problem),
                               operation_.value_scale(pass, name, which_.problem, before, values_),
                               operation_.term_sizes(pass, name, which_.problem, before)};
    const measure::Deviation deviation =
        measure::deviation_from(reference->second, found, bound, element_type(specs_.at(name).dtype));
    result.error = std::max(result.error, deviation.worst_over_bound);
    result.deviations[name] = deviation;
    if (!deviation.within_bound()) return name + ": " + measure::describe(deviation, reference->second, found, bound);
    return "";
  }

  device::Device& device_;
  const kernels::Operation& operation_;
  const VerificationCase& which_;
  const Implementation& implementation_;
  std::map<std::string, kernels::TensorSpec> specs_;
  std::vector<std::string> generated_;
  kernels::Values values_;  // inputs as generated; outputs by the reference
  kernels::Values saved_;   // what the implementation's own forward saved
};

}  // namespace

base::Result<std::vector<CaseResult>> verify(device::Device& device, const kernels::Operation& operation,
                                             const VerificationCase& which, const Implementation& implementation,
                                             std::uint64_t seed) {
  return CaseRun(device, operation, which, implementation).run(seed);
}

}  // namespace hone::repository::native
