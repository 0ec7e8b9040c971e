#include "repository/launch/resident_tensors.hpp"

#include <algorithm>
#include "base/text.hpp"

namespace hone::repository::launch {

namespace {

bool is_overwritten(const Problem& problem, const std::vector<std::string>& passes, const std::string& tensor) {
  return std::any_of(passes.begin(), passes.end(),
                     [&](const std::string& pass) { return base::contains(problem.pass(pass).overwritten, tensor); });
}

}  // namespace

base::Result<std::shared_ptr<device::Buffer>> ScratchPool::take(device::Device& device, const std::string& name,
                                                                std::size_t bytes) {
  const std::size_t size = std::max<std::size_t>(bytes, 1);
  std::weak_ptr<device::Buffer>& known = buffers_[{name, size}];
  if (auto shared = known.lock()) return shared;
  HONE_TRY(buffer, device.allocate(size));
  std::shared_ptr<device::Buffer> shared = std::move(*buffer);
  known = shared;
  return shared;
}

bool is_given(const Problem& problem, const std::vector<std::string>& passes, const std::string& tensor) {
  for (const std::string& pass : passes) {
    const PassSpec spec = problem.pass(pass);
    if (base::contains(spec.inputs, tensor)) return true;
    if (base::contains(spec.outputs, tensor) || base::contains(spec.saved, tensor)) return false;
  }
  return false;
}

measure::InputSpec input_of(const TensorSpec& tensor, std::uint64_t seed) {
  return {tensor.dtype, tensor.distribution, tensor.scale, tensor.offset, seed, tensor.rare_value, tensor.rare_share};
}

base::Result<double> ResidentTensors::bytes_of(const Problem& problem, const std::vector<std::string>& passes) {
  HONE_TRY(tensors, problem.tensors());
  double bytes = 0;
  for (const TensorSpec& tensor : *tensors)
    bytes += static_cast<double>(tensor.bytes()) * (is_overwritten(problem, passes, tensor.name) ? 2 : 1);
  return bytes;
}

base::Result<std::unique_ptr<ResidentTensors>> ResidentTensors::create(device::Device& device, ProblemPtr problem,
                                                                       const std::vector<std::string>& passes,
                                                                       std::uint64_t seed) {
  HONE_TRY(specs, problem->tensors());
  std::unique_ptr<ResidentTensors> tensors(new ResidentTensors(device, problem));
  std::uint64_t stream = 0;
  for (const TensorSpec& tensor : *specs) {
    ++stream;
    std::optional<measure::InputSpec> values;
    if (is_given(*problem, passes, tensor.name)) values = input_of(tensor, seed * 1000 + stream);
    HONE_PROPAGATE(tensors->place(tensor, values, is_overwritten(*problem, passes, tensor.name)));
  }
  return tensors;
}

base::Result<void> ResidentTensors::place(const TensorSpec& tensor, const std::optional<measure::InputSpec>& values,
                                          bool restorable) {
  Placed placed;
  placed.bytes = static_cast<std::size_t>(tensor.bytes());
  HONE_TRY(buffer, device_.allocate(std::max<std::size_t>(placed.bytes, 1)));
  placed.buffer = std::move(*buffer);
  if (values) {
    std::vector<std::uint8_t> content(placed.bytes);
    measure::fill(*values, content.data(), static_cast<std::size_t>(tensor.rows * tensor.row_stride));
    if (auto sent = device_.upload({placed.buffer.get(), 0}, content.data(), placed.bytes); !sent) return sent;
  }
  if (restorable) {
    HONE_TRY(backup, device_.allocate(std::max<std::size_t>(placed.bytes, 1)));
    placed.backup = std::move(*backup);
  }
  tensors_[tensor.name] = std::move(placed);
  return restorable ? keep(tensor.name) : base::Result<void>();
}

TensorViews ResidentTensors::views() const {
  TensorViews views;
  for (const auto& [name, placed] : tensors_) views[name] = {placed.buffer.get(), 0};
  return views;
}

base::Result<void> ResidentTensors::keep(const std::string& name) {
  Placed& placed = tensors_.at(name);
  return device_.copy({placed.backup.get(), 0}, {placed.buffer.get(), 0}, placed.bytes);
}

base::Result<void> ResidentTensors::keep_forward() {
  const std::vector<std::string> by_forward = problem_->pass("forward").overwritten;
  for (const std::string& name : problem_->pass("backward").overwritten)
    if (!base::contains(by_forward, name))
      if (auto kept = keep(name); !kept) return kept;
  return {};
}

base::Result<void> ResidentTensors::restore(const std::string& pass) {
  for (const std::string& name : problem_->pass(pass).overwritten) {
    Placed& placed = tensors_.at(name);
    if (auto copied = device_.copy({placed.buffer.get(), 0}, {placed.backup.get(), 0}, placed.bytes); !copied)
      return copied;
  }
  return {};
}

}  // namespace hone::repository::launch
