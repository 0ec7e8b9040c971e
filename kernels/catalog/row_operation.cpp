// See row_operation.hpp.
#include "kernels/catalog/row_operation.hpp"

#include "kernels/catalog/cuda_row_config.hpp"

namespace kernels {

std::vector<Knob> knobs_on(const Target& target, const RowSpace& space) {
  return target.machine == Machine::cuda ? cuda_row_knobs(space, target) : row_knobs(space, target);
}

std::string fault_on(const Target& target, const RowSpace& space, const Settings& settings, const Problem& problem) {
  return target.machine == Machine::cuda ? cuda_row_valid(space, settings, problem, target)
                                         : row_valid(space, settings, problem, target);
}

Settings heuristic_on(const Target& target, const RowSpace& space, const Problem& problem) {
  return target.machine == Machine::cuda ? cuda_row_heuristic(space, problem, target)
                                         : row_heuristic(space, problem, target);
}

Configured configured_on(const Target& target, const RowSpace& space, const Settings& settings, const Problem& problem,
                         Pass pass, Ablation ablation) {
  if (target.machine == Machine::cuda) {
    const CudaRowConfig config = CudaRowConfig::from(settings);
    return {on_cuda(space, config, problem, target), cuda_row_defines(space, config, problem, pass, ablation)};
  }
  const RowConfig config = RowConfig::from(settings);
  return {config, row_defines(config, problem, pass, ablation)};
}

Problem RowOperation::problem_at(std::int64_t x, const Target& target, DType dtype, const Options& options) const {
  return {row_count(target, dtype), x, 0, dtype, options};
}

std::string RowOperation::check(const Problem& problem) const {
  if (const std::string wrong = check_options(*this, problem.options); !wrong.empty()) return wrong;
  if (const std::string wrong = check_values(problem); !wrong.empty()) return wrong;
  if (problem.dtype == DType::int64) return "dtype must be fp32, bf16 or fp16";
  return check_sizes(problem);
}

Traffic RowOperation::traffic(Pass pass, const Problem& problem) const {
  return tensor_traffic(*this, pass, problem,
                        operations(pass, problem) * double(problem.rows) * double(problem.columns));
}

RowSpace RowOperation::space_at(Pass pass, const Problem& problem) const {
  RowSpace result = space(pass);
  result.output_bytes =
      result.result_matrices * double(problem.rows) * double(problem.columns) * size_of(problem.dtype);
  result.in_place = result.in_place || (pass == Pass::backward && in_place(problem));
  fit(result, pass, problem);
  return result;
}

Plan RowOperation::plan(Pass pass, const Problem& problem, const Settings& settings, const Target& target,
                        Ablation ablation) const {
  Configured configured = configured_on(target, space_at(pass, problem), settings, problem, pass, ablation);
  RowPlan plan(main_file(), std::move(configured.defines), configured.config, problem);
  plan.define(option_defines(problem));
  add_launches(plan, pass, problem);
  return plan.take();
}

Plan RowOperation::eager_plan(Pass pass, const Problem& problem, const Target& target) const {
  EagerPlan plan("kernels/" + name() + "/" + name() + "_eager.hpp", pass, problem, eager_dtype(problem), target);
  add_eager(plan, pass, problem);
  return plan.take();
}

}  // namespace kernels
