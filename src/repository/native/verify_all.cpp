#include "repository/native/verify_all.hpp"

#include "repository/native/bound_plan.hpp"

#include <optional>

namespace hone::repository::native {

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

  Implementation implementation;
  implementation.plan = [&](kernels::Pass pass, const kernels::Problem& problem) {
    return (*operation)
        ->plan(pass, problem, settings_in_force(**operation, pass, problem, target, installed[problem.dtype]), target,
               kernels::Ablation::none);
  };
  kernels::DType current = dtypes.front();
  implementation.program = [&](const kernels::Plan& plan,
                               kernels::Pass pass) -> base::Result<std::shared_ptr<device::Program>> {
    const auto& entry = installed[current];
    auto source = program_source(plan, request.kernel + " " + kernels::name_of(pass),
                                 entry ? entry->variant.edits : std::vector<model::SourceEdit>{});
    if (!source) return source.error();
    return context.device.compile(*source);
  };

  std::vector<CaseResult> all;
  const std::vector<VerificationCase> matrix =
      cases(**operation, request.smoke ? Extent::smoke : Extent::full, dtypes, *options, {4096});
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    current = matrix[i].problem.dtype;
    auto results = verify(context.device, **operation, matrix[i], implementation, request.seed + 17);
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
