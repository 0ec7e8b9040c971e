// See eager_plan.hpp.
#include "kernels/catalog/eager_plan.hpp"

#include <algorithm>

#include "kernels/catalog/cuda_row_config.hpp"
#include "kernels/catalog/row_problem.hpp"

namespace kernels {

EagerPlan::EagerPlan(const std::string& main_file, Pass pass, const Problem& problem, DType compute,
                     const Target& target)
    : RowPlan(main_file, {}, {}, problem), compute_(compute) {
  plan_.begins_early = false;  // as a framework launches
  if (target.machine == Machine::cuda) {
    // Operands are matrices and vectors of any length, so rows go in chunks.
    CudaRowConfig config;
    config.num_warps = 8;
    config.vectors = 4;
    plan_.defines = cuda_row_defines(RowSpace{}, config, problem, pass, Ablation::none);
    const bool whole = has_whole_vectors(problem) && problem.rows % vector_lanes(problem.dtype) == 0;
    for (auto& [name, value] : plan_.defines) {
      if (name == "ROW_FIT") value = "FIT_CHUNKED";
      if (name == "WHOLE_VECTORS") value = whole ? "1" : "0";
    }
    config_ = on_cuda(RowSpace{}, config, problem, target);
  } else {
    config_.unroll = 4;
    config_.vector_bytes = std::clamp(target.vector_bytes, 16, 64);
    config_.num_threads = std::max(target.cores, 1);
    plan_.defines = row_defines(config_, problem, pass, Ablation::none);
  }
  plan_.defines.emplace_back("COMPUTE", name_of(compute));
}

Operand EagerPlan::temporary(const std::string& name, std::optional<DType> dtype) {
  scratch({name, dtype.value_or(compute_), problem_.rows, problem_.columns, problem_.columns});
  return {name, problem_.columns};
}

Operand EagerPlan::vector(const std::string& name, std::int64_t length, std::optional<DType> dtype) {
  scratch({name, dtype.value_or(compute_), 1, length, length});
  return {name, length};
}

void EagerPlan::over_vector(const std::string& entry, const std::vector<Operand>& vectors, std::int64_t length,
                            const std::vector<float>& numbers) {
  Problem row = problem_;
  row.rows = 1, row.columns = length;
  over({1, 1}, row, entry, vectors, {}, numbers);
}

void EagerPlan::row_reduction(const std::string& entry, const std::string& output, const Operand& matrix,
                              float factor) {
  over_rows_of(problem_, entry, arguments(tensor(output), matrix_of(matrix, problem_), Argument(factor)));
}

void EagerPlan::column_sum(const std::string& output, const Operand& matrix, const std::string& partial_entry) {
  const RowGrid grid = accumulated_rows(config_, problem_);
  plan_.launches.push_back(row_launch(partial_entry, grid, problem_, config_,
                                      arguments(tensor(output + "_partial"), matrix_of(matrix, problem_))));
  column_sums("eager_column_sum", {{output, problem_.columns}}, grid.programs);
}

}  // namespace kernels
