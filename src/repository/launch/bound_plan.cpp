#include "repository/launch/bound_plan.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/hash.hpp"

namespace hone::repository::launch {

std::string launch_hash(const kernels::Plan& plan) {
  std::string text;
  for (const auto& launch : plan.launches) {
    text += fmt::format("{}|{}|{}|{}|{}", launch.entry, launch.programs, launch.threads, launch.dynamic_shared_bytes,
                        launch.cluster_size);
    for (const int extent : {launch.programs_y, launch.programs_z, launch.threads_y, launch.threads_z})
      if (extent != 1) text += fmt::format("|x{}", extent);
    for (const auto& argument : launch.arguments)
      text += std::visit(
          [](const auto& value) -> std::string {
            using T = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<T, kernels::TensorArgument>)
              return fmt::format("|{}+{}", value.name, value.offset_bytes);
            else
              return fmt::format("|{}", value);
          },
          argument);
    if (const auto& product = launch.product) {
      text += fmt::format("|{} x {} x {}|{}{}|{}", product->m, product->n, product->k, product->a_transposed,
                          product->b_transposed, product->beta);
      for (const auto* operand : {&product->a, &product->b, &product->c})
        text += fmt::format("|{}+{}", operand->name, operand->offset_bytes);
    }
    text += '\n';
  }
  for (const auto& tensor : plan.scratch)
    text += fmt::format("{}:{}x{}\n", tensor.name, tensor.rows, tensor.row_stride);
  return base::content_hash(text);
}

namespace {

std::vector<kernels::TensorArgument> tensors_of(const kernels::Launch& launch) {
  std::vector<kernels::TensorArgument> tensors;
  for (const auto& argument : launch.arguments)
    if (auto* tensor = std::get_if<kernels::TensorArgument>(&argument)) tensors.push_back(*tensor);
  if (launch.product) tensors.insert(tensors.end(), {launch.product->a, launch.product->b, launch.product->c});
  return tensors;
}

// Where tensors of a plan lie: its scratch, and the problem's tensors.
struct Places {
  std::map<std::string, device::BufferView> scratch;
  const TensorViews& tensors;
  base::Result<device::BufferView> of(const kernels::TensorArgument& tensor, const std::string& entry) const {
    auto found = scratch.find(tensor.name);
    if (found == scratch.end()) {
      found = tensors.find(tensor.name);
      if (found == tensors.end())
        return base::Error{base::ErrorKind::internal,
                           "every tensor of a launch to be a tensor of the problem or scratch of its plan", tensor.name,
                           entry, "correct the plan"};
    }
    return device::BufferView{found->second.buffer,
                              found->second.offset_bytes + static_cast<std::size_t>(tensor.offset_bytes)};
  }
};

base::Result<device::MatrixProduct> bind_product(const kernels::MatrixProduct& product, const Places& places,
                                                 const std::string& entry) {
  auto a = places.of(product.a, entry), b = places.of(product.b, entry), c = places.of(product.c, entry);
  for (const auto* view : {&a, &b, &c})
    if (!*view) return view->error();
  return kernels::placed(product, *a, *b, *c);
}

base::Result<device::Launch> bind_launch(const kernels::Launch& launch, const Places& places) {
  device::Launch bound;
  bound.entry = launch.entry;
  bound.programs = launch.programs;
  bound.threads = launch.threads;
  bound.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  bound.cluster_size = launch.cluster_size;
  bound.programs_y = launch.programs_y, bound.programs_z = launch.programs_z;
  bound.threads_y = launch.threads_y, bound.threads_z = launch.threads_z;
  for (const auto& argument : launch.arguments) {
    HONE_TRY(placed, std::visit(
                         [&](const auto& value) -> base::Result<device::Argument> {
                           if constexpr (std::is_same_v<std::decay_t<decltype(value)>, kernels::TensorArgument>) {
                             auto view = places.of(value, launch.entry);
                             return view ? base::Result<device::Argument>(device::Argument(*view)) : view.error();
                           } else {
                             return device::Argument(value);
                           }
                         },
                         argument));
    bound.arguments.push_back(*placed);
  }
  if (launch.product) {
    HONE_TRY(product, bind_product(*launch.product, places, launch.entry));
    bound.product = *product;
  }
  return bound;
}

}  // namespace

std::int64_t peak_scratch_bytes(const kernels::Plan& plan) {
  std::int64_t peak = 0;
  for (std::size_t at = 0; at < plan.launches.size(); ++at) {
    std::int64_t alive = 0;
    for (const auto& tensor : plan.scratch) {
      std::size_t first = plan.launches.size(), last = 0;
      bool used = false;
      for (std::size_t i = 0; i < plan.launches.size(); ++i)
        for (const kernels::TensorArgument& argument : tensors_of(plan.launches[i]))
          if (argument.name == tensor.name) {
            first = std::min(first, i);
            last = std::max(last, i);
            used = true;
          }
      if (used && first <= at && at <= last) alive += tensor.bytes();
    }
    peak = std::max(peak, alive);
  }
  return peak;
}

base::Result<BoundLaunches> bind(device::Device& device, const kernels::Plan& plan,
                                 std::shared_ptr<device::Program> program, const TensorViews& tensors,
                                 ScratchPool* pool) {
  struct Owned {
    std::shared_ptr<device::Program> program;
    std::vector<std::shared_ptr<device::Buffer>> scratch;
  };
  ScratchPool own;
  const auto owned = std::make_shared<Owned>();
  owned->program = std::move(program);
  Places places{{}, tensors};
  for (const auto& tensor : plan.scratch) {
    HONE_TRY(buffer,
             (pool != nullptr ? *pool : own).take(device, tensor.name, static_cast<std::size_t>(tensor.bytes())));
    places.scratch[tensor.name] = {buffer->get(), 0};
    owned->scratch.push_back(std::move(*buffer));
  }
  BoundLaunches bound;
  for (const auto& launch : plan.launches) {
    HONE_TRY(placed, bind_launch(launch, places));
    placed->program = owned->program.get();
    placed->begins_early = plan.begins_early;
    bound.launches.push_back(std::move(*placed));
  }
  bound.owned = owned;
  bound.poison = [&device, owned]() -> base::Result<void> {
    for (const auto& buffer : owned->scratch)
      if (auto filled = device.fill({buffer.get(), 0}, 0xff, buffer->bytes()); !filled) return filled;
    return {};
  };
  return bound;
}

}  // namespace hone::repository::launch
