#include "repository/native/bound_plan.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "repository/quoted_includes.hpp"

namespace hone::repository::native {

namespace {

const char* embedded_text(const std::string& path) {
  for (const auto& file : kernels::embedded_sources())
    if (file.path == path) return file.text;
  return nullptr;
}

}  // namespace

base::Result<device::ProgramSource> program_source(const kernels::Plan& plan, const std::string& name,
                                                   const std::vector<model::SourceEdit>& edits) {
  device::ProgramSource source;
  source.name = name;
  source.main_file = plan.main_file;
  source.defines = plan.defines;

  std::set<std::string> seen, used_edits;
  std::vector<std::string> open = {plan.main_file};
  while (!open.empty()) {
    std::string path = open.back();
    open.pop_back();
    if (!seen.insert(path).second) continue;
    std::string text;
    auto edit = std::find_if(edits.begin(), edits.end(), [&](const model::SourceEdit& e) { return e.file == path; });
    if (edit != edits.end()) {
      text = edit->content;
      used_edits.insert(path);
    } else if (const char* embedded = embedded_text(path)) {
      text = embedded;
    } else {
      continue;  // not ours: the compiler names it if it is missing
    }
    for (std::string& include : quoted_includes(text)) open.push_back(std::move(include));
    source.files.emplace_back(path, std::move(text));
  }
  for (const auto& edit : edits)
    if (!used_edits.count(edit.file))
      return base::Error{base::ErrorKind::gate, "an edit of a file that " + plan.main_file + " includes", edit.file,
                         name, "change " + plan.main_file + " or a header it includes"};
  std::sort(source.files.begin(), source.files.end());
  return source;
}

std::string launch_hash(const kernels::Plan& plan) {
  std::string text;
  for (const auto& launch : plan.launches) {
    text += fmt::format("{}|{}|{}|{}|{}", launch.entry, launch.programs, launch.threads, launch.dynamic_shared_bytes,
                        launch.cluster_size);
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

device::ElementType device_type(kernels::DType dtype) {
  switch (dtype) {
    case kernels::DType::fp16: return device::ElementType::fp16;
    case kernels::DType::bf16: return device::ElementType::bf16;
    default: return device::ElementType::fp32;
  }
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
  return device::MatrixProduct{product.m,
                               product.n,
                               product.k,
                               *a,
                               *b,
                               *c,
                               product.a_stride,
                               product.b_stride,
                               product.c_stride,
                               product.a_transposed,
                               product.b_transposed,
                               device_type(product.input),
                               device_type(product.output),
                               product.beta};
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

base::Result<std::unique_ptr<BoundPlan>> BoundPlan::bind(device::Device& device, const kernels::Plan& plan,
                                                         std::shared_ptr<device::Program> program,
                                                         const TensorViews& tensors, ScratchPool* pool) {
  ScratchPool own;
  auto bound = std::make_unique<BoundPlan>();
  bound->program_ = std::move(program);
  Places places{{}, tensors};
  for (const auto& tensor : plan.scratch) {
    auto buffer = (pool != nullptr ? *pool : own).take(device, tensor.name, static_cast<std::size_t>(tensor.bytes()));
    if (!buffer) return buffer.error();
    places.scratch[tensor.name] = {buffer->get(), 0};
    bound->scratch_.push_back(std::move(*buffer));
  }
  for (const auto& launch : plan.launches) {
    device::Launch out;
    out.program = bound->program_.get();
    out.entry = launch.entry;
    out.programs = launch.programs;
    out.threads = launch.threads;
    out.dynamic_shared_bytes = static_cast<std::size_t>(launch.dynamic_shared_bytes);
    out.cluster_size = launch.cluster_size;
    out.begins_early = plan.begins_early;
    for (const auto& argument : launch.arguments) {
      if (auto* tensor = std::get_if<kernels::TensorArgument>(&argument)) {
        auto view = places.of(*tensor, launch.entry);
        if (!view) return view.error();
        out.arguments.emplace_back(*view);
      } else if (auto* i32 = std::get_if<std::int32_t>(&argument)) {
        out.arguments.emplace_back(*i32);
      } else if (auto* i64 = std::get_if<std::int64_t>(&argument)) {
        out.arguments.emplace_back(*i64);
      } else {
        out.arguments.emplace_back(std::get<float>(argument));
      }
    }
    if (launch.product) {
      auto product = bind_product(*launch.product, places, launch.entry);
      if (!product) return product.error();
      out.product = *product;
    }
    bound->launches_.push_back(std::move(out));
  }
  return bound;
}

base::Result<void> BoundPlan::poison_scratch(device::Device& device) {
  for (const auto& buffer : scratch_)
    if (auto filled = device.fill({buffer.get(), 0}, 0xff, buffer->bytes()); !filled) return filled;
  return {};
}

}  // namespace hone::repository::native
