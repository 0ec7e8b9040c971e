#include "repository/native/native_repository.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "base/text.hpp"
#include "repository/native/native_session.hpp"

namespace hone::repository::native {

namespace {

base::Error usage(std::string expected, std::string found, std::string where, std::string remedy) {
  return {base::ErrorKind::usage, std::move(expected), std::move(found), std::move(where), std::move(remedy)};
}

int vector_bytes(const std::vector<std::string>& isa) {
  auto has = [&](const char* name) {
    return std::any_of(isa.begin(), isa.end(),
                       [&](const std::string& entry) { return base::starts_with(entry, name); });
  };
  if (has("avx512f")) return 64;
  if (has("avx")) return 32;
  return 16;
}

}  // namespace

NativeRepository::NativeRepository(NativeContext context) : context_(std::move(context)) {
  if (context_.settings_directory.empty()) context_.settings_directory = SettingsStore::default_directory();
}

std::vector<KernelEntry> list_kernels() {
  std::vector<KernelEntry> entries;
  for (const auto& operation : kernels::catalog()) {
    KernelEntry entry{operation->name(), operation->formula(), operation->tier(), {"forward", "backward", "full"}, {}};
    for (kernels::DType dtype : operation->dtypes()) entry.dtypes.push_back(kernels::name_of(dtype));
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<KernelEntry> NativeRepository::list() const { return list_kernels(); }

base::Result<const kernels::Operation*> find_operation(const std::string& name) {
  if (const kernels::Operation* operation = kernels::find(name)) return operation;
  std::vector<std::string> names;
  for (const auto& operation : kernels::catalog()) names.push_back(operation->name());
  std::vector<std::string> near = base::nearest(name, names);
  std::string remedy = near.empty() ? "choose one of: " + base::join_text(names, ", ")
                                    : "did you mean " + base::join_text(near, " or ") + "?";
  return usage("a kernel of the built-in library", "'" + name + "'", "KERNEL",
               remedy + " ('hone list' shows them all)");
}

kernels::Target target_of(const model::DeviceInfo& device) {
  kernels::Target target;
  target.machine = device.kind == "cuda" ? kernels::Machine::cuda : kernels::Machine::cpu;
  target.cores = std::max(1, device.sm_count);
  for (const model::Cache& cache : device.caches) {
    if (cache.level == 1) target.l1_bytes = cache.bytes;
    if (cache.level == 2) target.l2_bytes = cache.bytes;
  }
  if (device.last_level_cache_bytes() > 0) target.last_level_bytes = device.last_level_cache_bytes();
  target.vector_bytes = vector_bytes(device.isa);
  target.shared_bytes = device.shared_memory_per_block_bytes;
  if (const std::size_t dot = device.compute_capability.find('.'); dot != std::string::npos)
    target.compute_capability =
        10 * std::atoi(device.compute_capability.c_str()) + std::atoi(device.compute_capability.c_str() + dot + 1);
  return target;
}

base::Result<kernels::Options> complete_options(const kernels::Operation& operation,
                                                const std::map<std::string, std::string>& given) {
  kernels::Options options = kernels::default_options(operation);
  std::vector<std::string> names;
  for (const kernels::OptionSpec& spec : operation.options()) names.push_back(spec.name);
  for (const auto& [name, value] : given) {
    if (!options.count(name))
      return usage(names.empty() ? operation.name() + " without options, because it has none"
                                 : "an option of " + operation.name() + ": " + base::join_text(names, ", "),
                   "'" + name + "'", "--option", "leave it out, or correct its name");
    options[name] = value;
  }
  if (std::string broken = kernels::check_options(operation, options); !broken.empty())
    return usage("options that " + operation.name() + " has", broken, "--option", "give an allowed value");
  return options;
}

base::Result<kernels::DType> resolve_dtype(const kernels::Operation& operation, const std::string& dtype,
                                           const model::DeviceInfo& device) {
  std::string wanted = dtype.empty() ? (device.kind == "cuda" ? "bf16" : "fp32") : dtype;
  std::vector<std::string> names;
  for (kernels::DType each : operation.dtypes()) {
    names.emplace_back(kernels::name_of(each));
    if (names.back() == wanted) return each;
  }
  return usage("a dtype of " + operation.name() + ": " + base::join_text(names, ", "), "'" + wanted + "'", "--dtype",
               "choose one of them");
}

base::Result<std::int64_t> parse_size(const std::string& text) {
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1)
    return usage("a whole number of at least 1", "'" + text + "'", "--sizes", "give sizes like --sizes 1024,4096");
  return value;
}

std::vector<PreflightCheck> NativeRepository::preflight(const model::Request& request) {
  std::vector<PreflightCheck> checks;
  auto operation = find_operation(request.kernel);
  checks.push_back({"kernel in the built-in library", operation ? (*operation)->main_file() : "not found",
                    operation ? "" : operation.error().remedy, operation.ok(), true});
  const model::DeviceInfo& info = context_.device.info();
  checks.push_back({"device", info.id + ": " + info.name, "", true, true});
  const std::string none = info.compiler_problem.empty() ? "none" : info.compiler_problem;
  const bool hangs = info.compiler_problem.find("hangs") != std::string::npos;
  checks.push_back({"kernel compiler", info.compiler.empty() ? none : info.compiler,
                    info.kind == "cuda" ? "install NVRTC: pip install nvidia-cuda-nvrtc, or the CUDA toolkit"
                    : hangs             ? "find out what it waits for, or name another compiler with HONE_CXX"
                                        : "install a C++ compiler: apt-get install g++",
                    !info.compiler.empty(), true});
  checks.push_back({"target GPU", request.target_gpu,
                    "work goes on with " + info.name + "; choose --target-gpu auto to silence this",
                    request.target_gpu == "auto" || request.target_gpu == info.architecture, false});
  return checks;
}

base::Result<std::unique_ptr<Session>> NativeRepository::open(const model::Request& request) {
  auto operation = find_operation(request.kernel);
  if (!operation) return operation.error();
  const model::DeviceInfo& info = context_.device.info();
  auto dtype = resolve_dtype(**operation, request.dtype, info);
  if (!dtype) return dtype.error();
  auto options = complete_options(**operation, request.options);
  if (!options) return options.error();

  context_.ceilings->recall_cache_size();
  kernels::Target target = target_of(info);
  if (request.last_level_cache_bytes > 0) target.last_level_bytes = request.last_level_cache_bytes;
  std::vector<std::int64_t> sizes;
  for (const std::string& text : request.sizes) {
    auto size = parse_size(text);
    if (!size) return size.error();
    sizes.push_back(*size);
  }
  if (sizes.empty()) {
    sizes = (*operation)->default_sizes(target, *dtype);
    if (request.quick && sizes.size() > 2) sizes = {sizes.front(), sizes.back()};
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  for (std::int64_t size : sizes) {
    kernels::Problem problem = (*operation)->problem_at(size, target, *dtype, *options);
    if (std::string broken = (*operation)->check(problem); !broken.empty())
      return usage("sizes that " + request.kernel + " can run",
                   fmt::format("{} = {}: {}", (*operation)->x_name(), size, broken), "--sizes",
                   "choose smaller or other sizes");
    double bytes = 0;
    for (const kernels::TensorSpec& tensor : (*operation)->tensors(problem))
      bytes += 2.0 * static_cast<double>(tensor.bytes());
    if (bytes > 0.8 * static_cast<double>(info.total_memory_bytes))
      return usage(
          fmt::format("sizes whose tensors fit in the {:.1f} GB of {}", info.total_memory_bytes / 1e9, info.name),
          fmt::format("{} = {} needs {:.1f} GB", (*operation)->x_name(), size, bytes / 1e9), "--sizes",
          "choose smaller sizes");
  }
  return NativeSession::open(context_, **operation, request, *dtype, *options, target, sizes);
}

}  // namespace hone::repository::native
