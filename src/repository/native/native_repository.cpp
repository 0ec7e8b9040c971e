#include "repository/native/native_repository.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/text.hpp"
#include "repository/native/native_operation.hpp"

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

NativeRepository::NativeRepository(launch::Context context, std::string settings_directory)
    : context_(std::move(context)),
      store_(context_.files,
             settings_directory.empty() ? SettingsStore::default_directory() : std::move(settings_directory)) {}

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

std::vector<PreflightCheck> NativeRepository::preflight(const model::Request& request) {
  std::vector<PreflightCheck> checks;
  auto operation = find_operation(request.kernel);
  checks.push_back({"kernel in the built-in library", operation ? (*operation)->main_file() : "not found",
                    operation ? "" : operation.error().remedy, operation.ok(), true});
  const model::DeviceInfo& info = context_.device.info();
  checks.push_back({"device", info.id + ": " + info.name, "", true, true});
  checks.push_back(launch::compiler_check(info));
  checks.push_back(launch::target_check(info, request));
  return checks;
}

base::Result<std::unique_ptr<launch::Operation>> NativeRepository::operation(const model::Request& request) const {
  HONE_TRY(kernel, find_operation(request.kernel));
  const model::DeviceInfo& info = context_.device.info();
  HONE_TRY(dtype, resolve_dtype(**kernel, request.dtype, info));
  HONE_TRY(options, complete_options(**kernel, request.options));
  context_.ceilings->recall_cache_size();
  kernels::Target target = target_of(info);
  if (request.last_level_cache_bytes > 0) target.last_level_bytes = request.last_level_cache_bytes;
  return native_operation({**kernel, target, std::move(*options), *dtype}, store_, info.name);
}

base::Result<std::unique_ptr<Session>> NativeRepository::open(const model::Request& request) {
  HONE_TRY(described, operation(request));
  return launch::LaunchSession::open(context_, std::move(*described), request);
}

base::Result<std::unique_ptr<launch::LaunchSession>> NativeRepository::open_to_verify(const model::Request& request) {
  HONE_TRY(described, operation(request));
  return std::make_unique<launch::LaunchSession>(context_, std::move(*described), request,
                                                 std::vector<std::int64_t>{4096});
}

}  // namespace hone::repository::native
