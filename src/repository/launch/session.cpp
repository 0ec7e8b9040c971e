// Opening a session, and what it says of itself without running anything.
#include "repository/launch/session.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "measure/physics.hpp"
#include "repository/held_out.hpp"
#include "repository/launch/bound_plan.hpp"

namespace hone::repository::launch {

namespace {

base::Error usage(std::string expected, std::string found, std::string where, std::string remedy) {
  return {base::ErrorKind::usage, std::move(expected), std::move(found), std::move(where), std::move(remedy)};
}

// The ceiling of matrix products with operands of a type, where a device has one of its own for it.
std::string matrix_rate_name(kernels::DType dtype) {
  return dtype == kernels::DType::fp32 ? "" : fmt::format("matrix_{}_flops_per_s", kernels::name_of(dtype));
}

base::Result<std::vector<std::int64_t>> sizes_of(const model::Request& request, const Operation& operation) {
  std::vector<std::int64_t> sizes;
  for (const std::string& text : request.sizes) {
    HONE_TRY(size, parse_size(text));
    sizes.push_back(*size);
  }
  if (sizes.empty()) {
    sizes = operation.default_sizes();
    if (request.quick && sizes.size() > 2) sizes = {sizes.front(), sizes.back()};
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

base::Result<void> check_size(const model::DeviceInfo& device, const Operation& operation, std::int64_t size) {
  HONE_TRY(problem, operation.problem_at(size));
  HONE_TRY(tensors, (*problem)->tensors());
  double tensor_bytes = 0, scratch_bytes = 0;
  for (const TensorSpec& tensor : *tensors) tensor_bytes += 2.0 * static_cast<double>(tensor.bytes());
  // What can not be evaluated is said before anything is compiled.
  for (const std::string& pass : operation.passes()) HONE_PROPAGATE((*problem)->traffic(pass));
  HONE_PROPAGATE(operation.check(**problem));
  for (const std::string& pass : operation.passes()) {
    HONE_TRY(settings, (*problem)->shipped(pass));
    HONE_TRY(plan, (*problem)->plan(pass, *settings, Ablation::none));
    scratch_bytes = std::max(scratch_bytes, static_cast<double>(peak_scratch_bytes(*plan)));
  }
  const auto memory = static_cast<double>(device.total_memory_bytes);
  if (operation.unmeasurable().empty() && tensor_bytes + scratch_bytes > 0.8 * memory)
    return usage(
        fmt::format("sizes whose tensors fit in the {:.1f} GB of {}", memory / 1e9, device.name),
        fmt::format("{} = {} needs {:.1f} GB{}", operation.x_name(), size, (tensor_bytes + scratch_bytes) / 1e9,
                    scratch_bytes > 0 ? fmt::format(", {:.1f} GB of it scratch", scratch_bytes / 1e9) : ""),
        "--sizes", "choose smaller sizes");
  return {};
}

}  // namespace

base::Result<std::int64_t> parse_size(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1)
    return usage("an integer of at least 1", "'" + text + "'", "--sizes", "give sizes like --sizes 1024,4096");
  return value;
}

PreflightCheck compiler_check(const model::DeviceInfo& device) {
  const std::string none = device.compiler_problem.empty() ? "none" : device.compiler_problem;
  const bool hangs = device.compiler_problem.find("hangs") != std::string::npos;
  return {"kernel compiler", device.compiler.empty() ? none : device.compiler,
          device.kind == "cuda" ? "install NVRTC: pip install nvidia-cuda-nvrtc, or the CUDA toolkit"
          : hangs               ? "find out what it waits for, or name another compiler with HONE_CXX"
                                : "install a C++ compiler: apt-get install g++",
          !device.compiler.empty(), true};
}

PreflightCheck target_check(const model::DeviceInfo& device, const model::Request& request) {
  return {"target GPU", request.target_gpu,
          "work goes on with " + device.name + "; choose --target-gpu auto to silence this",
          request.target_gpu == "auto" || request.target_gpu == device.architecture, false};
}

base::Result<std::unique_ptr<Session>> LaunchSession::open(const Context& context, std::unique_ptr<Operation> operation,
                                                           const model::Request& request) {
  HONE_TRY(sizes, sizes_of(request, *operation));
  for (const std::int64_t size : *sizes) HONE_PROPAGATE(check_size(context.device.info(), *operation, size));
  return std::unique_ptr<Session>(
      std::make_unique<LaunchSession>(context, std::move(operation), request, std::move(*sizes)));
}

LaunchSession::LaunchSession(const Context& context, std::unique_ptr<Operation> operation,
                             const model::Request& request, std::vector<std::int64_t> sizes)
    : context_(context),
      device_(context.device, context.is_isolated),
      operation_(std::move(operation)),
      request_(request),
      sizes_(std::move(sizes)),
      identity_(operation_->identity()),
      launcher_(device_, *operation_, request.seed) {
  identity_.source_hash = operation_->source_hash(plans_in_force());
}

std::vector<Planned> LaunchSession::plans_in_force() const {
  std::vector<Planned> plans;
  for (const std::string& pass : operation_->passes())
    for (const std::int64_t x : sizes_)
      if (const auto at = operation_->problem_at(x))
        if (auto planned = launcher_.plan({}, pass, **at)) plans.push_back(std::move(*planned));
  return plans;
}

model::Request LaunchSession::resolved(const model::Request& asked) const {
  model::Request request = asked;
  request.dtype = kernels::name_of(operation_->dtype());
  request.sizes = sizes();
  request.options = operation_->options();
  if (const std::int64_t bytes = operation_->last_level_cache_bytes(); bytes > 0)
    request.last_level_cache_bytes = bytes;
  return request;
}

model::DeviceInfo LaunchSession::device() const {
  model::DeviceInfo info = device_.info();
  if (operation_->is_for_gpu() && info.kind != "cuda") {
    info = {};
    info.name = "no GPU used: " + unmeasurable();
    info.kind = info.id = "none";
  }
  info.target_gpu = request_.target_gpu;
  info.hardware_match = request_.target_gpu == "auto" || request_.target_gpu == info.architecture;
  return info;
}

std::vector<std::string> LaunchSession::remarks() {
  std::vector<ProblemPtr> problems;
  for (const std::int64_t x : sizes_)
    if (auto at = operation_->problem_at(x)) problems.push_back(std::move(*at));
  std::vector<std::string> remarks = operation_->remarks(problems);
  // What hone wrote, its own tests have verified.
  if (!operation_->is_trusted({})) remarks.insert(remarks.begin(), "correctness: " + correctness());
  return remarks;
}

std::vector<std::string> LaunchSession::sizes() const {
  std::vector<std::string> names;
  for (const std::int64_t x : sizes_) names.push_back(std::to_string(x));
  return names;
}

std::vector<std::string> LaunchSession::held_out_sizes() const {
  std::vector<std::string> names;
  for (const std::int64_t x : sizes_between(sizes_))
    if (operation_->problem_at(x)) names.push_back(std::to_string(x));
  return names;
}

std::vector<std::string> LaunchSession::modes() const {
  std::vector<std::string> modes = operation_->passes();
  if (modes.size() > 1) modes.emplace_back("full");
  return modes;
}

base::Result<ProblemPtr> LaunchSession::problem(const std::string& x_value) const {
  HONE_TRY(x, parse_size(x_value));
  return operation_->problem_at(*x);
}

std::vector<std::string> LaunchSession::passes_of(const std::string& mode) const {
  std::vector<std::string> passes;
  for (std::string& pass : operation_->passes())
    if (mode == "full" || pass == mode) passes.push_back(std::move(pass));
  return passes;
}

std::vector<std::string> LaunchSession::passes_in_scope() const {
  return passes_of(request_.scope == "forward" || request_.scope == "backward" ? request_.scope : "full");
}

PassFloor LaunchSession::floor(const Cell& cell) {
  PassFloor total;
  auto at = problem(cell.x_value);
  if (!at) return total;
  for (const std::string& pass : passes_of(cell.mode)) {
    auto traffic = (*at)->traffic(pass);
    if (!traffic) continue;
    total.bytes += traffic->bytes();
    total.flops += traffic->flops;
    if (!context_.ceilings->known()) continue;
    const std::int64_t cache =
        std::max(operation_->last_level_cache_bytes(), device_.info().largest_last_level_cache_bytes());
    const measure::PhysicsFloor floor =
        measure::physics_floor({traffic->bytes_read, traffic->bytes_written, traffic->flops, traffic->matrix_flops,
                                matrix_rate_name(operation_->dtype())},
                               *context_.ceilings->known(), {static_cast<double>(cache)});
    total.floor_ms += floor.reference_ns / 1e6;
    // What forward leaves in the cache backward need not fetch: of both in a row only the longer one is certain.
    total.physics_floor_ms = std::max(total.physics_floor_ms, floor.floor_ns / 1e6);
    total.ceiling = floor.reference_ceiling;
  }
  return total;
}

std::vector<Knob> LaunchSession::knobs() const {
  std::vector<Knob> all;
  for (const std::string& pass : passes_in_scope())
    for (const OperationKnob& knob : operation_->knobs(pass)) all.push_back(knob);
  return all;
}

}  // namespace hone::repository::launch
