// See row_plan.hpp.
#include "kernels/catalog/row_plan.hpp"

#include "kernels/catalog/row_problem.hpp"

namespace kernels {

RowPlan::RowPlan(std::string main_file, Defines defines, const RowConfig& config, const Problem& problem)
    : problem_(problem), config_(config) {
  plan_.main_file = std::move(main_file);
  plan_.defines = std::move(defines);
}

void RowPlan::over_rows(const std::string& entry, const std::vector<Operand>& matrices,
                        const std::vector<std::string>& vectors, const std::vector<float>& numbers) {
  over(independent_rows(config_, problem_), problem_, entry, matrices, vectors, numbers);
}

std::int64_t RowPlan::accumulate_rows(const std::string& entry, const std::vector<Operand>& matrices,
                                      const std::vector<std::string>& vectors, const std::vector<float>& numbers) {
  const RowGrid grid = accumulated_rows(config_, problem_);
  over(grid, problem_, entry, matrices, vectors, numbers);
  return grid.programs;
}

void RowPlan::column_sums(const std::string& entry, const std::vector<ColumnSum>& sums, std::int64_t partials) {
  // On CUDA a program's warps share the rows of 32 columns, so that all multiprocessors have some.
  const std::int64_t of_program = config_.is_cuda() ? 32 : 512;
  constexpr std::size_t most_sums = 3;
  std::int64_t programs = 0;
  std::vector<Argument> arguments;
  for (const ColumnSum& sum : sums) {
    const std::string partial = sum.output + "_partial";
    scratch({partial, DType::fp32, partials, sum.columns, sum.columns});
    programs += (sum.columns + of_program - 1) / of_program;
    arguments.insert(arguments.end(), {tensor(sum.output), tensor(partial)});
    if (sums.size() > 1) arguments.emplace_back(sum.columns);
  }
  for (std::size_t absent = sums.size(); sums.size() > 1 && absent < most_sums; ++absent) {
    arguments.insert(arguments.end(), 3, std::int64_t{0});
  }
  arguments.emplace_back(partials);
  if (sums.size() == 1) arguments.emplace_back(sums.front().columns);
  arguments.emplace_back(of_program);
  plan_.launches.push_back({entry, programs, config_.num_threads, 0, 1, std::move(arguments)});
}

void RowPlan::launch(const std::string& entry, std::int64_t programs, std::vector<Argument> arguments) {
  plan_.launches.push_back({entry, programs, config_.num_threads, config_.shared_bytes, 1, std::move(arguments)});
}

void RowPlan::over(const RowGrid& grid, const Problem& problem, const std::string& entry,
                   const std::vector<Operand>& matrices, const std::vector<std::string>& vectors,
                   const std::vector<float>& numbers) {
  std::vector<Argument> arguments;
  for (const Operand& matrix : matrices) {
    arguments.push_back(tensor(matrix.name));
    arguments.emplace_back(matrix.stride.value_or(row_stride(problem)));
  }
  for (const std::string& name : vectors) arguments.push_back(tensor(name));
  arguments.insert(arguments.end(), {problem.rows, grid.rows_per_program, problem.columns});
  arguments.insert(arguments.end(), numbers.begin(), numbers.end());
  launch(entry, grid.programs, std::move(arguments));
}

}  // namespace kernels
