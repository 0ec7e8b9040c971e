// Builds the plan of a pass over the rows of a matrix: scratch and launches one after the other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/catalog/arguments.hpp"
#include "kernels/catalog/row_config.hpp"

namespace kernels {

// A matrix: its name (an empty one is a null pointer) and the distance of its rows, that of the problem's unless another is
// given.
struct Operand {
  Operand(const char* matrix) : name(matrix) {}
  Operand(std::string matrix, std::optional<std::int64_t> distance = {}) : name(std::move(matrix)), stride(distance) {}

  std::string name;
  std::optional<std::int64_t> stride;
};
// The argument that it is: a tile::Matrix.
tile::MatrixOf<Given, void> matrix_of(const Operand& operand, const Problem& problem);

// A launch over the rows of a problem: of a program with a tile::RowMachine, whose parameters `others` are.
Launch row_launch(const std::string& entry, const RowGrid& grid, const Problem& rows, const RowConfig& config,
                  const std::vector<Argument>& others);

// Sums over rows: `output` of `columns` values.
struct RowSum {
  std::string output;
  std::int64_t columns = 0;
};

class RowPlan {
 public:
  RowPlan(std::string main_file, Defines defines, const RowConfig& config, const Problem& problem);

  // A launch over the problem's rows of independent programs, whose parameters are matrices, then vectors by name (an empty one
  // is a null pointer), then numbers.
  void over_rows(const std::string& entry, const std::vector<Operand>& matrices,
                 const std::vector<std::string>& vectors = {}, const std::vector<float>& numbers = {});
  // The same for other parameters, and over the rows of another problem.
  void over_rows_of(const Problem& rows, const std::string& entry, const std::vector<Argument>& others);
  // The same as the first for an entry that sums over its rows; gives the number of programs, each of which has sums of its own.
  std::int64_t accumulate_rows(const std::string& entry, const std::vector<Operand>& matrices,
                               const std::vector<std::string>& vectors, const std::vector<float>& numbers = {});
  // Scratch <output>_partial of fp32, a row from each of `partials` programs, and the launch that adds them up:
  // tile::column_sum for one output, tile::column_sums for two or three.
  void column_sums(const std::string& entry, const std::vector<RowSum>& sums, std::int64_t partials);

  void launch(const std::string& entry, std::int64_t programs, std::vector<Argument> arguments);
  void scratch(TensorSpec spec) { plan_.scratch.push_back(std::move(spec)); }
  void define(const Defines& more) { plan_.defines.insert(plan_.defines.end(), more.begin(), more.end()); }

  const RowConfig& config() const { return config_; }
  const Problem& problem() const { return problem_; }
  // The plan so far, for launches that this class has no words for.
  Plan& raw() { return plan_; }
  Plan take() { return std::move(plan_); }

 protected:
  void over(const RowGrid& grid, const Problem& rows, const std::string& entry, const std::vector<Operand>& matrices,
            const std::vector<std::string>& vectors, const std::vector<float>& numbers);

  Problem problem_;
  RowConfig config_;
  Plan plan_;
};

}  // namespace kernels
