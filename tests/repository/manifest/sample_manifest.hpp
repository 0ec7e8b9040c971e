// A small manifest that is right, and the same with one thing changed.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace hone::repository::manifest {

inline std::string sample_text() {
  return R"toml(name = "row_scale"
description = "each row times its own factor"
language = "c++"
tier = 1
source = "row_scale.cpp"
reference = "row_scale_reference.cpp"
x_name = "columns"
sizes = [256, 1024]
valid = "columns <= 65536"
dtypes = ["fp32"]
test = ["make", "test"]

[size]
rows = "max(1, 65536 / columns)"

[derived]
elements = "rows * columns"

[verify]
columns = [1, 17, 64]

[tensor.x]
role = "input"
shape = ["rows", "columns"]

[tensor.factor]
role = "input"
shape = ["rows"]
values = { distribution = "uniform", low = 0.5, high = 2 }

[tensor.y]
role = "output"
shape = ["rows", "columns"]
tolerance = "2 * eps"

[scalar.bias]
type = "fp32"
value = 0.25

[knob.ROWS]
values = [1, 2, 4]
value = 2
help = "rows of a program"
valid = "ROWS <= rows"

[pass.forward]
flops = "2 * elements"
launch = { entry = "row_scale", grid = "ceil_div(rows, ROWS)", arguments = ["x", "factor", "y", "rows", "int32 columns", "bias"] }
reference = { function = "row_scale_reference" }
)toml";
}

inline std::string changed(const std::string& from, const std::string& to) {
  std::string text = sample_text();
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

}  // namespace hone::repository::manifest
