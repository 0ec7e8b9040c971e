// See fused_linear_cross_entropy_plan.hpp.
#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy_plan.hpp"

#include <algorithm>

#include "kernels/cross_entropy/cross_entropy_loss.hpp"
#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy_config.hpp"

namespace kernels::fused_linear_cross_entropy {
namespace {

namespace ce = cross_entropy;

bool has_bias(const Problem& problem) { return flag_option(problem, "bias"); }
// Whether the weight's gradient is summed up over the chunks in fp32 and rounded once.
bool sums_in_fp32(const Problem& problem) {
  return problem.options.at("accum_dtype") == "fp32" && problem.dtype != DType::fp32;
}
std::int64_t input_stride(const Problem& problem) { return problem.depth + problem.row_padding; }

// The problem whose losses a pass computes. A backward pass wants the gradients alone: its losses are scratch.
Problem loss_problem(Pass pass, const Problem& problem) {
  Problem losses = problem;
  losses.row_padding = 0;
  if (pass == Pass::forward) return losses;
  losses.options["reduction"] = "sum";
  for (const char* name : {"return_z_loss", "return_token_accuracy", "return_predicted_tokens"}) {
    losses.options[name] = "no";
  }
  return losses;
}

// A sum over the rows of 16 bits, kept in fp32.
std::string weight_sum(const Problem& problem) { return sums_in_fp32(problem) ? "dweight_sum" : "dweight"; }
std::string bias_sum(const Problem& problem) { return problem.dtype == DType::fp32 ? "dbias" : "dbias_sum"; }

Launch product_launch(const std::string& name, int threads, MatrixProduct product) {
  Launch launch = {name, 0, threads};
  launch.product = std::move(product);
  return launch;
}

// The four products of a chunk of rows, whose logits and gradients lie in `logits`, rows `stride` elements apart.
class Products {
 public:
  Products(const Problem& problem, std::string logits, std::int64_t stride, int threads)
      : p_(problem), logits_(std::move(logits)), stride_(stride), threads_(threads) {}

  Launch logits(const Chunk& chunk) const {
    MatrixProduct product = of(chunk.rows, p_.columns, p_.depth);
    product.a = rows_of("input", chunk);
    product.a_stride = input_stride(p_);
    product.b = {"weight"};
    product.b_stride = p_.depth;
    product.b_transposed = true;
    product.c = {logits_};
    product.c_stride = stride_;
    return product_launch("logits = input weight^T", threads_, product);
  }
  Launch input_gradient(const Chunk& chunk) const {
    MatrixProduct product = of(chunk.rows, p_.depth, p_.columns);
    product.a = {logits_};
    product.a_stride = stride_;
    product.b = {"weight"};
    product.b_stride = p_.depth;
    product.c = rows_of("dinput", chunk);
    product.c_stride = input_stride(p_);
    return product_launch("dinput = G weight", threads_, product);
  }
  Launch weight_gradient(const Chunk& chunk) const {
    MatrixProduct product = of(p_.columns, p_.depth, chunk.rows);
    product.a = {logits_};
    product.a_stride = stride_;
    product.a_transposed = true;
    product.b = rows_of("input", chunk);
    product.b_stride = input_stride(p_);
    product.c = {weight_sum(p_)};
    product.c_stride = p_.depth;
    product.output = sums_in_fp32(p_) ? DType::fp32 : p_.dtype;
    product.beta = chunk.first > 0 ? 1 : 0;
    return product_launch("dweight += G^T input", threads_, product);
  }
  Launch bias_gradient(const Chunk& chunk) const {
    MatrixProduct product = of(1, p_.columns, chunk.rows);
    product.a = {"ones"};
    product.a_stride = std::max<std::int64_t>(chunk.rows, 1);
    product.b = {logits_};
    product.b_stride = stride_;
    product.c = {bias_sum(p_)};
    product.c_stride = p_.columns;
    product.output = DType::fp32;
    product.beta = chunk.first > 0 ? 1 : 0;
    return product_launch("dbias += 1^T G", threads_, product);
  }

 private:
  MatrixProduct of(std::int64_t m, std::int64_t n, std::int64_t k) const {
    MatrixProduct product;
    product.m = m, product.n = n, product.k = k;
    product.input = product.output = p_.dtype;
    return product;
  }
  TensorArgument rows_of(const std::string& name, const Chunk& chunk) const {
    return {name, chunk.first * input_stride(p_) * size_of(p_.dtype)};
  }

  const Problem& p_;
  std::string logits_;
  std::int64_t stride_;
  int threads_;
};

// A launch over a vector of `count` elements, of which each program has a stretch.
void add_stretches(const std::string& entry, std::int64_t count, const RowConfig& config,
                   std::vector<Argument> arguments, Plan& plan) {
  const std::int64_t per_program = config.is_cuda() ? 32768 : 65536;
  arguments.emplace_back(count);
  arguments.emplace_back(per_program);
  plan.launches.push_back(
      {entry, (count + per_program - 1) / per_program, config.num_threads, 0, 1, std::move(arguments)});
}

// Sums over the chunks as results of the problem's type.
void add_narrowing(const Problem& problem, const RowConfig& config, Plan& plan) {
  if (sums_in_fp32(problem)) {
    add_stretches("fused_linear_narrow", problem.columns * problem.depth, config,
                  {tensor("dweight"), tensor("dweight_sum")}, plan);
  }
  if (has_bias(problem) && problem.dtype != DType::fp32) {
    add_stretches("fused_linear_narrow", problem.columns, config, {tensor("dbias"), tensor("dbias_sum")}, plan);
  }
}

void add_gradient_scratch(const Problem& problem, std::int64_t chunk_rows, Plan& plan) {
  if (sums_in_fp32(problem)) {
    plan.scratch.push_back({"dweight_sum", DType::fp32, problem.columns, problem.depth, problem.depth});
  }
  if (!has_bias(problem)) return;
  plan.scratch.push_back({"ones", problem.dtype, 1, chunk_rows, chunk_rows});
  if (problem.dtype != DType::fp32) {
    plan.scratch.push_back({"dbias_sum", DType::fp32, 1, problem.columns, problem.columns});
  }
}

// Losses of a chunk's rows; the logits become their gradients where the pass has them.
Launch losses_launch(Pass pass, const Problem& problem, const Chunk& chunk, const RowConfig& config) {
  const Problem losses = loss_problem(pass, problem);
  Problem rows = row_problem(pass, problem, chunk.rows);
  rows.rows = chunk.rows;
  const ::cross_entropy::ForwardArguments<Given, void> forward = {
      .logits = matrix_of("logits", rows),
      .bias = tensor("bias", has_bias(problem)),
      .upstream = pass == Pass::backward ? TensorArgument{"dloss", chunk.first * size_of(DType::fp32)} : tensor(""),
      .loss = ce::loss_arguments(losses, chunk.first)};
  return row_launch("fused_linear_losses", independent_rows(config, rows), rows, config, arguments(forward));
}

Plan chunked_plan(Pass pass, const Problem& problem, const RowConfig& config, std::int64_t chunk_rows) {
  const std::vector<Chunk> chunks = chunks_of(problem, chunk_rows);
  const std::int64_t stride = logits_stride(problem), largest = chunks.front().rows;
  const Problem losses = loss_problem(pass, problem);
  const bool gradients = has_gradients(pass, problem);
  Plan plan;
  plan.scratch.push_back({"logits", problem.dtype, largest, problem.columns, stride});
  ce::add_loss_scratch(losses, plan);
  ce::add_count("fused_linear_count", losses, config.num_threads, plan);
  if (gradients) {
    add_gradient_scratch(problem, largest, plan);
    if (has_bias(problem)) add_stretches("fused_linear_ones", largest, config, {tensor("ones")}, plan);
  }
  const Products products(problem, "logits", stride, config.num_threads);
  for (const Chunk& chunk : chunks) {
    plan.launches.push_back(products.logits(chunk));
    plan.launches.push_back(losses_launch(pass, problem, chunk, config));
    if (!gradients) continue;
    plan.launches.push_back(products.input_gradient(chunk));
    plan.launches.push_back(products.weight_gradient(chunk));
    if (has_bias(problem)) plan.launches.push_back(products.bias_gradient(chunk));
  }
  if (gradients) add_narrowing(problem, config, plan);
  if (pass == Pass::forward) ce::add_reductions("fused_linear_reduce", losses, config.num_threads, plan);
  return plan;
}

Plan scaling_plan(const Problem& problem, const RowConfig& config) {
  Plan plan;
  const auto scale = [&](const std::string& name, std::int64_t rows, std::int64_t stride) {
    Problem matrix = problem;
    matrix.rows = rows;
    matrix.columns = problem.depth;
    plan.launches.push_back(row_launch("fused_linear_scale", independent_rows(config, matrix), matrix, config,
                                       arguments(matrix_of({name, stride}, matrix), tensor("dloss"))));
  };
  scale("dinput", problem.rows, input_stride(problem));
  scale("dweight", problem.columns, problem.depth);
  if (has_bias(problem)) {
    add_stretches("fused_linear_scale_vector", problem.columns, config, {tensor("dbias"), tensor("dloss")}, plan);
  }
  return plan;
}

}  // namespace

Plan launches(Pass pass, const Problem& problem, const RowConfig& config, std::int64_t chunk_rows) {
  return scales_gradients(pass, problem) ? scaling_plan(problem, config)
                                         : chunked_plan(pass, problem, config, chunk_rows);
}

Defines option_defines(Pass pass, const Problem& problem) {
  auto defines = ce::loss_defines(loss_problem(pass, problem));
  defines.emplace_back("HAS_BIAS", flag(has_bias(problem)));
  defines.emplace_back("TOKEN_SCALING", flag(flag_option(problem, "use_token_scaling")));
  defines.emplace_back("HAS_GRADIENT", flag(has_gradients(pass, problem)));
  defines.emplace_back("HAS_UPSTREAM", flag(pass == Pass::backward && !scales_gradients(pass, problem)));
  defines.emplace_back("SCALES_GRADIENTS", flag(scales_gradients(pass, problem)));
  return defines;
}

namespace {

// Vectors may be loaded whole where every matrix that the plan touches has rows of whole vectors.
void need_whole_vectors(EagerPlan& plan, const Problem& problem) {
  const std::int64_t lanes = 16 / size_of(problem.dtype);
  if (problem.columns % lanes == 0 && problem.depth % lanes == 0) return;
  for (auto& [name, value] : plan.raw().defines) {
    if (name == "WHOLE_VECTORS") value = "0";
  }
}

// The rows of the weight's gradient, for launches over them.
Problem weight_rows(const Problem& problem) {
  Problem rows = problem;
  rows.rows = problem.columns;
  rows.columns = problem.depth;
  rows.row_padding = 0;
  return rows;
}

Plan eager_scaling_plan(const Problem& problem, const Target& target) {
  Problem rows = problem;
  rows.columns = problem.depth;
  EagerPlan plan("kernels/fused_linear_cross_entropy/fused_linear_cross_entropy_eager.hpp", Pass::backward, rows,
                 DType::fp32, target);
  plan.define(option_defines(Pass::backward, problem));
  plan.over_rows("eager_scale_all", {"dinput", "dinput"}, {"dloss"});
  const auto scale = [&](const std::string& name, const Problem& matrix) {
    const auto of_matrix = matrix_of(name, matrix);
    plan.over_rows_of(matrix, "eager_scale_all", arguments(of_matrix, of_matrix, tensor("dloss")));
  };
  scale("dweight", weight_rows(problem));
  if (has_bias(problem)) {
    Problem vector = weight_rows(problem);
    vector.rows = 1;
    vector.columns = problem.columns;
    scale("dbias", vector);
  }
  need_whole_vectors(plan, problem);
  return plan.take();
}

}  // namespace

Plan eager_plan(Pass pass, const Problem& problem, const Target& target) {
  if (scales_gradients(pass, problem)) return eager_scaling_plan(problem, target);
  const bool gradients = has_gradients(pass, problem);
  const Problem losses = loss_problem(pass, problem);
  EagerPlan plan("kernels/fused_linear_cross_entropy/fused_linear_cross_entropy_eager.hpp", pass, losses, DType::fp32,
                 target);
  plan.define(option_defines(pass, problem));
  const Chunk all = {0, problem.rows};
  Operand logits = plan.temporary("logits", problem.dtype);
  plan.raw().launches.push_back(Products(problem, logits.name, *logits.stride, plan.config().num_threads).logits(all));
  if (has_bias(problem)) {
    const Operand product = logits;
    plan.over_rows("eager_add_columns", {logits = plan.temporary("logits_with_bias", DType::fp32), product}, {"bias"});
  }
  Operand gradient = gradients ? plan.temporary("dlogits", problem.dtype) : "";
  ce::add_eager_forward(plan, losses, logits, gradient, {pass == Pass::forward, gradients});
  need_whole_vectors(plan, problem);
  if (!gradients) return plan.take();
  if (pass == Pass::backward) {
    const Operand before = gradient;
    plan.over_rows("eager_scale_by_row", {gradient = plan.temporary("dlogits_scaled", problem.dtype), before},
                   {"dloss"});
  }
  const Products products(problem, gradient.name, *gradient.stride, plan.config().num_threads);
  if (sums_in_fp32(problem)) {
    plan.raw().scratch.push_back({"dweight_sum", DType::fp32, problem.columns, problem.depth, problem.depth});
  }
  plan.raw().launches.push_back(products.input_gradient(all));
  plan.raw().launches.push_back(products.weight_gradient(all));
  if (sums_in_fp32(problem)) {
    const Problem rows = weight_rows(problem);
    plan.over_rows_of(rows, "eager_narrow", arguments(matrix_of("dweight", rows), matrix_of("dweight_sum", rows)));
  }
  if (has_bias(problem)) plan.column_sum("dbias", gradient);
  return plan.take();
}

}  // namespace kernels::fused_linear_cross_entropy
