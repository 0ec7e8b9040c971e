// See row_problem.hpp.
#include "kernels/catalog/row_problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>

namespace kernels {

std::int64_t row_stride(const Problem& problem) { return problem.columns + problem.row_padding; }

TensorSpec row_matrix(const std::string& name, const Problem& problem) {
  return {name, problem.dtype, problem.rows, problem.columns, row_stride(problem)};
}

TensorSpec row_vector(const std::string& name, const Problem& problem) {
  return {name, problem.dtype, 1, problem.columns, problem.columns};
}

TensorSpec row_scalars(const std::string& name, const Problem& problem, DType dtype) {
  return {name, dtype, problem.rows, 1, 1};
}

std::vector<std::int64_t> hidden_sizes() { return {2048, 4096, 6144, 8192}; }

std::int64_t row_count(const Target& target, DType dtype) {
  if (target.machine == Machine::cuda) return 16384;
  std::int64_t rows = 4096;
  while (rows < 16384 && rows * hidden_sizes().front() * 4 < target.last_level_bytes) rows *= 2;
  return rows * 4 / size_of(dtype);
}

std::string check_sizes(const Problem& problem) {
  if (problem.rows < 0 || problem.columns < 0 || problem.row_padding < 0) return "sizes must not be negative";
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() / 16;
  if (problem.columns > most - problem.row_padding || (problem.rows > 0 && row_stride(problem) > most / problem.rows)) {
    return "rows x columns is more than memory can address";
  }
  return "";
}

double number_option(const Problem& problem, const std::string& name) {
  return std::strtod(problem.options.at(name).c_str(), nullptr);
}
bool flag_option(const Problem& problem, const std::string& name) { return problem.options.at(name) == "yes"; }
std::string dx_name(const Problem& problem) { return flag_option(problem, "in_place") ? "dy" : "dx"; }

Traffic tensor_traffic(const Operation& operation, Pass pass, const Problem& problem, double flops) {
  std::map<std::string, double> bytes;
  for (const TensorSpec& spec : operation.tensors(problem)) {
    bytes[spec.name] = double(spec.rows) * double(spec.columns) * size_of(spec.dtype);
  }
  Traffic traffic;
  const PassSpec spec = operation.pass(pass, problem);
  for (const std::string& name : spec.inputs) traffic.bytes_read += bytes.at(name);
  for (const std::string& name : spec.outputs) traffic.bytes_written += bytes.at(name);
  traffic.flops = flops;
  return traffic;
}

Argument tensor(const std::string& name) { return TensorArgument{name}; }
Argument tensor_or_null(const std::string& name, bool present) {
  if (present) return TensorArgument{name};
  return std::int64_t{0};
}

Launch column_sum_launch(const std::string& entry, const std::string& output, const std::string& partial,
                         std::int64_t partials, std::int64_t columns) {
  return column_sum_launch(RowConfig{}, entry, output, partial, partials, columns);
}

namespace {

// On CUDA a program's warps share the rows of 32 columns, so that all multiprocessors have some.
std::int64_t summed_columns_of_program(const RowConfig& config) { return config.is_cuda() ? 32 : 512; }

std::int64_t programs_for(const RowConfig& config, std::int64_t columns) {
  const std::int64_t of_program = summed_columns_of_program(config);
  return (columns + of_program - 1) / of_program;
}

}  // namespace

Launch column_sum_launch(const RowConfig& config, const std::string& entry, const std::string& output,
                         const std::string& partial, std::int64_t partials, std::int64_t columns) {
  return {entry,
          programs_for(config, columns),
          config.is_cuda() ? config.num_threads : 0,
          0,
          1,
          {tensor(output), tensor(partial), partials, columns, summed_columns_of_program(config)}};
}

Launch column_sums_launch(const RowConfig& config, const std::string& entry, const std::vector<ColumnSum>& sums,
                          std::int64_t partials) {
  constexpr std::size_t most_sums = 3;
  Launch launch = {entry, 0, config.is_cuda() ? config.num_threads : 0, 0, 1, {}};
  for (std::size_t i = 0; i < most_sums; ++i) {
    const bool present = i < sums.size();
    const ColumnSum sum = present ? sums[i] : ColumnSum{};
    launch.programs += programs_for(config, sum.columns);
    for (const std::string& name : {sum.output, sum.partial}) launch.arguments.push_back(tensor_or_null(name, present));
    launch.arguments.push_back(sum.columns);
  }
  launch.arguments.push_back(partials);
  launch.arguments.push_back(summed_columns_of_program(config));
  return launch;
}

double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::bf16: return 0x1p-8;
    case DType::fp16: return 0x1p-11;
    default: return 0x1p-24;
  }
}

double smallest_normal(DType dtype) { return dtype == DType::fp16 ? 0x1p-14 : 0x1p-126; }

std::vector<double> rounded_terms(const std::vector<double>& terms, std::int64_t columns) {
  const std::size_t width = std::size_t(std::max<std::int64_t>(columns, 0));
  std::vector<double> sizes(width), squares(width);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    sizes[i % width] += std::fabs(terms[i]);
    squares[i % width] += terms[i] * terms[i];
  }
  for (std::size_t c = 0; c < width; ++c) sizes[c] = std::min(sizes[c], 6 * 0.42 * std::sqrt(squares[c]));
  return sizes;
}

double sum_error(std::int64_t terms) {
  const double chain = std::min<double>(double(terms) / 4 + 1, 1024) + double(terms) / 4096 + 6;
  return 4 * std::sqrt(chain) * 0x1p-24;
}

}  // namespace kernels
