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

using measure::GuardedImage;

constexpr std::int64_t kDeadlineNs =
    60'000'000'000;  // of one run of a small shape; only a kernel that hangs gets there

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// One run's memory: an image of each tensor, and the buffer it is sent to.
struct Placed {
  GuardedImage image;
  std::unique_ptr<device::Buffer> buffer;
};
using Memory = std::map<std::string, Placed>;

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

  // Images and buffers of every tensor as they are before `pass`: inputs set, saved tensors as the last forward left them,
  // the rest poisoned.
  base::Result<Memory> place(const kernels::PassSpec& spec, const kernels::Values& before) {
    Memory memory;
    for (const auto& [name, tensor] : specs_) {
      Placed placed{GuardedImage({element_type(tensor.dtype), tensor.rows, tensor.columns, tensor.row_stride},
                                 which_.misaligned_bytes),
                    nullptr};
      if (contains(spec.inputs, name) || is_generated(name))
        placed.image.set(saved_.count(name) ? saved_.at(name) : before.at(name));
      auto buffer = device_.allocate(placed.image.bytes().size());
      if (!buffer) return buffer.error();
      placed.buffer = std::move(*buffer);
      if (auto sent =
              device_.upload({placed.buffer.get(), 0}, placed.image.bytes().data(), placed.image.bytes().size());
          !sent)
        return sent.error();
      memory.emplace(name, std::move(placed));
    }
    return memory;
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
    auto first = run_once(spec, plan, *program, before, true);
    if (!first) return first.error();
    if (!first->fault.empty()) return failed(first->fault);
    auto second = run_once(spec, plan, *program, before, false);
    if (!second) return second.error();
    if (!second->fault.empty()) return failed(second->fault);

    for (const auto& [name, placed] : first->memory) {
      const bool output = contains(spec.outputs, name) || contains(spec.saved, name);
      if (std::string wrong = check_surroundings(spec, name, placed, output); !wrong.empty()) return failed(wrong);
      if (!output) continue;
      if (std::string wrong = check_values(pass, name, placed.image.values(), before, result); !wrong.empty())
        return failed(wrong);
      if (auto at = measure::first_difference(placed.image.bytes(), second->memory.at(name).image.bytes()))
        return failed(fmt::format("{}: two runs on the same inputs differ from byte {} on", name, *at));
    }
    for (const std::string& name : spec.saved) saved_[name] = first->memory.at(name).image.values();
    result.passed = true;
    return result;
  }

  struct Run {
    Memory memory;
    std::string fault;  // the kernel crashed, hung or could not be launched
  };

  // `untried`: these launches were never run on these sizes; afterwards there is nothing left to isolate.
  base::Result<Run> run_once(const kernels::PassSpec& spec, const kernels::Plan& plan,
                             std::shared_ptr<device::Program> program, const kernels::Values& before, bool untried) {
    auto memory = place(spec, before);
    if (!memory) return memory.error();
    TensorViews views;
    for (auto& [name, placed] : *memory) views[name] = {placed.buffer.get(), placed.image.tensor_offset()};
    auto bound = BoundPlan::bind(device_, plan, std::move(program), views);
    if (!bound) return bound.error();
    if (auto poisoned = (*bound)->poison_scratch(device_); !poisoned) return poisoned.error();
    Run run;
    const auto& launches = (*bound)->launches();
    if (auto ran = untried ? device_.try_run(launches, kDeadlineNs) : device_.run(launches); !ran) {
      if (ran.error().kind == base::ErrorKind::interrupted) return ran.error();
      run.fault = "does not run: " + ran.error().found;
      return run;
    }
    for (auto& [name, placed] : *memory)
      if (auto read =
              device_.download(placed.image.bytes().data(), {placed.buffer.get(), 0}, placed.image.bytes().size());
          !read)
        return read.error();
    run.memory = std::move(*memory);
    return run;
  }

  // Guard bands and row gaps of every tensor, unwritten elements of outputs, and inputs that the pass must leave alone.
  std::string check_surroundings(const kernels::PassSpec& spec, const std::string& name, const Placed& placed,
                                 bool output) {
    const bool held_values = contains(spec.inputs, name) || is_generated(name);
    const measure::ImageFaults faults = placed.image.faults(output && !held_values);
    if (!faults.ok()) return name + ": " + faults.describe();
    if (!held_values || output || contains(spec.overwritten, name)) return "";
    GuardedImage untouched({element_type(specs_.at(name).dtype), specs_.at(name).rows, specs_.at(name).columns,
                            specs_.at(name).row_stride},
                           which_.misaligned_bytes);
    untouched.set(saved_.count(name) ? saved_.at(name) : values_.at(name));
    if (measure::first_difference(untouched.bytes(), placed.image.bytes()))
      return name + ": an input that the pass must leave alone was changed";
    return "";
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
