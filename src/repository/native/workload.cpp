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
  std::unique_ptr<Workload> workload(new Workload(operation, problem));
  const kernels::PassSpec forward = operation.pass(kernels::Pass::forward, problem),
                          backward = operation.pass(kernels::Pass::backward, problem);
  std::uint64_t stream = 0;
  std::vector<ResidentSpec> specs;
  for (const kernels::TensorSpec& tensor : operation.tensors(problem)) {
    ++stream;
    ResidentSpec spec{tensor.name, static_cast<std::size_t>(tensor.rows * tensor.row_stride),
                      static_cast<std::size_t>(tensor.bytes()), std::nullopt, false};
    const bool made_by_forward = contains(forward.saved, tensor.name) ||
                                 (contains(forward.outputs, tensor.name) && !contains(forward.inputs, tensor.name));
    if (contains(forward.inputs, tensor.name) || (contains(backward.inputs, tensor.name) && !made_by_forward))
      spec.values = input_spec(tensor, seed * 1000 + stream);
    spec.restorable = contains(forward.overwritten, tensor.name) || contains(backward.overwritten, tensor.name);
    specs.push_back(std::move(spec));
  }
  auto tensors = ResidentTensors::create(device, specs);
  if (!tensors) return tensors.error();
  workload->tensors_ = std::move(*tensors);
  return workload;
}

base::Result<void> Workload::keep_saved() {
  const kernels::PassSpec forward = operation_.pass(kernels::Pass::forward, problem_);
  for (const std::string& name : operation_.pass(kernels::Pass::backward, problem_).overwritten) {
    if (!contains(forward.saved, name) || contains(forward.inputs, name)) continue;
    if (auto kept = tensors_->keep(name); !kept) return kept;
  }
  return {};
}

base::Result<void> Workload::restore(kernels::Pass pass) {
  return tensors_->restore(operation_.pass(pass, problem_).overwritten);
}

}  // namespace hone::repository::native
