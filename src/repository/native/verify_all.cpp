#include "repository/native/verify_all.hpp"

#include "repository/native/bound_plan.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

namespace hone::repository::native {

namespace {

// Programs of a matrix, each compiled once: nearly every shape is a text of its own on a GPU (how a row fits the registers is
// a constant of the program), and one after the other they take longer than all the cases together.
class Programs {
 public:
  explicit Programs(device::Device& device) : device_(device) {}

  using Made = base::Result<std::shared_ptr<device::Program>>;

  // Compiles them on all cores; what fails is told when it is asked for.
  void compile(std::vector<device::ProgramSource> sources) {
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t i = next++; i < sources.size(); i = next++) (void)get(sources[i]);
    };
    std::vector<std::thread> workers;
    const std::size_t cores = std::max(std::thread::hardware_concurrency(), 1u);
    for (std::size_t i = 1; i < std::min(cores, sources.size()); ++i) workers.emplace_back(work);
    work();
    for (std::thread& worker : workers) worker.join();
  }

  Made get(const device::ProgramSource& source) {
    const std::string key = key_of(source);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (const auto found = made_.find(key); found != made_.end()) return found->second;
    }
    Made made = device_.compile(source);
    const std::lock_guard<std::mutex> lock(mutex_);
    return made_.emplace(key, std::move(made)).first->second;
  }

  // Of one kernel's texts, whose edits depend on the type alone, which is among the defines.
  static std::string key_of(const device::ProgramSource& source) {
    std::string key = source.name + source.main_file;
    for (const auto& [name, value] : source.defines) key += "|" + name + "=" + value;
    return key;
  }

 private:
  device::Device& device_;
  std::mutex mutex_;
  std::map<std::string, Made> made_;
};

}  // namespace

base::Result<std::vector<CaseResult>> verify_all(NativeContext& context, const VerifyRequest& request,
                                                 const std::function<bool(int, int, const CaseResult&)>& each) {
  auto operation = find_operation(request.kernel);
  if (!operation) return operation.error();
  std::vector<kernels::DType> dtypes = (*operation)->dtypes();
  if (!request.dtype.empty()) {
    auto one = resolve_dtype(**operation, request.dtype, context.device.info());
    if (!one) return one.error();
    dtypes = {*one};
  }
  auto options = complete_options(**operation, {});
  if (!options) return options.error();
  const kernels::Target target = target_of(context.device.info());
  const SettingsStore store(context.files, context.settings_directory.empty() ? SettingsStore::default_directory()
                                                                              : context.settings_directory);
  std::map<kernels::DType, std::optional<InstalledEntry>> installed;
  for (kernels::DType dtype : dtypes) {
    auto entry = store.load(request.kernel, context.device.info().name, kernels::name_of(dtype));
    if (!entry) return entry.error();
    installed[dtype] = std::move(*entry);
  }

  Programs programs(context.device);
  const auto source_of = [&](const kernels::Plan& plan, kernels::Pass pass, kernels::DType dtype) {
    const auto& entry = installed.at(dtype);
    return program_source(plan, request.kernel + " " + kernels::name_of(pass),
                          entry ? entry->variant.edits : std::vector<model::SourceEdit>{});
  };
  const auto implementation_of = [&](kernels::DType dtype) {
    Implementation implementation;
    implementation.plan = [&, dtype](kernels::Pass pass, const kernels::Problem& problem) {
      return (*operation)
          ->plan(pass, problem, settings_in_force(**operation, pass, problem, target, installed.at(dtype)), target,
                 kernels::Ablation::none);
    };
    implementation.program = [&, dtype](const kernels::Plan& plan,
                                        kernels::Pass pass) -> base::Result<std::shared_ptr<device::Program>> {
      auto source = source_of(plan, pass, dtype);
      if (!source) return source.error();
      return programs.get(*source);
    };
    return implementation;
  };

  const std::vector<VerificationCase> matrix =
      cases(**operation, request.smoke ? Extent::smoke : Extent::full, dtypes, *options, {4096});
  std::vector<device::ProgramSource> sources;
  std::set<std::string> distinct;
  for (const VerificationCase& which : matrix) {
    const kernels::DType dtype = which.problem.dtype;
    for (const kernels::Pass pass : {kernels::Pass::forward, kernels::Pass::backward}) {
      auto source = source_of(implementation_of(dtype).plan(pass, which.problem), pass, dtype);
      if (!source) return source.error();
      if (distinct.insert(Programs::key_of(*source)).second) sources.push_back(std::move(*source));
    }
  }
  programs.compile(std::move(sources));

  std::vector<CaseResult> all;
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    auto results =
        verify(context.device, **operation, matrix[i], implementation_of(matrix[i].problem.dtype), request.seed + 17);
    if (!results) return results.error();
    for (CaseResult& result : *results) {
      if (!each(static_cast<int>(i) + 1, static_cast<int>(matrix.size()), result))
        return base::Error{base::ErrorKind::interrupted, "to finish the matrix", "an interrupt", "hone verify",
                           "run it again; nothing was written"};
      all.push_back(std::move(result));
    }
  }
  return all;
}

}  // namespace hone::repository::native
