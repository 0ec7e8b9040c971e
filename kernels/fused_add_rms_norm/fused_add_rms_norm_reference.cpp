// The residual addition and RMSNorm in double precision, written from the formula (Zhang and Sennrich 2019, arXiv:1910.07467,
// equation 4, with eps inside the root) and its derivative; no rounding of any casting mode is repeated here.
#include "kernels/fused_add_rms_norm/fused_add_rms_norm_reference.hpp"

#include <cmath>

#include "kernels/catalog/row_problem.hpp"

namespace kernels::fused_add_rms_norm {
namespace {

void forward(const Problem& problem, Values& values) {
  const std::int64_t rows = problem.rows, columns = problem.columns;
  const double eps = number_option(problem, "eps"), offset = number_option(problem, "offset");
  const std::vector<double>&x = values.at("x"), &r = values.at("r"), &weight = values.at("weight");
  std::vector<double> s(x.size()), y(x.size()), rstd(rows);
  for (std::int64_t row = 0; row < rows; ++row) {
    double squares = 0;
    for (std::int64_t i = row * columns; i < (row + 1) * columns; ++i) {
      s[i] = x[i] + r[i];
      squares += s[i] * s[i];
    }
    rstd[row] = 1 / std::sqrt((columns > 0 ? squares / double(columns) : 0) + eps);
    for (std::int64_t c = 0; c < columns; ++c) {
      y[row * columns + c] = s[row * columns + c] * rstd[row] * (offset + weight[c]);
    }
  }
  values["s"] = std::move(s);
  values["y"] = std::move(y);
  values["rstd"] = std::move(rstd);
}

// s reaches the loss through y, as in RMSNorm, and directly; x and r reach it through s with derivative 1 each.
void backward(const Problem& problem, Values& values) {
  const std::int64_t rows = problem.rows, columns = problem.columns;
  const double offset = number_option(problem, "offset");
  const bool has_ds = flag_option(problem, "residual_gradient");
  const std::vector<double>&s = values.at("s"), &dy = values.at("dy"), &rstd = values.at("rstd"),
        &weight = values.at("weight");
  std::vector<double> dx(s.size()), dweight(columns, 0.0);
  for (std::int64_t row = 0; row < rows; ++row) {
    const double R = rstd[row];
    double dot = 0;
    for (std::int64_t c = 0; c < columns; ++c) {
      dot += dy[row * columns + c] * (offset + weight[c]) * s[row * columns + c];
    }
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::int64_t i = row * columns + c;
      dx[i] = R * dy[i] * (offset + weight[c]) - R * R * R * s[i] * dot / double(columns);
      if (has_ds) dx[i] += values.at("ds")[i];
      dweight[c] += dy[i] * s[i] * R;
    }
  }
  values["dweight"] = std::move(dweight);
  values[flag_option(problem, "in_place") ? "dy" : "dx"] = std::move(dx);
}

}  // namespace

void reference(Pass pass, const Problem& problem, Values& values) {
  if (pass == Pass::forward) {
    forward(problem, values);
  } else {
    backward(problem, values);
  }
}

}  // namespace kernels::fused_add_rms_norm
