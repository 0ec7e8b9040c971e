#include "repository/native/workload.hpp"

#include <algorithm>

#include "measure/inputs.hpp"
#include "repository/native/element_types.hpp"

namespace hone::repository::native {

namespace {

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

base::Result<std::unique_ptr<Workload>> Workload::create(device::Device& device, const kernels::Operation& operation,
                                                         const kernels::Problem& problem, std::uint64_t seed) {
  std::unique_ptr<Workload> workload(new Workload(device, operation, problem));
  const kernels::PassSpec forward = operation.pass(kernels::Pass::forward, problem),
                          backward = operation.pass(kernels::Pass::backward, problem);
  std::uint64_t stream = 0;
  for (const kernels::TensorSpec& spec : operation.tensors(problem)) {
    ++stream;
    PlacedTensor placed;
    placed.spec = spec;
    const std::size_t bytes = static_cast<std::size_t>(spec.bytes());
    auto buffer = device.allocate(std::max<std::size_t>(bytes, 1));
    if (!buffer) return buffer.error();
    placed.buffer = std::move(*buffer);

    const bool made_by_forward = contains(forward.saved, spec.name) ||
                                 (contains(forward.outputs, spec.name) && !contains(forward.inputs, spec.name));
    if (contains(forward.inputs, spec.name) || (contains(backward.inputs, spec.name) && !made_by_forward)) {
      std::vector<std::uint8_t> values(bytes);
      measure::fill(input_spec(spec, seed * 1000 + stream), values.data(),
                    static_cast<std::size_t>(spec.rows * spec.row_stride));
      if (auto sent = device.upload({placed.buffer.get(), 0}, values.data(), bytes); !sent) return sent.error();
    }
    if (contains(forward.overwritten, spec.name) || contains(backward.overwritten, spec.name)) {
      auto backup = device.allocate(std::max<std::size_t>(bytes, 1));
      if (!backup) return backup.error();
      placed.backup = std::move(*backup);
      if (auto kept = device.copy({placed.backup.get(), 0}, {placed.buffer.get(), 0}, bytes); !kept)
        return kept.error();
    }
    workload->tensors_.emplace(spec.name, std::move(placed));
  }
  return workload;
}

TensorViews Workload::views() const {
  TensorViews views;
  for (const auto& [name, placed] : tensors_) views[name] = {placed.buffer.get(), 0};
  return views;
}

base::Result<void> Workload::keep_saved() {
  const kernels::PassSpec forward = operation_.pass(kernels::Pass::forward, problem_);
  for (const std::string& name : operation_.pass(kernels::Pass::backward, problem_).overwritten) {
    if (!contains(forward.saved, name) || contains(forward.inputs, name)) continue;
    PlacedTensor& placed = tensors_.at(name);
    if (auto kept = device_.copy({placed.backup.get(), 0}, {placed.buffer.get(), 0},
                                 static_cast<std::size_t>(placed.spec.bytes()));
        !kept)
      return kept.error();
  }
  return {};
}

base::Result<void> Workload::restore(kernels::Pass pass) {
  for (const std::string& name : operation_.pass(pass, problem_).overwritten) {
    PlacedTensor& placed = tensors_.at(name);
    if (auto copied = device_.copy({placed.buffer.get(), 0}, {placed.backup.get(), 0},
                                   static_cast<std::size_t>(placed.spec.bytes()));
        !copied)
      return copied.error();
  }
  return {};
}

}  // namespace hone::repository::native
