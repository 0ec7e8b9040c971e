// What operations say of themselves: settings, traffic, options, tensors, references.
#include "kernels/catalog/operation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "kernels/catalog/option_cover.hpp"
#include "kernels/catalog/row_config.hpp"
#include "kernels/catalog/row_problem.hpp"

namespace kernels {
namespace {

Target target_of(int cores, int vector_bytes) {
  Target target;
  target.cores = cores;
  target.vector_bytes = vector_bytes;
  return target;
}

Problem problem_of(const Operation& operation, std::int64_t rows, std::int64_t columns, DType dtype = DType::fp32) {
  return {rows, columns, operation.depth_for(rows, columns), dtype, default_options(operation)};
}

constexpr Pass passes[] = {Pass::forward, Pass::backward};

TEST(Catalogue, FindsByNameAndOnlyThat) {
  ASSERT_NE(find("rms_norm"), nullptr);
  EXPECT_EQ(find("rms_norm")->name(), "rms_norm");
  EXPECT_EQ(find("rms_nrom"), nullptr);
  std::set<std::string> names;
  for (const auto& operation : catalog()) EXPECT_TRUE(names.insert(operation->name()).second);
}

TEST(Catalogue, TypesHaveNamesAndSizes) {
  for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16, DType::int64})
    EXPECT_EQ(parse_dtype(name_of(dtype)), dtype);
  EXPECT_EQ(parse_dtype("float"), std::nullopt);
  EXPECT_EQ(size_of(DType::fp32), 4);
  EXPECT_EQ(size_of(DType::bf16), 2);
}

TEST(Catalogue, EmbedsTheMainFilesAndTheVocabulary) {
  std::set<std::string> paths;
  for (const EmbeddedFile& file : embedded_sources()) paths.insert(file.path);
  for (const auto& operation : catalog()) {
    EXPECT_TRUE(paths.count(operation->main_file())) << operation->main_file();
    for (const Pass pass : passes) {
      const Plan eager = operation->eager_plan(pass, problem_of(*operation, 4, 4), target_of(2, 32));
      EXPECT_TRUE(paths.count(eager.main_file)) << eager.main_file;
    }
  }
  EXPECT_TRUE(paths.count("kernels/tile/tile.hpp"));
}

TEST(Settings, HeuristicIsValidAndFirstOfItsSpaceEverywhere) {
  for (const auto& operation : catalog()) {
    for (const Target& target : {target_of(1, 16), target_of(2, 64), target_of(96, 32)}) {
      for (const std::int64_t rows : {0, 1, 3, 129, 256, 257, 513, 4096}) {  // around the sizes of chunks
        for (const std::int64_t columns : {0, 1, 17, 4096, 262144}) {
          const Problem problem = problem_of(*operation, rows, columns, DType::bf16);
          for (const Pass pass : passes) {
            const Settings shipped = operation->heuristic(pass, problem, target);
            EXPECT_EQ(operation->valid(pass, shipped, problem, target), "")
                << operation->name() << rows << "x" << columns;
            EXPECT_EQ(operation->enumerate(pass, problem, target).front(), shipped);
          }
        }
      }
    }
  }
}

TEST(Settings, SpaceIsOfAUsefulSizeAndWithoutRepetition) {
  for (const auto& operation : catalog()) {
    for (const Pass pass : passes) {
      const Problem problem = problem_of(*operation, 4096, 4096);
      const auto space = operation->enumerate(pass, problem, target_of(2, 64));
      EXPECT_GE(space.size(), 24u) << operation->name() << " " << name_of(pass);
      EXPECT_LE(space.size(), 160u) << operation->name() << " " << name_of(pass);
      EXPECT_EQ(std::set<Settings>(space.begin(), space.end()).size(), space.size());
      for (const Settings& settings : space) EXPECT_EQ(operation->valid(pass, settings, problem, target_of(2, 64)), "");
    }
  }
}

TEST(Settings, InvalidOnesNameTheConstraint) {
  const Operation& operation = *find("rms_norm");
  const Problem problem = problem_of(operation, 64, 4096);
  const Target target = target_of(2, 64);
  const auto changed = [&](Pass pass, const std::string& knob, std::int64_t value) {
    Settings settings = operation.heuristic(pass, problem, target);
    settings[knob] = value;
    return operation.valid(pass, settings, problem, target);
  };
  EXPECT_NE(changed(Pass::forward, "BLOCK_ROW", 3).find("BLOCK_ROW"), std::string::npos);
  EXPECT_NE(changed(Pass::forward, "num_threads", 64).find("num_threads"), std::string::npos);
  EXPECT_NE(changed(Pass::forward, "num_stages", 2), "");
  Settings missing = operation.heuristic(Pass::forward, problem, target);
  missing.erase("UNROLL");
  EXPECT_NE(operation.valid(Pass::forward, missing, problem, target).find("UNROLL"), std::string::npos);
  Settings many = operation.heuristic(Pass::forward, problem, target);
  many["BLOCK_ROW"] = 4;
  many["UNROLL"] = 4;
  EXPECT_NE(operation.valid(Pass::forward, many, problem, target).find("registers"), std::string::npos);
  const Problem narrow = problem_of(operation, 64, 20);
  Settings wide = operation.heuristic(Pass::forward, narrow, target);
  wide["UNROLL"] = 4;
  EXPECT_NE(operation.valid(Pass::forward, wide, narrow, target).find("fit"), std::string::npos);
}

// Whether a pass writes a matrix of the problem's size that is not one of its inputs.
bool writes_new_matrix(const Operation& operation, Pass pass, const Problem& problem) {
  const PassSpec spec = operation.pass(pass, problem);
  for (const TensorSpec& tensor : operation.tensors(problem)) {
    const auto is_in = [&](const std::vector<std::string>& names) {
      return std::count(names.begin(), names.end(), tensor.name) > 0;
    };
    if (tensor.rows >= problem.rows && tensor.columns == problem.columns && is_in(spec.outputs) &&
        !is_in(spec.overwritten)) {
      return true;
    }
  }
  return false;
}

TEST(Settings, StreamingStoresAreChosenWhereResultsDoNotStayInTheLastLevelCacheAndAreNotInPlace) {
  const Target target = target_of(2, 64);
  for (const auto& operation : catalog()) {
    for (const Pass pass : passes) {
      for (const char* in_place : {"no", "yes"}) {
        Problem small = problem_of(*operation, 64, 1024), large = problem_of(*operation, 8192, 8192);
        if (large.options.count("in_place")) small.options["in_place"] = large.options["in_place"] = in_place;
        EXPECT_EQ(operation->heuristic(pass, small, target).at("STREAMING_STORES"), 0);
        EXPECT_EQ(operation->heuristic(pass, large, target).at("STREAMING_STORES"),
                  writes_new_matrix(*operation, pass, large) ? 1 : 0)
            << operation->name() << " " << name_of(pass) << " in place: " << in_place;
      }
    }
  }
}

TEST(Settings, KnobsOfTheLaunchDoNotChangeTheDefines) {
  for (const auto& operation : catalog()) {
    const Problem problem = problem_of(*operation, 256, 1024);
    const Target target = target_of(4, 64);
    for (const Pass pass : passes) {
      const Settings base = operation->heuristic(pass, problem, target);
      const auto defines = operation->plan(pass, problem, base, target, Ablation::none).defines;
      for (const Knob& knob : operation->knobs(pass, target)) {
        for (const std::int64_t value : knob.values) {
          Settings changed = base;
          changed[knob.name] = value;
          if (changed == base) continue;
          const auto other = operation->plan(pass, problem, changed, target, Ablation::none).defines;
          EXPECT_EQ(other == defines, !knob.compiled) << knob.name;
        }
      }
    }
  }
}

TEST(Grid, CoversEveryRowOnceInWholeBlocks) {
  std::mt19937 generator(3);
  const Operation& operation = *find("rms_norm");
  for (int i = 0; i < 2000; ++i) {
    const Problem problem = problem_of(operation, generator() % 5000, 1 + generator() % 9000);
    RowConfig config;
    config.block_row = 1 << generator() % 3;
    config.num_threads = 1 + int(generator() % 8);
    config.programs_per_thread = generator() % 2 ? 1 : 4;
    config.prefetch_rows = int(generator() % 3);
    for (const RowGrid& grid : {independent_rows(config, problem), accumulated_rows(config, problem)}) {
      EXPECT_GE(grid.programs * grid.rows_per_program, problem.rows);
      EXPECT_LT((grid.programs - 1) * grid.rows_per_program, std::max<std::int64_t>(problem.rows, 1));
      EXPECT_EQ(problem.rows == 0, grid.programs == 0);
      EXPECT_EQ(grid.rows_per_program % (problem.rows > 0 ? config.block_row : 1), 0);
    }
    EXPECT_LE(accumulated_rows(config, problem).programs, config.num_threads * config.programs_per_thread);
  }
}

TEST(Traffic, CountsEachTensorOnce) {
  const Operation& rms_norm = *find("rms_norm");
  const Problem problem = problem_of(rms_norm, 100, 1000, DType::bf16);
  EXPECT_EQ(rms_norm.traffic(Pass::forward, problem).bytes_read, 100 * 1000 * 2 + 1000 * 2);
  EXPECT_EQ(rms_norm.traffic(Pass::forward, problem).bytes_written, 100 * 1000 * 2 + 100 * 4);
  EXPECT_EQ(rms_norm.traffic(Pass::backward, problem).bytes_read, 2 * 100 * 1000 * 2 + 1000 * 2 + 100 * 4);
  EXPECT_EQ(rms_norm.traffic(Pass::backward, problem).bytes_written, 100 * 1000 * 2 + 1000 * 2);
}

TEST(Traffic, IsTheSizeOfThePassesTensors) {
  for (const auto& operation : catalog()) {
    for (const char* in_place : {"no", "yes"}) {
      Problem problem = problem_of(*operation, 64, 128);
      problem.options["in_place"] = in_place;
      std::map<std::string, double> bytes;
      for (const TensorSpec& spec : operation->tensors(problem)) bytes[spec.name] = double(spec.bytes());
      for (const Pass pass : passes) {
        double read = 0, written = 0;
        for (const std::string& name : operation->pass(pass, problem).inputs) read += bytes.at(name);
        for (const std::string& name : operation->pass(pass, problem).outputs) written += bytes.at(name);
        EXPECT_EQ(operation->traffic(pass, problem).bytes_read, read) << operation->name() << " " << name_of(pass);
        EXPECT_EQ(operation->traffic(pass, problem).bytes_written, written)
            << operation->name() << " " << name_of(pass);
        EXPECT_GT(operation->traffic(pass, problem).flops, 0);
      }
    }
  }
}

TEST(Options, DefaultsAreCompleteAndWrongOnesNameWhatIsAllowed) {
  for (const auto& operation : catalog()) EXPECT_EQ(check_options(*operation, default_options(*operation)), "");
  const Operation& operation = *find("rms_norm");
  const auto wrong = [&](const std::string& name, const std::string& value) {
    Problem problem = problem_of(operation, 2, 2);
    problem.options[name] = value;
    return operation.check(problem);
  };
  EXPECT_NE(wrong("casting_mode", "lama").find("llama, gemma, none"), std::string::npos);
  EXPECT_NE(wrong("offset", "one").find("finite number"), std::string::npos);
  EXPECT_NE(wrong("offset", "nan").find("finite number"), std::string::npos);
  EXPECT_NE(wrong("offset", "1e999").find("finite number"), std::string::npos);
  EXPECT_NE(wrong("eps", "-1").find("negative"), std::string::npos);
  EXPECT_NE(wrong("color", "red").find("casting_mode"), std::string::npos);
  Problem incomplete = problem_of(operation, 2, 2);
  incomplete.options.erase("weight");
  EXPECT_NE(operation.check(incomplete).find("weight"), std::string::npos);
}

TEST(OptionCover, ShowsEveryCombinationOfAnyTwoOptions) {
  for (const auto& operation : catalog()) {
    const std::vector<Options> cover = option_cover(*operation, 2, 12);
    EXPECT_LE(cover.size(), 48u) << operation->name();
    EXPECT_EQ(std::set<Options>(cover.begin(), cover.end()).size(), cover.size());
    const std::vector<OptionSpec> specs = operation->options();
    const auto values = [](const OptionSpec& spec) { return spec.values.empty() ? spec.trials : spec.values; };
    for (const OptionSpec& one : specs) {
      for (const OptionSpec& other : specs) {
        for (const std::string& a : values(one)) {
          for (const std::string& b : values(other)) {
            if (one.name == other.name && a != b) continue;
            // Pairs that exclude each other: a type that clips nothing has no delta and no sequence level.
            const bool excluded = (a == "cispo" || a == "sapo" || a == "vespo") &&
                                  ((other.name == "delta" && b != "0") || b == "sequence");
            const bool mirrored =
                (b == "cispo" || b == "sapo" || b == "vespo") && ((one.name == "delta" && a != "0") || a == "sequence");
            if (one.name == "vllm_is_ratio" || other.name == "vllm_is_ratio") {
              // has a value "sequence" of its own
            } else if (excluded || mirrored) {
              continue;
            }
            const auto shows = [&](const Options& options) {
              return options.at(one.name) == a && options.at(other.name) == b;
            };
            EXPECT_TRUE(std::any_of(cover.begin(), cover.end(), shows))
                << one.name << "=" << a << " " << other.name << "=" << b;
          }
        }
      }
    }
    for (const Options& options : cover) EXPECT_EQ(check_options(*operation, options), "") << operation->name();
  }
}

TEST(Problems, OfImpossibleSizeAreRefused) {
  for (const auto& operation : catalog()) {
    EXPECT_NE(operation->check(problem_of(*operation, -1, 4)), "");
    EXPECT_NE(operation->check(problem_of(*operation, 4, -1)), "");
    EXPECT_NE(operation->check(problem_of(*operation, std::int64_t{1} << 40, std::int64_t{1} << 40)), "");
    EXPECT_EQ(operation->check(problem_of(*operation, 0, 0)), "");
  }
}

TEST(Problems, OfTheBaselineTablesExceedTheLastLevelCache) {
  constexpr double kBoundByArithmetic = 100;
  for (const auto& operation : catalog()) {
    for (const DType dtype : {DType::fp32, DType::bf16}) {
      const Target target = target_of(2, 64);
      for (const std::int64_t x : operation->default_sizes(target, dtype)) {
        const Problem problem = operation->problem_at(x, target, dtype, default_options(*operation));
        EXPECT_EQ(operation->x_of(problem), x);
        const Traffic traffic = operation->traffic(Pass::forward, problem);
        // What is bound by its products on every machine takes as long from a cache as from memory.
        const double operations_a_byte = traffic.flops / traffic.bytes();
        if (operations_a_byte < kBoundByArithmetic) {
          EXPECT_GE(traffic.bytes(), 2.0 * double(target.last_level_bytes)) << operation->name();
        }
      }
    }
  }
}

// Normal values of every tensor, and a direction to move them in.
std::pair<Values, Values> point_and_direction(const Operation& operation, const Problem& problem) {
  std::mt19937 generator(5);
  std::normal_distribution<double> normal(0, 1);
  Values base, direction;
  for (const TensorSpec& spec : operation.tensors(problem)) {
    for (std::int64_t i = 0; i < spec.rows * spec.columns; ++i) {
      base[spec.name].push_back(normal(generator));
      direction[spec.name].push_back(normal(generator));
    }
  }
  return {base, direction};
}

// d/dt loss(inputs + t direction) by central differences must equal the gradients' inner product with the direction.
void expect_gradient(const Operation& operation, Options options, const std::map<std::string, std::string>& gradient_of,
                     const std::string& output, const std::string& output_gradient,
                     const std::string& second_output = "", const std::string& second_gradient = "") {
  options["in_place"] = "no";
  const Problem problem = {6, 9, 0, DType::fp32, options};
  auto [base, direction] = point_and_direction(operation, problem);
  const auto loss = [&](double t) {
    Values values = base;
    for (const auto& [input, gradient] : gradient_of) {
      for (std::size_t i = 0; i < values[input].size(); ++i) values[input][i] += t * direction[input][i];
    }
    operation.reference(Pass::forward, problem, values);
    double total = 0;
    for (std::size_t i = 0; i < values[output].size(); ++i) total += values[output][i] * base[output_gradient][i];
    for (std::size_t i = 0; i < base[second_gradient].size(); ++i) {
      total += values[second_output][i] * base[second_gradient][i];
    }
    return total;
  };
  Values values = base;
  operation.reference(Pass::forward, problem, values);
  operation.reference(Pass::backward, problem, values);
  double predicted = 0;
  for (const auto& [input, gradient] : gradient_of) {
    for (std::size_t i = 0; i < base[input].size(); ++i) predicted += values.at(gradient)[i] * direction[input][i];
  }
  const double h = 1e-5;
  EXPECT_NEAR((loss(h) - loss(-h)) / (2 * h), predicted, 1e-6 * (1 + std::fabs(predicted)));
}

TEST(References, BackwardIsTheDerivativeOfForward) {
  Options options = default_options(*find("rms_norm"));
  options["offset"] = "0.5";
  expect_gradient(*find("rms_norm"), options, {{"x", "dx"}, {"weight", "dweight"}}, "y", "dy");
  options["weight"] = "no";
  expect_gradient(*find("rms_norm"), options, {{"x", "dx"}}, "y", "dy");
  options = default_options(*find("swiglu"));
  options["gate_multiplier"] = "1.25";
  expect_gradient(*find("swiglu"), options, {{"a", "da"}, {"b", "db"}}, "c", "dc");
  expect_gradient(*find("relu_squared"), default_options(*find("relu_squared")), {{"x", "dx"}}, "y", "dy");
  expect_gradient(*find("layer_norm"), default_options(*find("layer_norm")),
                  {{"x", "dx"}, {"weight", "dweight"}, {"bias", "dbias"}}, "y", "dy");
  expect_gradient(*find("softmax"), {}, {{"x", "dx"}}, "y", "dy");
  expect_gradient(*find("dyt"), {{"beta", "yes"}},
                  {{"x", "dx"}, {"alpha", "dalpha"}, {"gamma", "dgamma"}, {"beta", "dbeta"}}, "y", "dy");
  expect_gradient(*find("dyt"), {{"beta", "no"}}, {{"x", "dx"}, {"alpha", "dalpha"}, {"gamma", "dgamma"}}, "y", "dy");
  expect_gradient(*find("geglu"), default_options(*find("geglu")), {{"a", "da"}, {"b", "db"}}, "c", "dc");
  options = default_options(*find("fused_add_rms_norm"));
  options["offset"] = "0.5";
  options["residual_gradient"] = "no";
  expect_gradient(*find("fused_add_rms_norm"), options, {{"x", "dx"}, {"r", "dx"}, {"weight", "dweight"}}, "y", "dy");
  options["residual_gradient"] = "yes";
  expect_gradient(*find("fused_add_rms_norm"), options, {{"x", "dx"}, {"r", "dx"}, {"weight", "dweight"}}, "y", "dy",
                  "s", "ds");
}

// The gradient that forward leaves in the place of the logits, by central differences of the loss, for covering options.
TEST(References, CrossEntropysGradientIsTheDerivativeOfItsLoss) {
  const Operation& operation = *find("cross_entropy");
  for (const Options& options : option_cover(operation, 2, 12)) {
    const Problem problem = {7, 5, 0, DType::fp32, options};
    std::mt19937 generator(5);
    std::normal_distribution<double> normal(0, 1);
    Values base;
    std::vector<double> direction;
    for (int i = 0; i < 35; ++i) base["logits"].push_back(normal(generator)), direction.push_back(normal(generator));
    base["target"] = {0, 4, number_option(problem, "ignore_index"), 2, 3, 3, 0};
    base["weight"] = {0.5, 1.25, 1, 2, 0.75};
    const auto loss = [&](double t) {
      Values values = base;
      for (int i = 0; i < 35; ++i) values["logits"][i] += t * direction[i];
      operation.reference(Pass::forward, problem, values);
      double total = 0;
      for (const double row : values.at("loss")) total += row;
      return total;
    };
    Values values = base;
    operation.reference(Pass::forward, problem, values);
    double predicted = 0;
    for (int i = 0; i < 35; ++i) predicted += values.at("logits")[i] * direction[i];
    EXPECT_NEAR((loss(1e-5) - loss(-1e-5)) / 2e-5, predicted, 1e-7 * (1 + std::fabs(predicted)));
    for (int c = 0; c < 5; ++c) EXPECT_EQ(values.at("logits")[10 + c], 0) << "an ignored row has no gradient";
  }
}

// The gradients of input, weight and bias by central differences of the loss, for covering options: those that forward leaves,
// and without a reduction those of backward.
TEST(References, FusedLinearCrossEntropysGradientsAreTheDerivativesOfItsLoss) {
  const Operation& operation = *find("fused_linear_cross_entropy");
  for (Options options : option_cover(operation, 2, 12)) {
    options["use_token_scaling"] = "no";  // its factor is a constant by definition
    const Problem problem = {4, 5, 3, DType::fp32, options};
    auto [base, direction] = point_and_direction(operation, problem);
    base["target"] = {0, 4, number_option(problem, "ignore_index"), 2};
    base["ce_weight"] = {0.5, 1.25, 1, 2, 0.75};
    std::vector<std::string> inputs = {"input", "weight"};
    if (flag_option(problem, "bias")) inputs.push_back("bias");
    const auto loss = [&](double t) {
      Values values = base;
      for (const std::string& name : inputs) {
        for (std::size_t i = 0; i < values[name].size(); ++i) values[name][i] += t * direction[name][i];
      }
      operation.reference(Pass::forward, problem, values);
      double total = 0;
      for (std::size_t i = 0; i < base["dloss"].size(); ++i) total += values.at("loss")[i] * base["dloss"][i];
      return total;
    };
    Values values = base;
    operation.reference(Pass::forward, problem, values);
    operation.reference(Pass::backward, problem, values);
    double predicted = 0;
    for (const std::string& name : inputs) {
      for (std::size_t i = 0; i < base[name].size(); ++i) predicted += values.at("d" + name)[i] * direction[name][i];
    }
    EXPECT_NEAR((loss(1e-5) - loss(-1e-5)) / 2e-5, predicted, 1e-6 * (1 + std::fabs(predicted)));
    for (int h = 0; h < 3; ++h) EXPECT_EQ(values.at("dinput")[2 * 3 + h], 0) << "an ignored row has no gradient";
  }
}

// A matrix product in 16 bits: the logits that the losses are of are rounded, and a gradient of a certain row is still exact.
TEST(References, FusedLinearCrossEntropysLogitsAreRoundedToTheType) {
  const Operation& operation = *find("fused_linear_cross_entropy");
  const auto loss_of = [&](DType dtype) {
    const Problem problem = {1, 2, 2, dtype, default_options(operation)};
    // 1 + 2^-10 is 1 in bf16, and exact in fp16 and fp32.
    Values values = {{"input", {1, 0x1p-5}}, {"weight", {1, 0x1p-5, 0, 0}}, {"target", {0}}, {"dloss", {1}}};
    operation.reference(Pass::forward, problem, values);
    return values.at("loss")[0];
  };
  EXPECT_DOUBLE_EQ(loss_of(DType::bf16), std::log1p(std::exp(-1.0)));
  EXPECT_DOUBLE_EQ(loss_of(DType::fp32), std::log1p(std::exp(-1.0 - 0x1p-10)));
  EXPECT_EQ(loss_of(DType::fp16), loss_of(DType::fp32));
}

// The gradient of the logits by central differences of the loss, where no clipping, and no factor that is a constant by
// definition, stands between.
TEST(References, GrposGradientIsTheDerivativeOfItsLoss) {
  const Operation& operation = *find("grpo_loss");
  for (const char* type : {"grpo", "dapo", "bnpo", "dr_grpo", "luspo", "sapo", "vespo"}) {
    for (const char* level : {"token", "sequence"}) {
      for (const char* corrects : {"no", "yes"}) {
        Options options = default_options(operation);
        options["loss_type"] = type;
        options["importance_sampling_level"] = level;
        options["use_bias_correction_kl"] = corrects;
        options["reduce"] = "yes";
        options["in_place"] = "no";
        options["eps_low"] = "0.9";
        options["eps_high"] = "50";
        options["vllm_is_ratio"] = "token";
        const Problem problem = {6, 5, 2, DType::fp32, options};
        // The kl's sequence-level ratio is a constant by definition, so no derivative of the whole.
        if (!operation.check(problem).empty() || (std::string(level) == "sequence" && std::string(corrects) == "yes"))
          continue;
        std::mt19937 generator(5);
        std::normal_distribution<double> normal(0, 1);
        Values base;
        std::vector<double> direction;
        for (const TensorSpec& spec : operation.tensors(problem)) {
          for (std::int64_t i = 0; i < spec.rows; ++i) {
            for (std::int64_t c = 0; c < spec.columns; ++c)
              base[spec.name].push_back(spec.offset + 0.25 * normal(generator));
          }
        }
        base["completion_ids"] = {0, 4, 1, 2, 3, 3};
        base["completion_mask"] = {1, 1, 0, 1, 1, 1};
        base["dloss"] = {0.75};
        for (std::size_t i = 0; i < base["logits"].size(); ++i) direction.push_back(normal(generator));
        const auto loss = [&](double t) {
          Values values = base;
          for (std::size_t i = 0; i < direction.size(); ++i) values["logits"][i] += t * direction[i];
          operation.reference(Pass::forward, problem, values);
          return values.at("loss")[0] * 0.75;
        };
        Values values = base;
        operation.reference(Pass::forward, problem, values);
        operation.reference(Pass::backward, problem, values);
        double predicted = 0;
        for (std::size_t i = 0; i < direction.size(); ++i) predicted += values.at("dlogits")[i] * direction[i];
        EXPECT_NEAR((loss(1e-5) - loss(-1e-5)) / 2e-5, predicted, 1e-6 * (1 + std::fabs(predicted)))
            << type << " " << level << " " << corrects;
        for (int c = 0; c < 5; ++c) {
          EXPECT_EQ(values.at("dlogits")[2 * 5 + c], 0) << "a token without mask has no gradient";
          EXPECT_EQ(values.at("dlogits")[3 * 5 + c], 0) << "nor has a last position";
        }
      }
    }
  }
}

TEST(References, InPlaceGradientsStandUnderTheInputsNames) {
  for (const auto& operation : catalog()) {
    Problem problem = problem_of(*operation, 2, 3);
    if (!problem.options.count("in_place") || operation->name() == "grpo_loss")
      continue;  // its inputs are no free numbers
    problem.options["in_place"] = "yes";
    Values values;
    for (const TensorSpec& spec : operation->tensors(problem)) values[spec.name].assign(spec.rows * spec.columns, 0.75);
    const Values before = values;
    operation->reference(Pass::backward, problem, values);
    const PassSpec spec = operation->pass(Pass::backward, problem);
    EXPECT_FALSE(spec.overwritten.empty());
    for (const std::string& name : spec.overwritten) {
      EXPECT_TRUE(std::count(spec.outputs.begin(), spec.outputs.end(), name)) << name;
      EXPECT_NE(values.at(name), before.at(name)) << operation->name() << " " << name;
    }
  }
}

TEST(Tolerances, GrowWithTheReductionAndShrinkWithThePrecision) {
  const Operation& operation = *find("rms_norm");
  const auto of = [&](std::int64_t columns, DType dtype) {
    return operation.tolerance(Pass::forward, "y", problem_of(operation, 4, columns, dtype));
  };
  EXPECT_LT(of(64, DType::fp32), of(262144, DType::fp32));
  EXPECT_LT(of(4096, DType::fp32), of(4096, DType::fp16));
  EXPECT_LT(of(4096, DType::fp16), of(4096, DType::bf16));
  EXPECT_LT(of(262144, DType::fp32), 1e-4);
  EXPECT_LT(of(4096, DType::bf16), 0.02);
}

}  // namespace
}  // namespace kernels
