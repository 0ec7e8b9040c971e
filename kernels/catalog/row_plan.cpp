// See row_plan.hpp.
#include "kernels/catalog/row_plan.hpp"

#include "kernels/catalog/row_problem.hpp"

namespace kernels {

tile::MatrixOf<Given, void> matrix_of(const Operand& operand, const Problem& problem) {
  return {tensor(operand.name), operand.stride.value_or(row_stride(problem))};
}

Launch row_launch(const std::string& entry, const RowGrid& grid, const Problem& rows, const RowConfig& config,
                  const std::vector<Argument>& others) {
  Launch launch = {entry, grid.programs, config.num_threads + config.filling_threads, config.shared_bytes};
  launch.arguments = arguments(tile::RowsOf<Given>{rows.rows, grid.rows_per_program, rows.columns});
  launch.arguments.insert(launch.arguments.end(), others.begin(), others.end());
  return launch;
}

RowPlan::RowPlan(std::string main_file, Defines defines, const RowConfig& config, const Problem& problem)
    : problem_(problem), config_(config) {
  plan_.main_file = std::move(main_file);
  plan_.defines = std::move(defines);
}

void RowPlan::over_rows(const std::string& entry, const std::vector<Operand>& matrices,
                        const std::vector<std::string>& vectors, const std::vector<float>& numbers) {
  over(independent_rows(config_, problem_), problem_, entry, matrices, vectors, numbers);
}

void RowPlan::over_rows_of(const Problem& rows, const std::string& entry, const std::vector<Argument>& others) {
  plan_.launches.push_back(row_launch(entry, independent_rows(config_, rows), rows, config_, others));
}

std::int64_t RowPlan::accumulate_rows(const std::string& entry, const std::vector<Operand>& matrices,
                                      const std::vector<std::string>& vectors, const std::vector<float>& numbers) {
  const RowGrid grid = accumulated_rows(config_, problem_);
  over(grid, problem_, entry, matrices, vectors, numbers);
  return grid.programs;
}

void RowPlan::over(const RowGrid& grid, const Problem& rows, const std::string& entry,
                   const std::vector<Operand>& matrices, const std::vector<std::string>& vectors,
                   const std::vector<float>& numbers) {
  std::vector<Argument> all;
  for (const Operand& operand : matrices) {
    for (Argument& argument : arguments(matrix_of(operand, rows))) all.push_back(std::move(argument));
  }
  for (const std::string& name : vectors) all.push_back(tensor(name));
  all.insert(all.end(), numbers.begin(), numbers.end());
  plan_.launches.push_back(row_launch(entry, grid, rows, config_, all));
}

void RowPlan::column_sums(const std::string& entry, const std::vector<RowSum>& sums, std::int64_t partials) {
  using Sum = tile::ColumnSumOf<Given, void>;
  // On CUDA a program's warps share the rows of 32 columns, so that all multiprocessors have some.
  const std::int64_t of_program = config_.is_cuda() ? 32 : 512, none = 0;
  std::int64_t programs = 0;
  std::vector<Sum> given;
  for (const RowSum& sum : sums) {
    const std::string partial = sum.output + "_partial";
    scratch({partial, DType::fp32, partials, sum.columns, sum.columns});
    programs += (sum.columns + of_program - 1) / of_program;
    given.push_back({tensor(sum.output), tensor(partial), sum.columns});
  }
  if (sums.size() > 1) given.resize(3, {tensor(""), tensor(""), none});
  std::vector<Argument> all;
  for (const Sum& sum : given) {
    for (Argument& argument : arguments(sum)) all.push_back(std::move(argument));
  }
  all.insert(all.end(), {partials, of_program});
  plan_.launches.push_back({entry, programs, config_.num_threads, 0, 1, std::move(all)});
}

void RowPlan::launch(const std::string& entry, std::int64_t programs, std::vector<Argument> arguments) {
  plan_.launches.push_back({entry, programs, config_.num_threads, config_.shared_bytes, 1, std::move(arguments)});
}

}  // namespace kernels
