// A built-in kernel's passes as a profiler is shown them, and their counters on a GPU.
#include "repository/gpu_counters.hpp"

#include "repository/native/counter_pass.hpp"
#include "repository/native/native_session.hpp"

namespace hone::repository::native {

base::Result<NativeSession::BoundPass> NativeSession::bind_pass(kernels::Pass pass, std::int64_t x) {
  const kernels::Problem problem = problem_at(x);
  auto tensors = workload(x);
  if (!tensors) return tensors.error();
  const kernels::Plan plan =
      operation_.plan(pass, problem, resolve({}, pass, problem), target_, kernels::Ablation::none);
  auto compiled = program(plan, operation_.name() + " " + kernels::name_of(pass), edits_of({}));
  if (!compiled) return compiled.error();
  auto bound = BoundPlan::bind(context_.device, plan, *compiled, (*tensors)->views());
  if (!bound) return bound.error();
  return BoundPass{std::move(*tensors), std::move(*compiled), std::move(*bound)};
}

base::Result<void> NativeSession::run_passes(int launches) {
  for (const std::int64_t x : sizes_)
    for (const kernels::Pass pass : passes_in_scope()) {
      auto bound = bind_pass(pass, x);
      if (!bound) return bound.error();
      for (int i = 0; i < launches; ++i) {
        if (auto restored = bound->workload->restore(pass); !restored) return restored;
        if (auto ran = context_.device.run(bound->plan->launches()); !ran) return ran;
      }
    }
  return {};
}

base::Result<model::Counters> NativeSession::gpu_counters() {
  std::vector<BoundPass> bound;
  std::vector<CountedPass> passes;
  for (const kernels::Pass pass : passes_in_scope()) {
    auto one = bind_pass(pass, sizes_.back());
    if (!one) return one.error();
    passes.push_back({kernels::name_of(pass), one->program, one->plan->launches()});
    bound.push_back(std::move(*one));
  }
  CaptureTools tools{context_.processes, context_.files, context_.counter_command};
  if (!tools.command.empty()) {
    CounterPass pass;
    pass.settings_directory = context_.settings_directory;
    pass.kernel = operation_.name();
    pass.dtype = kernels::name_of(dtype_);
    pass.x_value = std::to_string(sizes_.back());
    pass.scope = request_.scope;
    pass.seed = request_.seed;
    pass.launches = kLaunchesOfACapture;
    pass.options = options_;
    tools.command.push_back(context_.device.info().id);
    for (std::string& word : pass.words()) tools.command.push_back(std::move(word));
  }
  return repository::gpu_counters(context_.device.info(), passes, tools);
}

}  // namespace hone::repository::native
