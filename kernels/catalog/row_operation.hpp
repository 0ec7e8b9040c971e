// What every operation over the rows of a matrix answers in the same way; a kernel adds its own part.
#pragma once

#include "kernels/catalog/row_config.hpp"
#include "kernels/catalog/row_problem.hpp"

namespace kernels {

class RowOperation : public Operation {
 public:
  std::vector<DType> dtypes() const override { return {DType::fp32, DType::bf16, DType::fp16}; }
  std::string main_file() const override { return "kernels/" + name() + "/" + name() + ".hpp"; }
  std::string x_name() const override { return "hidden_size"; }
  std::vector<std::int64_t> default_sizes(const Target&, DType) const override { return hidden_sizes(); }
  Problem problem_at(std::int64_t x, const Target& target, DType dtype, const Options& options) const override;
  std::string check(const Problem& problem) const override;

  std::vector<Knob> knobs(Pass pass, const Target& target) const override;
  std::string valid(Pass pass, const Settings& settings, const Problem& problem, const Target& target) const override;
  Settings heuristic(Pass pass, const Problem& problem, const Target& target) const override;
  Plan plan(Pass pass, const Problem& problem, const Settings& settings, const Target& target,
            Ablation ablation) const override;

 protected:
  // The space of a pass: of the knobs alone, which depend on no problem, and for a problem.
  virtual RowSpace space(Pass pass) const = 0;
  virtual RowSpace space(Pass pass, const Problem& problem) const = 0;
  // Scratch and launches of a plan.
  virtual Plan launches(Pass pass, const Problem& problem, const RowConfig& config) const = 0;
  // Defines besides the settings: what the options fix at compile time.
  virtual std::vector<std::pair<std::string, std::string>> option_defines(const Problem&) const { return {}; }
  // What is wrong with the options' values beyond each one's own range.
  virtual std::string check_values(const Problem&) const { return ""; }
};

// The launch of a pass whose programs are independent: matrices with their strides, then rows, rows of a program, columns,
// then numbers.
Launch independent_launch(const std::string& entry, const std::vector<std::string>& matrices, const Problem& problem,
                          const RowConfig& config, const std::vector<float>& numbers = {});

}  // namespace kernels
