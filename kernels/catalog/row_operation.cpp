// See row_operation.hpp.
#include "kernels/catalog/row_operation.hpp"

#include "kernels/catalog/cuda_row_config.hpp"

namespace kernels {

Problem RowOperation::problem_at(std::int64_t x, const Target& target, DType dtype, const Options& options) const {
  return {row_count(target, dtype), x, 0, dtype, options};
}

std::string RowOperation::check(const Problem& problem) const {
  if (const std::string wrong = check_options(*this, problem.options); !wrong.empty()) return wrong;
  if (const std::string wrong = check_values(problem); !wrong.empty()) return wrong;
  if (problem.dtype == DType::int64) return "dtype must be fp32, bf16 or fp16";
  return check_sizes(problem);
}

std::vector<Knob> RowOperation::knobs(Pass pass, const Target& target) const {
  return target.machine == Machine::cuda ? cuda_row_knobs(space(pass), target) : row_knobs(space(pass), target);
}

std::string RowOperation::valid(Pass pass, const Settings& settings, const Problem& problem,
                                const Target& target) const {
  const RowSpace all = space(pass, problem);
  return target.machine == Machine::cuda ? cuda_row_valid(all, settings, problem, target)
                                         : row_valid(all, settings, problem, target);
}

Settings RowOperation::heuristic(Pass pass, const Problem& problem, const Target& target) const {
  const RowSpace all = space(pass, problem);
  return target.machine == Machine::cuda ? cuda_row_heuristic(all, problem, target)
                                         : row_heuristic(all, problem, target);
}

Plan RowOperation::plan(Pass pass, const Problem& problem, const Settings& settings, const Target& target,
                        Ablation ablation) const {
  Plan plan;
  if (target.machine == Machine::cuda) {
    const RowSpace all = space(pass, problem);
    const CudaRowConfig config = CudaRowConfig::from(settings);
    plan = launches(pass, problem, on_cuda(all, config, problem, target));
    plan.defines = cuda_row_defines(all, config, problem, pass, ablation);
  } else {
    const RowConfig config = RowConfig::from(settings);
    plan = launches(pass, problem, config);
    plan.defines = row_defines(config, problem, pass, ablation);
  }
  plan.main_file = main_file();
  for (auto& define : option_defines(problem)) plan.defines.push_back(std::move(define));
  return plan;
}

Launch independent_launch(const std::string& entry, const std::vector<std::string>& matrices, const Problem& problem,
                          const RowConfig& config, const std::vector<float>& numbers) {
  const RowGrid grid = independent_rows(config, problem);
  Launch launch = {entry, grid.programs, config.num_threads, config.shared_bytes};
  for (const std::string& name : matrices) {
    launch.arguments.emplace_back(TensorArgument{name});
    launch.arguments.emplace_back(row_stride(problem));
  }
  for (const std::int64_t number : {problem.rows, grid.rows_per_program, problem.columns}) {
    launch.arguments.emplace_back(number);
  }
  for (const float number : numbers) launch.arguments.emplace_back(number);
  return launch;
}

}  // namespace kernels
