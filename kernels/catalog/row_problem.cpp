// See row_problem.hpp.
#include "kernels/catalog/row_problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>

namespace kernels {

std::int64_t row_stride(const Problem& problem) { return problem.columns + problem.row_padding; }
float column_share(const Problem& problem) { return problem.columns > 0 ? 1 / float(problem.columns) : 0; }

TensorSpec row_matrix(const std::string& name, const Problem& problem) {
  return {name, problem.dtype, problem.rows, problem.columns, row_stride(problem)};
}

std::vector<TensorSpec> row_matrices(const std::vector<std::string>& names, const Problem& problem) {
  std::vector<TensorSpec> tensors;
  for (const std::string& name : names) tensors.push_back(row_matrix(name, problem));
  return tensors;
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
bool in_place(const Problem& problem) {
  return problem.options.count("in_place") > 0 && flag_option(problem, "in_place");
}
std::string dx_name(const Problem& problem) { return in_place(problem) ? "dy" : "dx"; }
std::string flag(bool set) { return set ? "1" : "0"; }
std::string rounding_note(const Problem& problem) {
  return std::string(problem.dtype == DType::fp32 ? "nothing" : "results") + " rounded to nearest even";
}

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
