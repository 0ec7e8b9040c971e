#include "repository/resident_tensors.hpp"

#include <algorithm>

namespace hone::repository {

base::Result<std::shared_ptr<device::Buffer>> ScratchPool::take(device::Device& device, const std::string& name,
                                                                std::size_t bytes) {
  const std::size_t size = std::max<std::size_t>(bytes, 1);
  std::weak_ptr<device::Buffer>& known = buffers_[{name, size}];
  if (auto shared = known.lock()) return shared;
  auto buffer = device.allocate(size);
  if (!buffer) return buffer.error();
  std::shared_ptr<device::Buffer> shared = std::move(*buffer);
  known = shared;
  return shared;
}

base::Result<std::unique_ptr<ResidentTensors>> ResidentTensors::create(device::Device& device,
                                                                       const std::vector<ResidentSpec>& specs) {
  std::unique_ptr<ResidentTensors> tensors(new ResidentTensors(device));
  for (const ResidentSpec& spec : specs)
    if (auto placed = tensors->place(spec); !placed) return placed.error();
  return tensors;
}

base::Result<void> ResidentTensors::place(const ResidentSpec& spec) {
  Placed placed;
  placed.bytes = spec.bytes;
  auto buffer = device_.allocate(std::max<std::size_t>(spec.bytes, 1));
  if (!buffer) return buffer.error();
  placed.buffer = std::move(*buffer);
  if (spec.values) {
    std::vector<std::uint8_t> values(spec.bytes);
    measure::fill(*spec.values, values.data(), spec.elements);
    if (auto sent = device_.upload({placed.buffer.get(), 0}, values.data(), spec.bytes); !sent) return sent;
  }
  if (spec.restorable) {
    auto backup = device_.allocate(std::max<std::size_t>(spec.bytes, 1));
    if (!backup) return backup.error();
    placed.backup = std::move(*backup);
  }
  tensors_[spec.name] = std::move(placed);
  return spec.restorable ? keep(spec.name) : base::Result<void>();
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

base::Result<void> ResidentTensors::restore(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    Placed& placed = tensors_.at(name);
    if (auto copied = device_.copy({placed.buffer.get(), 0}, {placed.backup.get(), 0}, placed.bytes); !copied)
      return copied;
  }
  return {};
}

}  // namespace hone::repository
