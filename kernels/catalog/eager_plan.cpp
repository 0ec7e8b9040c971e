// See eager_plan.hpp.
#include "kernels/catalog/eager_plan.hpp"

#include <algorithm>

#include "kernels/catalog/cuda_row_config.hpp"

namespace kernels {

EagerPlan::EagerPlan(const std::string& main_file, Pass pass, const Problem& problem, DType compute,
                     const Target& target)
    : problem_(problem) {
  plan_.main_file = main_file;
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
    RowConfig config;
    config.unroll = 4;
    config.vector_bytes = std::clamp(target.vector_bytes, 16, 64);
    plan_.defines = row_defines(config, problem, pass, Ablation::none);
    accumulating_.num_threads = std::max(target.cores, 1);
  }
  plan_.defines.emplace_back("COMPUTE", name_of(compute));
}

Operand EagerPlan::matrix(const std::string& name) const { return {name, row_stride(problem_)}; }

Operand EagerPlan::temporary(const std::string& name, DType dtype) {
  plan_.scratch.push_back({name, dtype, problem_.rows, problem_.columns, problem_.columns});
  return {name, problem_.columns};
}

Operand EagerPlan::vector(const std::string& name, DType dtype, std::int64_t length) {
  plan_.scratch.push_back({name, dtype, 1, length, length});
  return {name, length};
}

void EagerPlan::over_rows(const std::string& entry, const std::vector<Operand>& matrices,
                          const std::vector<std::string>& vectors, const std::vector<float>& numbers) {
  const RowGrid grid = independent_rows(config_, problem_);
  Launch launch = {entry, grid.programs, threads()};
  for (const Operand& operand : matrices) {
    launch.arguments.emplace_back(tensor(operand.name));
    launch.arguments.emplace_back(operand.stride);
  }
  for (const std::string& name : vectors) launch.arguments.emplace_back(tensor(name));
  launch.arguments.emplace_back(problem_.rows);
  launch.arguments.emplace_back(grid.rows_per_program);
  launch.arguments.emplace_back(problem_.columns);
  for (const float number : numbers) launch.arguments.emplace_back(number);
  plan_.launches.push_back(std::move(launch));
}

void EagerPlan::over_vector(const std::string& entry, const std::vector<Operand>& vectors, std::int64_t length,
                            const std::vector<float>& numbers) {
  Launch launch = {entry, 1, threads()};
  for (const Operand& operand : vectors) {
    launch.arguments.emplace_back(tensor(operand.name));
    launch.arguments.emplace_back(operand.stride);
  }
  launch.arguments.emplace_back(std::int64_t{1});
  launch.arguments.emplace_back(std::int64_t{1});
  launch.arguments.emplace_back(length);
  for (const float number : numbers) launch.arguments.emplace_back(number);
  plan_.launches.push_back(std::move(launch));
}

void EagerPlan::row_reduction(const std::string& entry, const std::string& output, const Operand& matrix,
                              float factor) {
  const RowGrid grid = independent_rows(config_, problem_);
  launch(entry, grid.programs,
         {tensor(output), tensor(matrix.name), matrix.stride, problem_.rows, grid.rows_per_program, problem_.columns,
          factor});
}

void EagerPlan::launch(const std::string& entry, std::int64_t programs, std::vector<Argument> arguments) {
  plan_.launches.push_back({entry, programs, threads(), 0, 1, std::move(arguments)});
}

void EagerPlan::column_sum(const std::string& output, const Operand& matrix, const std::string& partial_entry) {
  const RowGrid grid = accumulated_rows(config_.is_cuda() ? config_ : accumulating_, problem_);
  const std::string partial = output + "_partial";
  plan_.scratch.push_back({partial, DType::fp32, grid.programs, problem_.columns, problem_.columns});
  plan_.launches.push_back(
      {partial_entry,
       grid.programs,
       threads(),
       0,
       1,
       {tensor(partial), tensor(matrix.name), matrix.stride, problem_.rows, grid.rows_per_program, problem_.columns}});
  plan_.launches.push_back(
      column_sum_launch(config_, "eager_column_sum", output, partial, grid.programs, problem_.columns));
}

}  // namespace kernels
