#include "repository/native/workload.hpp"

#include <algorithm>

#include "measure/inputs.hpp"

namespace hone::repository::native {

namespace {

bool contains(const std::vector<std::string>& list, const std::string& name) { return std::find(list.begin(), list.end(), name) != list.end(); }

}  // namespace

base::Result<std::unique_ptr<Workload>> Workload::create(device::Device& device, const kernels::Operation& operation,
                                                         const kernels::Problem& problem, const WorkloadOptions& options) {
  std::unique_ptr<Workload> workload(new Workload(device, operation, problem));
  const kernels::PassSpec forward = operation.pass(kernels::Pass::forward, problem), backward = operation.pass(kernels::Pass::backward, problem);
  std::uint64_t stream = 0;
  for (const kernels::TensorSpec& spec : operation.tensors(problem)) {
    PlacedTensor placed;
    placed.spec = spec;
    placed.guard_bytes = options.guard_bytes;
    const std::size_t bytes = static_cast<std::size_t>(spec.bytes());
    auto buffer = device.allocate(bytes + 2 * options.guard_bytes + 64);
    if (!buffer) return buffer.error();
    placed.buffer = std::move(*buffer);
    if (options.guard_bytes > 0)
      if (auto filled = device.fill({placed.buffer.get(), 0}, kGuardByte, placed.buffer->bytes()); !filled) return filled.error();
    workload->bytes_ += placed.buffer->bytes();

    const bool saved = contains(forward.saved, spec.name);
    const bool input = !saved && (contains(forward.inputs, spec.name) || (contains(backward.inputs, spec.name) && !contains(forward.outputs, spec.name)));
    ++stream;
    if (input) {
      std::vector<std::uint8_t> values = measure::generate(
          {static_cast<measure::DType>(spec.dtype), spec.rows, spec.columns, spec.row_stride, static_cast<measure::Distribution>(spec.distribution), spec.scale, spec.offset},
          options.seed * 1000 + stream);
      if (auto sent = device.upload(placed.view(), values.data(), bytes); !sent) return sent.error();
      if (contains(forward.overwritten, spec.name) || contains(backward.overwritten, spec.name)) {
        auto backup = device.allocate(std::max<std::size_t>(bytes, 1));
        if (!backup) return backup.error();
        placed.backup = std::move(*backup);
        workload->bytes_ += placed.backup->bytes();
        if (auto sent = device.copy({placed.backup.get(), 0}, placed.view(), bytes); !sent) return sent.error();
      }
      workload->generated_[spec.name] = std::move(values);
    }
    workload->tensors_.emplace(spec.name, std::move(placed));
  }
  return workload;
}

base::Result<void> Workload::restore(kernels::Pass pass) {
  const kernels::PassSpec spec = operation_.pass(pass, problem_);
  for (const std::string& name : spec.overwritten) {
    PlacedTensor& placed = tensors_.at(name);
    if (!placed.backup) continue;
    if (auto copied = device_.copy(placed.view(), {placed.backup.get(), 0}, static_cast<std::size_t>(placed.spec.bytes())); !copied) return copied.error();
  }
  return {};
}

base::Result<void> Workload::poison(kernels::Pass pass, std::uint8_t byte) {
  const kernels::PassSpec spec = operation_.pass(pass, problem_);
  for (const std::vector<std::string>* names : {&spec.outputs, &spec.saved})
    for (const std::string& name : *names) {
      if (generated_.count(name) || contains(spec.inputs, name)) continue;
      PlacedTensor& placed = tensors_.at(name);
      if (auto filled = device_.fill(placed.view(), byte, static_cast<std::size_t>(placed.spec.bytes())); !filled) return filled.error();
    }
  return {};
}

}  // namespace hone::repository::native
