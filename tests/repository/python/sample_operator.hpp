// A small operator description for tests of the Python engine.
#pragma once

#include <gtest/gtest.h>

#include "repository/python/operator_source.hpp"
#include "repository/python/read_operators.hpp"

namespace hone::repository::python {

inline const char* const kScaleText = R"toml([operator.scale]
callable = "Scale"
x_name = "width"
sizes = [256, 512, 1024]
size = { rows = 8, hidden = 12 }
gate = { columns = "2 * max(1, columns / 2)", hidden = 4 }
option = { mode = ["plain", "centred"], in_place = [true, false] }
arguments = ["x", "w", "mode", "in_place"]
outputs = [0]
formula = "x * w"
overwrites = { forward = ["x"], gradients = true }
[operator.scale.input]
x = { shape = ["rows", "columns"], gradient = true }
w = { shape = ["columns"], values = { mean = 1, deviation = "1 / 8" }, gradient = true }
ids = { shape = ["hidden / 2", "rows"], type = "int64", order = [1, 0], values = { distribution = "integers", below = "columns" } }
[operator.scale.pass]
forward = { bytes_read = "dtype_bytes * rows * columns", bytes_written = "dtype_bytes * rows * columns", flops = "rows * columns" }
backward = { bytes_read = "1.5 * rows", matrix_flops = "2 * rows * hidden" }
)toml";

inline OperatorDescription scale_operator() {
  auto read = read_operators(kScaleText, "ops.toml", "");
  EXPECT_TRUE(read) << base::describe(read.error());
  OperatorDescription description = read ? read->front() : OperatorDescription{};
  description.adjustable["tokens"] = "rows";
  return description;
}

// In a tree at /tree, its text "original".
inline OperatorSource scale_source() {
  OperatorSource source;
  source.description = std::make_shared<const OperatorDescription>(scale_operator());
  source.identity.kernel = "scale";
  source.place = "the tree", source.root = "/tree", source.import_root = "src", source.package = "kernels";
  source.path = "/tree/src/kernels/scale.py", source.relative = "src/kernels/scale.py";
  source.module = "kernels.scale", source.text = "original";
  source.more_options = {"benchmark_seconds"};
  return source;
}

}  // namespace hone::repository::python
