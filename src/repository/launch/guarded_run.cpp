#include "repository/launch/guarded_run.hpp"

#include <fmt/format.h>

#include "device/no_end.hpp"
#include "repository/launch/isolation.hpp"

namespace hone::repository::launch {

namespace {

using measure::GuardedImage;

// One run's memory: an image of each tensor, and the buffer it is sent to.
struct Placed {
  GuardedImage image;
  std::unique_ptr<device::Buffer> buffer;
};
using Memory = std::map<std::string, Placed>;

struct Run {
  Memory memory;
  std::string fault;
  bool hung = false;
};

GuardedImage image_of(const GuardedTensor& tensor, std::size_t misaligned_bytes) {
  GuardedImage image(tensor.shape, misaligned_bytes);
  if (tensor.values) image.set(*tensor.values);
  return image;
}

class GuardedRun {
 public:
  GuardedRun(device::Device& device, const std::map<std::string, GuardedTensor>& tensors, std::size_t misaligned_bytes,
             const std::function<base::Result<BoundLaunches>(const TensorViews&)>& bind)
      : device_(device), tensors_(tensors), misaligned_bytes_(misaligned_bytes), bind_(bind) {}

  base::Result<GuardedOutcome> run() {
    GuardedOutcome outcome;
    HONE_TRY(first, once(true));
    HONE_TRY(second, first->fault.empty() ? once(false) : base::Result<Run>(Run{}));
    outcome.fault = first->fault.empty() ? second->fault : first->fault;
    outcome.hung = first->hung || second->hung;
    if (!outcome.fault.empty()) return outcome;
    for (const auto& [name, placed] : first->memory) {
      if (outcome.fault = fault_around(name, placed); !outcome.fault.empty()) return outcome;
      if (!tensors_.at(name).output) continue;
      outcome.outputs[name] = placed.image.values();
      const auto at = measure::first_difference(placed.image.bytes(), second->memory.at(name).image.bytes());
      if (at && outcome.unsteady.empty())
        outcome.unsteady = fmt::format("{}: two runs on the same inputs differ from byte {} on", name, *at);
    }
    return outcome;
  }

 private:
  base::Result<Memory> place() {
    Memory memory;
    for (const auto& [name, tensor] : tensors_) {
      Placed placed{image_of(tensor, misaligned_bytes_), nullptr};
      HONE_TRY(buffer, device_.allocate(placed.image.bytes().size()));
      placed.buffer = std::move(*buffer);
      if (auto sent =
              device_.upload({placed.buffer.get(), 0}, placed.image.bytes().data(), placed.image.bytes().size());
          !sent)
        return sent.error();
      memory.emplace(name, std::move(placed));
    }
    return memory;
  }

  // `untried`: these launches were never run on these sizes; afterwards there is nothing left to isolate.
  base::Result<Run> once(bool untried) {
    HONE_TRY(memory, place());
    TensorViews views;
    for (auto& [name, placed] : *memory) views[name] = {placed.buffer.get(), placed.image.tensor_offset()};
    HONE_TRY(bound, bind_(views));
    if (bound->poison) HONE_PROPAGATE(bound->poison());
    Run run;
    if (auto ran = untried ? device_.try_run(bound->launches, kTrialDeadlineNs) : device_.run(bound->launches); !ran) {
      if (ran.error().kind == base::ErrorKind::interrupted) return ran.error();
      run.hung = device::is_no_end(ran.error());
      run.fault = (run.hung ? "does not end: " : "does not run: ") + ran.error().found;
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
  std::string fault_around(const std::string& name, const Placed& placed) const {
    const GuardedTensor& tensor = tensors_.at(name);
    const measure::ImageFaults faults = placed.image.faults(tensor.output && !tensor.values);
    if (!faults.ok()) return name + ": " + faults.describe();
    if (!tensor.values || tensor.output || tensor.may_change) return "";
    if (measure::first_difference(image_of(tensor, misaligned_bytes_).bytes(), placed.image.bytes()))
      return name + ": an input that the pass must leave alone was changed";
    return "";
  }

  device::Device& device_;
  const std::map<std::string, GuardedTensor>& tensors_;
  std::size_t misaligned_bytes_;
  const std::function<base::Result<BoundLaunches>(const TensorViews&)>& bind_;
};

}  // namespace

base::Result<GuardedOutcome> run_guarded(device::Device& device, const std::map<std::string, GuardedTensor>& tensors,
                                         std::size_t misaligned_bytes,
                                         const std::function<base::Result<BoundLaunches>(const TensorViews&)>& bind) {
  return GuardedRun(device, tensors, misaligned_bytes, bind).run();
}

}  // namespace hone::repository::launch
