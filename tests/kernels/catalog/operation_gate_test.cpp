// The comparison with double precision is shown to fail: programs that are wrong in one place are caught.
#include <gtest/gtest.h>

#include "tests/kernels/plan_runner.hpp"

namespace kernels {
namespace {

using testing::Bench;
using testing::cpu_target;
using testing::TileCompiler;

std::string text_of(const std::string& path) {
  for (const EmbeddedFile& file : embedded_sources()) {
    if (file.path == path) return file.text;
  }
  ADD_FAILURE() << "no " << path;
  return {};
}

struct Mutation {
  std::string name, operation, file, from, to;
};

// Whether any of a few odd shapes shows that the mutated program is wrong.
bool is_caught(const Mutation& mutation, DType dtype, const Options& changed = {}) {
  std::string text = text_of(mutation.file);
  const std::size_t place = text.find(mutation.from);
  EXPECT_NE(place, std::string::npos) << mutation.name << ": '" << mutation.from << "' is not in " << mutation.file;
  if (place == std::string::npos) return false;
  text.replace(place, mutation.from.size(), mutation.to);
  const Operation& operation = *find(mutation.operation);
  TileCompiler::instance().replaced_texts = {{mutation.file, text}};
  bool caught = false;
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{12, 70}, {3, 1031}}) {
    Problem problem = {rows, columns, operation.depth_for(rows, columns), dtype, default_options(operation), 3};
    for (const auto& [name, value] : changed) problem.options[name] = value;
    Bench bench(operation, {problem});
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      caught = caught || bench.run(pass, operation.heuristic(pass, problem, cpu_target()), cpu_target());
    }
    if (caught) break;
  }
  TileCompiler::instance().replaced_texts.clear();
  return caught;
}

class Gate : public ::testing::TestWithParam<Mutation> {};

TEST_P(Gate, CatchesTheMutation) {
  EXPECT_TRUE(is_caught(GetParam(), DType::fp32)) << "fp32";
  EXPECT_TRUE(is_caught(GetParam(), DType::bf16)) << "bf16";
}

const std::string rms = "kernels/rms_norm/rms_norm.hpp", machine = "kernels/tile/cpu_machine.hpp",
                  block = "kernels/tile/cpu_block.hpp", pack = "kernels/tile/pack.hpp",
                  layer_norm = "kernels/layer_norm/layer_norm.hpp", softmax = "kernels/softmax/softmax.hpp",
                  dyt = "kernels/dyt/dyt.hpp", geglu = "kernels/geglu/geglu.hpp",
                  fused_add = "kernels/fused_add_rms_norm/fused_add_rms_norm.hpp";

INSTANTIATE_TEST_SUITE_P(
    Mutations, Gate,
    ::testing::Values(
        Mutation{"NoRoot", "rms_norm", rms, "tile::rsqrt(squares[row] * share + eps)",
                 "1.0f / (squares[row] * share + eps)"},
        Mutation{"OneColumnTooFewInTheMean", "rms_norm", rms, "squares[row] * share",
                 "squares[row] * (share / (1.0f - share))"},
        Mutation{"NoWeight", "rms_norm", rms, "tile::scale<T>(w[e], offset)", "tile::scale<T>(w[e] * 0.0f, offset)"},
        Mutation{"WrongSign", "rms_norm", rms, "return -dot[row]", "return dot[row]"},
        Mutation{"CubeIsSquare", "rms_norm", rms, "r[row] * r[row] * r[row] * share", "r[row] * r[row] * share"},
        Mutation{"WeightGradientWithoutRstd", "rms_norm", rms, "g[e] * tile::normalized<T>(v[e], r[e])", "g[e] * v[e]"},
        Mutation{"LastColumnsForgotten", "rms_norm", block, "first.commit_partial(c, count, values, 0);", ""},
        Mutation{"AccumulatorNotCleared", "rms_norm", machine, "memory[c] = 0;", "memory[c] += 0;"},
        Mutation{"OneElementTooMany", "relu_squared", block, "first.commit_partial(c, count, values, 0);",
                 "first.commit_partial(c, count + 1, values, 0);"},
        Mutation{"LastRowForgotten", "relu_squared", machine,
                 "rows - row < rows_per_program ? rows :", "rows - row < rows_per_program ? rows - 1 :"},
        Mutation{"ReluIsAbsolute", "relu_squared", "kernels/tile/pack.hpp", "select(x < 0.0f, 0.0f, x)",
                 "select(x < 0.0f, -x, x)"},
        Mutation{"HalfTheGradient", "relu_squared", "kernels/relu_squared/relu_squared.hpp", "2.0f * ", ""},
        Mutation{"WrongGate", "swiglu", "kernels/swiglu/swiglu.hpp", "tile::silu(x)", "tile::sigmoid(x)"},
        Mutation{"GradientsSwapped", "swiglu", "kernels/swiglu/swiglu.hpp", "block.rows_of(da), block.rows_of(db)",
                 "block.rows_of(db), block.rows_of(da)"},
        Mutation{"DerivativeWithoutItsSecondTerm", "swiglu", "kernels/swiglu/swiglu.hpp", "(silu * (1.0f - s) + s)",
                 "s"}),
    [](const auto& mutation) { return mutation.param.name; });

// With options in use that a mutation needs to show.
struct OptionMutation {
  Mutation mutation;
  Options options;
};

class LossGate : public ::testing::TestWithParam<OptionMutation> {};

TEST_P(LossGate, CatchesTheMutation) {
  EXPECT_TRUE(is_caught(GetParam().mutation, DType::fp32, GetParam().options)) << "fp32";
  EXPECT_TRUE(is_caught(GetParam().mutation, DType::bf16, GetParam().options)) << "bf16";
}

const std::string kLosses = "kernels/cross_entropy/cross_entropy_rows.hpp",
                  fused_linear = "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy.hpp",
                  grpo_rows = "kernels/grpo_loss/grpo_loss_rows.hpp",
                  grpo_tokens = "kernels/grpo_loss/grpo_loss_tokens.hpp";
const Options all_in_use = {{"label_smoothing", "0.1"}, {"lse_square_scale", "0.1"}, {"weight", "yes"}};

INSTANTIATE_TEST_SUITE_P(
    Mutations, LossGate,
    ::testing::Values(
        OptionMutation{{"IgnoredRowsCount", "cross_entropy", kLosses, "tile::select(ignored, 0.0f, 1.0f)",
                        "tile::select(ignored, 1.0f, 1.0f)"},
                       {}},
        OptionMutation{{"IgnoredRowsHaveALoss", "cross_entropy", kLosses, "return y[row] != ignore_index;",
                        "return y[row] != ignore_index + 1;"},
                       {}},
        OptionMutation{{"LabelOffByOne", "cross_entropy", block, "const std::int64_t ahead = values[row] - column;",
                        "const std::int64_t ahead = values[row] - column + 1;"},
                       {}},
        OptionMutation{{"GradientAtTheLabelOfTheWrongSign", "cross_entropy", kLosses, "y, e, at[e])", "y, e, -at[e])"},
                       {}},
        OptionMutation{{"SmoothingOfTheWrongSign", "cross_entropy", kLosses, "gradient - w[e] * level[e]",
                        "gradient + w[e] * level[e]"},
                       all_in_use},
        OptionMutation{{"HalfTheZGradient", "cross_entropy", kLosses, "2.0f * lse_square_scale", "lse_square_scale"},
                       all_in_use},
        OptionMutation{{"MeanOverRowsInsteadOfWeights", "cross_entropy", kLosses, "machine.scalar(totals + 1)",
                        "machine.scalar(totals)"},
                       all_in_use},
        OptionMutation{{"SoftcapNotDifferentiated", "cross_entropy", kLosses, "gradient * (1.0f - t * t)",
                        "gradient * (1.0f - t * 0.0f)"},
                       {{"softcap", "2"}}},
        OptionMutation{{"PredictionOffByOne", "cross_entropy", block, "lane_numbers<lanes>() + std::int32_t(e.column);",
                        "lane_numbers<lanes>() + std::int32_t(e.column) + 1;"},
                       {{"return_predicted_tokens", "yes"}}},
        OptionMutation{
            {"BiasForgotten", "fused_linear_cross_entropy", kLosses, "return from[e] + b[e];", "return from[e];"},
            {{"bias", "yes"}}},
        OptionMutation{{"LossNotScaledByItsLabelsShare", "fused_linear_cross_entropy", kLosses,
                        "row = {row.loss * share,", "row = {row.loss,"},
                       {{"use_token_scaling", "yes"}}},
        OptionMutation{{"UpstreamGradientForgotten", "fused_linear_cross_entropy", kLosses,
                        "return above[row] * factors(row).along", "return factors(row).along"},
                       {{"reduction", "none"}}},
        OptionMutation{{"SumsOfHalfAVector", "fused_linear_cross_entropy", fused_linear,
                        "return tile::constant(1.0f); }, block.rows_of(out + first",
                        "return tile::constant(0.5f); }, block.rows_of(out + first"},
                       {{"bias", "yes"}}},
        OptionMutation{{"WeightGradientNotScaled", "fused_linear_cross_entropy", kLosses, "return values[e] * number;",
                        "return values[e] * 1.0f;"},
                       {}},
        OptionMutation{{"MaskForgotten", "grpo_loss", grpo_rows, "return kept(row, loss);", "return loss;"}, {}},
        OptionMutation{
            {"LastPositionOffByOne", "grpo_loss", grpo_rows, "row * (length + 1) + length;", "row * (length + 1);"},
            {}},
        OptionMutation{{"PolicyOfTheWrongSign", "grpo_loss", grpo_tokens, "return -tile::minimum(rho * A",
                        "return tile::minimum(rho * A"},
                       {}},
        OptionMutation{{"GradientThroughTheClip", "grpo_loss", grpo_tokens, "return follows ? -t.rho * A : 0.0f;",
                        "return follows ? -t.rho * A : -t.rho * A;"},
                       {}},
        OptionMutation{
            {"UpperClipFromTheLowerBound", "grpo_loss", grpo_tokens, "1.0f + n.eps_high);", "1.0f + n.eps_low);"}, {}},
        OptionMutation{{"TemperatureForgottenInTheGradient", "grpo_loss", grpo_rows,
                        "gradient[row] * inverse_temperature", "gradient[row]"},
                       {}},
        OptionMutation{
            {"MeanOverAllTokens", "grpo_loss", grpo_rows, "tile::maximum(sums.of[0][row], 1.0f)", "float(length)"},
            {{"importance_sampling_level", "sequence"}}},
        OptionMutation{
            {"HalfTheUpstreamGradient", "cross_entropy", kLosses, "values[e] * number", "values[e] * (number * 0.5f)"},
            {}}),
    [](const auto& mutation) { return mutation.param.mutation.name; });

INSTANTIATE_TEST_SUITE_P(
    RowMutations, Gate,
    ::testing::Values(
        Mutation{"MeanNotTakenAway", "layer_norm", layer_norm, "const auto deviation = kept[e] - center[e];",
                 "const auto deviation = kept[e];"},
        Mutation{"MeanOfTheWrongSign", "layer_norm", layer_norm, "(h * along[e] + level[e])",
                 "(h * along[e] - level[e])"},
        Mutation{"BiasGradientIsTheWeights", "layer_norm", layer_norm, "g[e] * h, g[e])", "g[e] * h, g[e] * h)"},
        Mutation{"MaximumNotTakenAway", "softmax", softmax, "tile::exp(kept[e] - total.maximum[e])",
                 "tile::exp(kept[e])"},
        Mutation{"ExponentialsBeyondTheRow", "softmax", block,
                 "first_lanes(f_(PartialElement{column_, r, count}), count);",
                 "f_(PartialElement{column_, r, count});"},
        Mutation{"DotOfTheWrongSign", "softmax", softmax, "(g[e] - dot[e])", "(g[e] + dot[e])"},
        Mutation{"TanhNotSquared", "dyt", dyt, "(1.0f - t * t)", "(1.0f - t)"},
        Mutation{"TotalOfTheLastRowOnly", "dyt", block, "total->value += horizontal_sum",
                 "total->value = horizontal_sum"},
        Mutation{"TanhOfHalf", "dyt", pack, "clamp(x * 2.0f, -40.0f, 40.0f)", "clamp(x, -40.0f, 40.0f)"},
        Mutation{"CubicTermForgotten", "geglu", geglu, "x * (x * x * (slope * cubic) + slope)", "x * slope"},
        Mutation{"SlopeIsNotThreefold", "geglu", geglu, "3 * slope * cubic", "slope * cubic"},
        Mutation{"ResidualForgotten", "fused_add_rms_norm", fused_add, "tile::rounded<T>(first_x[e] + first_r[e])",
                 "tile::rounded<T>(first_x[e])"},
        Mutation{"ResidualGradientOfTheWrongSign", "fused_add_rms_norm", fused_add, "gradient + through[e]",
                 "gradient - through[e]"}),
    [](const auto& mutation) { return mutation.param.name; });

TEST(Comparison, NeverPassesANanAnInfinityOrAMissingElement) {
  const double nan = std::nan("");
  EXPECT_TRUE(testing::compare("t", {1, nan}, {1, 1}, 0.1, 1));
  EXPECT_TRUE(testing::compare("t", {1, 1}, {1, nan}, 0.1, 1));
  EXPECT_TRUE(testing::compare("t", {1, HUGE_VAL}, {1, -HUGE_VAL}, 0.1, 1));
  EXPECT_TRUE(testing::compare("t", {1}, {1, 1}, 0.1, 1));
  EXPECT_TRUE(testing::compare("t", {-1.2}, {-1}, 0.09, 1));
  EXPECT_TRUE(testing::compare("t", {5}, {1}, 0.1, HUGE_VAL)) << "an infinite bound is none";
  EXPECT_TRUE(testing::compare("t", {-HUGE_VAL}, {HUGE_VAL}, 0.1, HUGE_VAL));
  EXPECT_TRUE(testing::compare("t", {HUGE_VAL}, {1}, 0.1, HUGE_VAL));
  EXPECT_TRUE(testing::compare("t", {5}, {1}, 0.1, nan));
  EXPECT_FALSE(testing::compare("t", {1, nan}, {1.05, nan}, 0.1, 1));
}

}  // namespace
}  // namespace kernels
