// Every operation of the catalogue against double precision, over shapes, types, options, settings, and its eager plan.
#include "kernels/catalog/operation.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <tuple>

#include "kernels/catalog/option_cover.hpp"
#include "tests/kernels/plan_runner.hpp"

namespace kernels {
namespace {

using testing::Bench;
using testing::Case;
using testing::cpu_target;

std::string described(const Problem& problem) {
  std::string text = std::to_string(problem.rows) + " x " + std::to_string(problem.columns) + " + " +
                     std::to_string(problem.row_padding) + " " + name_of(problem.dtype);
  for (const auto& [name, value] : problem.options) text += " " + name + "=" + value;
  return text;
}

class OperationMatrix : public ::testing::TestWithParam<std::tuple<std::string, DType>> {
 protected:
  const Operation& operation() const { return *find(std::get<0>(GetParam())); }
  DType dtype() const { return std::get<1>(GetParam()); }

  Problem problem(std::int64_t rows, std::int64_t columns, std::int64_t padding = 0) const {
    return with(default_options(operation()), rows, columns, padding);
  }
  Problem with(const Options& options, std::int64_t rows, std::int64_t columns, std::int64_t padding = 0) const {
    const Problem result = {rows, columns, operation().depth_for(rows, columns), dtype(), options, padding};
    EXPECT_EQ(operation().check(result), "");
    return result;
  }
  void expect_right(const Case& c) const {
    Bench bench(operation(), c);
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      const auto failure = bench.run(pass, operation().heuristic(pass, c.problem, cpu_target()), cpu_target());
      EXPECT_FALSE(failure) << name_of(pass) << " of " << described(c.problem) << ": " << failure.what;
    }
  }
  // Any two options with all their values; every combination where there are few. Each is a text of its own to compile, so a
  // long list is shared among the types: fp32 has all of it, or, `thinned`, a part as well.
  std::vector<Options> all_options(bool thinned = false) const {
    std::vector<Options> all = option_cover(operation(), 2, 12);
    if (all.size() <= 4 || (dtype() == DType::fp32 && (!thinned || all.size() <= 12))) return all;
    std::vector<Options> some;
    const std::size_t step = all.size() <= 12 ? 2 : dtype() == DType::fp16 ? 8 : 4;
    for (std::size_t i = dtype() == DType::bf16 ? 1 : 0; i < all.size(); i += step) some.push_back(all[i]);
    return some;
  }
};

TEST_P(OperationMatrix, EveryShapeIsRight) {
  const std::vector<std::pair<std::int64_t, std::int64_t>> shapes = {{1, 1},    {5, 1},     {1, 7},    {3, 13},
                                                                     {7, 16},   {4, 31},    {2, 64},   {33, 127},
                                                                     {6, 1000}, {17, 1031}, {3, 4096}, {2, 40000}};
  for (const auto& [rows, columns] : shapes) expect_right({problem(rows, columns)});
}

TEST_P(OperationMatrix, EmptyProblemsTouchNothing) {
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{0, 16}, {5, 0}, {0, 0}}) {
    // Rows without columns have no classes.
    const bool has_classes =
        default_options(operation()).count("ignore_index") > 0 || operation().name() == "grpo_loss";
    if (has_classes && rows > 0 && columns == 0) continue;
    expect_right({problem(rows, columns)});
  }
}

TEST_P(OperationMatrix, PaddedRowsAndMisalignedBasesAreRight) {
  expect_right({problem(9, 100, 3)});
  expect_right({problem(9, 64, 64)});
  expect_right({problem(9, 333), 1});
  expect_right({problem(9, 512, 1), 5});
}

TEST_P(OperationMatrix, EveryOptionIsRight) {
  for (const Options& options : all_options()) expect_right({with(options, 12, 77)});
}

TEST_P(OperationMatrix, SettingsAreRight) {
  const Problem p = problem(13, 201, 7);
  Bench bench(operation(), {p});
  // Each is a text to compile. The types differ in how an element is loaded and stored alone, so fp32 has the whole sample and
  // the 16-bit ones share it.
  const std::size_t every = dtype() == DType::fp32 ? 1 : dtype() == DType::bf16 ? 3 : 5;
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    for (const Settings& settings : testing::sample_of_settings(operation(), pass, p, cpu_target(), every)) {
      const auto failure = bench.run(pass, settings, cpu_target());
      std::string text;
      for (const auto& [name, value] : settings) text += name + "=" + std::to_string(value) + " ";
      ASSERT_FALSE(failure) << name_of(pass) << " with " << text << ": " << failure.what;
    }
  }
}

// When a row is summed changes nothing in what is summed, nor the order: the same bits, in place too, whatever is left of a
// block, and in rows of more than one chain of additions.
TEST_P(OperationMatrix, RowsThatAreSummedBesideOthersGiveTheSameBits) {
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    const std::vector<Knob> knobs = operation().knobs(pass, cpu_target());
    const auto knob = std::find_if(knobs.begin(), knobs.end(), [](const Knob& k) { return k.name == "PREFETCH_ROWS"; });
    if (knob == knobs.end() || knob->values.back() != 2) continue;
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{4, 33}, {11, 203}, {9, 40001}}) {
      Problem p = problem(rows, columns, 5);
      if (p.options.count("in_place") > 0) p.options["in_place"] = rows == 11 ? "yes" : "no";
      Bench bench(operation(), {p, rows == 9 ? 0 : 3});
      for (const int block_row : {1, 2, 4}) {
        Settings settings = operation().heuristic(pass, p, cpu_target());
        settings["STREAMING_STORES"] = 1;
        settings["BLOCK_ROW"] = block_row;
        settings["UNROLL"] = block_row == 4 ? 1 : 2;
        if (!operation().valid(pass, settings, p, cpu_target()).empty()) continue;  // not that many rows
        std::vector<std::vector<double>> results;
        for (const int prefetch_rows : {0, 2}) {
          settings["PREFETCH_ROWS"] = prefetch_rows;
          const auto failure = bench.run(pass, settings, cpu_target());
          ASSERT_FALSE(failure) << name_of(pass) << " of " << described(p) << ": " << failure.what;
          results.emplace_back();
          for (const std::string& name : operation().pass(pass, p).outputs) {
            for (const double value : bench.output(name)) results.back().push_back(value);
          }
        }
        EXPECT_EQ(results[0], results[1]) << name_of(pass) << " of " << described(p) << ", rows together " << block_row;
      }
    }
  }
}

TEST_P(OperationMatrix, NonFiniteInputsComeOutAsTheFormulaSays) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  for (const double special : {nan, inf, -inf}) {
    expect_right({problem(5, 70), 0, [&](auto& values) {
                    for (auto& [name, elements] : values) {
                      // Row 1 and, in the vectors that rows share, nothing.
                      if (elements.size() == 5 * 70) elements[70 + 33] = special;
                    }
                  }});
  }
}

TEST_P(OperationMatrix, ThePassesAreDeterministic) {
  const Problem p = problem(37, 260);
  Bench bench(operation(), {p});
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    const Settings settings = operation().heuristic(pass, p, cpu_target());
    std::vector<std::vector<double>> runs;
    for (int run = 0; run < 2; ++run) {
      ASSERT_FALSE(bench.run(pass, settings, cpu_target()));
      std::vector<double> all;
      for (const std::string& name : operation().pass(pass, p).outputs) {
        for (const double value : bench.output(name)) all.push_back(value);
      }
      runs.push_back(all);
    }
    EXPECT_EQ(runs[0], runs[1]) << name_of(pass);
  }
}

TEST_P(OperationMatrix, TheEagerPlanComputesTheSame) {
  for (const Options& options : all_options(true)) {
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{12, 77}, {1, 1}, {0, 5}, {64, 512}}) {
      const Problem p = with(options, rows, columns, 3);
      Bench bench(operation(), {p});
      for (const Pass pass : {Pass::forward, Pass::backward}) {
        // In 16 bits it rounds up to a dozen temporaries where the kernel rounds one result.
        const double slack = dtype() == DType::fp32 ? 2 : 6;
        const auto failure = bench.run(pass, operation().eager_plan(pass, p, cpu_target()), slack);
        EXPECT_FALSE(failure) << name_of(pass) << " of " << described(p) << ": " << failure.what;
      }
    }
  }
}

// Two rounded terms that cancel in one column, whose sum is far below their roundings, among columns of nothing: the bound is
// that of the column's own terms.
TEST(WeightGradients, ThatCancelAreWithinTheBoundOfTheirTerms) {
  for (const char* name : {"rms_norm", "fused_add_rms_norm"}) {
    const Operation& operation = *find(name);
    const Problem p = {2, 512, 0, DType::bf16, default_options(operation)};
    const auto cancel = [](auto& values) {
      for (double& gradient : values.at("dy")) gradient = 0;
      for (int column = 5; column < 500; column += 45) {
        for (const int row : {0, 1}) {
          values.at("x")[row * 512 + column] = row == 0 ? 1.5 : 1.4375;
          if (values.count("r")) values.at("r")[row * 512 + column] = 0;
          values.at("dy")[row * 512 + column] = row == 0 ? 4 : -4;
        }
      }
    };
    Bench bench(operation, {p, 0, cancel});
    const Settings settings = operation.heuristic(Pass::backward, p, cpu_target());
    const auto failure = bench.run(Pass::backward, settings, cpu_target());
    EXPECT_FALSE(failure) << name << ": " << failure.what;
    Values inputs = {{"dy", {4, 1, -4, 1}}, {"x", {1, 1, 1, 1}}, {"s", {1, 1, 1, 1}}, {"rstd", {1, 1}}};
    const std::vector<double> terms =
        operation.term_sizes(Pass::backward, "dweight", {2, 2, 0, DType::bf16, p.options}, inputs);
    ASSERT_EQ(terms.size(), 2u);
    EXPECT_DOUBLE_EQ(terms[0], 8);
    EXPECT_DOUBLE_EQ(terms[1], 2);
  }
}

// Chunks of every size, of which the last one may be short, and sums over them in either type, give the same gradients.
TEST_P(OperationMatrix, ChunksOfRowsAreRight) {
  if (operation().knobs(Pass::forward, cpu_target()).back().name != "CHUNK_ROWS") return;
  for (const char* reduction : {"mean", "none"}) {
    for (const char* accum_dtype : {"input", "fp32"}) {
      for (const std::int64_t rows : {257, 384, 300}) {
        Options options = default_options(operation());
        options["reduction"] = reduction;
        options["accum_dtype"] = accum_dtype;
        options["bias"] = "yes";
        const Problem p = with(options, rows, 19);
        Bench bench(operation(), {p});
        for (const Pass pass : {Pass::forward, Pass::backward}) {
          Settings settings = operation().heuristic(pass, p, cpu_target());
          if (settings.at("CHUNK_ROWS") != 0) settings["CHUNK_ROWS"] = 128;
          ASSERT_EQ(operation().valid(pass, settings, p, cpu_target()), "");
          const Plan plan = operation().plan(pass, p, settings, cpu_target(), Ablation::none);
          const auto losses = std::count_if(plan.launches.begin(), plan.launches.end(),
                                            [](const Launch& launch) { return launch.entry == "fused_linear_losses"; });
          EXPECT_EQ(losses, settings.at("CHUNK_ROWS") == 0 ? 0 : 3);
          const auto failure = bench.run(pass, settings, cpu_target());
          EXPECT_FALSE(failure) << name_of(pass) << " of " << described(p) << ": " << failure.what;
        }
      }
    }
  }
}

// Under the ablations the same plan runs, whatever it computes: it stays inside its tensors.
TEST_P(OperationMatrix, AblationsStayInsideTheirTensors) {
  const Problem p = problem(9, 133, 5);
  for (const Ablation ablation : {Ablation::no_compute, Ablation::no_memory}) {
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      testing::Tensors tensors;
      for (const TensorSpec& spec : operation().tensors(p)) {
        tensors.emplace(spec.name, testing::GuardedTensor(spec))
            .first->second.set(std::vector<double>(spec.rows * spec.columns, 1.0));
      }
      const Settings settings = operation().heuristic(pass, p, cpu_target());
      testing::run_plan(operation().plan(pass, p, settings, cpu_target(), ablation), tensors);
      for (auto& [name, tensor] : tensors) EXPECT_EQ(tensor.damaged_bytes(), 0) << name;
    }
  }
}

const std::vector<std::string> tested = {
    "rms_norm", "swiglu", "relu_squared",       "layer_norm",    "softmax",
    "dyt",      "geglu",  "fused_add_rms_norm", "cross_entropy", "fused_linear_cross_entropy",
    "grpo_loss"};

INSTANTIATE_TEST_SUITE_P(Catalogue, OperationMatrix,
                         ::testing::Combine(::testing::ValuesIn(tested),
                                            ::testing::Values(DType::fp32, DType::bf16, DType::fp16)),
                         [](const auto& parameters) {
                           return std::get<0>(parameters.param) + "_" + name_of(std::get<1>(parameters.param));
                         });

TEST(Catalogue, HasATestOfEveryOperation) {
  for (const auto& operation : catalog()) {
    EXPECT_EQ(std::count(tested.begin(), tested.end(), operation->name()), 1) << operation->name();
  }
}

}  // namespace
}  // namespace kernels
