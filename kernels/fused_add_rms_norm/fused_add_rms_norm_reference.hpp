// The residual addition and RMSNorm in double precision: s reaches the loss through y, as in RMSNorm, and directly; x and r
// reach it through s with derivative 1 each.
#pragma once

#include "kernels/rms_norm/rms_norm_reference.hpp"

namespace kernels::fused_add_rms_norm {

inline void reference(Pass pass, const Problem& problem, Values& values) {
  const rms_norm::Shape shape = {problem.rows, problem.columns, true, number_option(problem, "offset")};
  Values norm = {{"weight", values.at("weight")}};
  if (pass == Pass::forward) {
    std::vector<double> s = values.at("x");
    for (std::size_t i = 0; i < s.size(); ++i) s[i] += values.at("r")[i];
    norm["x"] = s;
    rms_norm::forward(shape, number_option(problem, "eps"), norm);
    for (const char* name : {"y", "rstd"}) values[name] = std::move(norm.at(name));
    values["s"] = std::move(s);
    return;
  }
  norm["x"] = values.at("s");
  for (const char* name : {"dy", "rstd"}) norm[name] = values.at(name);
  rms_norm::backward(shape, "dx", norm);
  std::vector<double>& dx = norm.at("dx");
  const bool has_ds = flag_option(problem, "residual_gradient");
  for (std::size_t i = 0; has_ds && i < dx.size(); ++i) dx[i] += values.at("ds")[i];
  values["dweight"] = std::move(norm.at("dweight"));
  values[dx_name(problem)] = std::move(dx);
}

}  // namespace kernels::fused_add_rms_norm
