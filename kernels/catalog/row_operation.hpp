// What every operation over the rows of a matrix answers in the same way; a kernel adds its own part.
#pragma once

#include "kernels/catalog/catalog.hpp"
#include "kernels/catalog/eager_plan.hpp"
#include "kernels/catalog/row_problem.hpp"

namespace kernels {

// Knobs, constraints and choice of a space on the target's machine, and what settings of it make of a program.
std::vector<Knob> knobs_on(const Target& target, const RowSpace& space);
std::string fault_on(const Target& target, const RowSpace& space, const Settings& settings, const Problem& problem);
Settings heuristic_on(const Target& target, const RowSpace& space, const Problem& problem);
struct Configured {
  RowConfig config;
  Defines defines;
};
Configured configured_on(const Target& target, const RowSpace& space, const Settings& settings, const Problem& problem,
                         Pass pass, Ablation ablation);

class RowOperation : public Operation {
 public:
  std::vector<DType> dtypes() const override { return {DType::fp32, DType::bf16, DType::fp16}; }
  std::string main_file() const override { return "kernels/" + name() + "/" + name() + ".hpp"; }
  std::string x_name() const override { return "hidden_size"; }
  std::vector<std::int64_t> default_sizes(const Target&, DType) const override { return hidden_sizes(); }
  Problem problem_at(std::int64_t x, const Target& target, DType dtype, const Options& options) const override;
  std::string check(const Problem& problem) const override;

  Traffic traffic(Pass pass, const Problem& problem) const override;

  std::vector<Knob> knobs(Pass pass, const Target& target) const override { return knobs_on(target, space(pass)); }
  std::string valid(Pass pass, const Settings& settings, const Problem& problem, const Target& target) const override {
    return fault_on(target, space_at(pass, problem), settings, problem);
  }
  Settings heuristic(Pass pass, const Problem& problem, const Target& target) const override {
    return heuristic_on(target, space_at(pass, problem), problem);
  }
  Plan plan(Pass pass, const Problem& problem, const Settings& settings, const Target& target,
            Ablation ablation) const override;
  // Of the programs in <op>_eager.hpp.
  Plan eager_plan(Pass pass, const Problem& problem, const Target& target) const override;

 protected:
  // The space of a pass, whatever the problem: knobs depend on none.
  virtual RowSpace space(Pass pass) const = 0;
  // What a problem changes in it, besides what follows from its size and the option in_place.
  virtual void fit(RowSpace& space, Pass pass, const Problem& problem) const { (void)space, (void)pass, (void)problem; }
  // Arithmetic operations of a pass for each element of the matrix.
  virtual double operations(Pass pass, const Problem& problem) const = 0;
  // Scratch and launches of a pass.
  virtual void add_launches(RowPlan& plan, Pass pass, const Problem& problem) const = 0;
  // The same of an unfused framework, and the type of its temporaries.
  virtual void add_eager(EagerPlan& plan, Pass pass, const Problem& problem) const = 0;
  virtual DType eager_dtype(const Problem&) const { return DType::fp32; }
  // Defines besides the settings: what the options fix at compile time.
  virtual Defines option_defines(const Problem&) const { return {}; }
  // What is wrong with the options' values beyond each one's own range.
  virtual std::string check_values(const Problem&) const { return ""; }

 private:
  RowSpace space_at(Pass pass, const Problem& problem) const;
};

}  // namespace kernels
