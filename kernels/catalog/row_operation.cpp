// See row_operation.hpp.
#include "kernels/catalog/row_operation.hpp"

#include <stdexcept>

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
  if (target.machine != Machine::cpu) return {};
  return row_knobs(space(pass), target);
}

std::string RowOperation::valid(Pass pass, const Settings& settings, const Problem& problem,
                                const Target& target) const {
  return row_valid(space(pass, problem), settings, problem, target);
}

Settings RowOperation::heuristic(Pass pass, const Problem& problem, const Target& target) const {
  return row_heuristic(space(pass, problem), problem, target);
}

Plan RowOperation::plan(Pass pass, const Problem& problem, const Settings& settings, const Target& target,
                        Ablation ablation) const {
  if (target.machine != Machine::cpu) throw std::logic_error(name() + " has no plan for this machine");
  const RowConfig config = RowConfig::from(settings);
  Plan plan = launches(pass, problem, config);
  plan.main_file = main_file();
  plan.defines = row_defines(config, problem, pass, ablation);
  for (auto& define : option_defines(problem)) plan.defines.push_back(std::move(define));
  return plan;
}

Launch independent_launch(const std::string& entry, const std::vector<std::string>& matrices, const Problem& problem,
                          const RowConfig& config, const std::vector<float>& numbers) {
  const RowGrid grid = independent_rows(config, problem);
  Launch launch = {entry, grid.programs, config.num_threads};
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
