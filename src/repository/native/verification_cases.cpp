// The matrix of problems a kernel is verified on.
#include <algorithm>

#include <fmt/format.h>

#include "kernels/catalog/option_cover.hpp"
#include "repository/native/native_operation.hpp"

namespace hone::repository::native {

namespace {

struct Shape {
  std::int64_t rows, columns, padding;
  std::size_t misaligned;
};

// One element, one row, one column, odd, prime, powers of two and their neighbours, nothing at all, padded rows, bases off
// the vector boundary, rows longer than a first-level cache, rows that no block of a GPU's threads holds, and more of them
// than a GPU has multiprocessors.
constexpr Shape kShapes[] = {
    {1, 1, 0, 0},      {1, 17, 0, 0},    {5, 1, 0, 0},      {3, 2, 0, 0},       {7, 31, 0, 0},    {2, 64, 0, 0},
    {33, 127, 0, 0},   {16, 128, 0, 0},  {64, 129, 0, 0},   {13, 1000, 0, 0},   {257, 257, 0, 0}, {31, 1023, 0, 0},
    {128, 1024, 0, 0}, {5, 4096, 0, 0},  {17, 4099, 0, 0},  {3, 16384, 0, 0},   {2, 65537, 0, 0}, {0, 64, 0, 0},
    {9, 100, 3, 0},    {40, 512, 64, 0}, {11, 333, 1, 0},   {21, 257, 0, 4},    {10, 1024, 0, 4}, {1031, 96, 0, 0},
    {4097, 33, 0, 0},  {3, 40000, 0, 0}, {2, 262144, 0, 0}, {150, 17408, 0, 0},
};
constexpr Shape kSmokeShapes[] = {{1, 1, 0, 0},    {5, 17, 0, 0}, {33, 127, 0, 0}, {16, 256, 0, 0},
                                  {9, 1000, 3, 0}, {0, 64, 0, 0}, {6, 515, 0, 4}};
constexpr Shape kOptionShapes[] = {{1, 1, 0, 0}, {7, 33, 0, 0}, {19, 512, 0, 0}, {12, 771, 5, 0}};

void add(std::vector<VerificationCase>& list, const kernels::Operation& operation, const Shape& shape,
         kernels::DType dtype, const kernels::Options& options) {
  VerificationCase one;
  one.problem.rows = shape.rows;
  one.problem.columns = shape.columns;
  one.problem.dtype = dtype;
  one.problem.options = options;
  one.problem.row_padding = shape.padding;
  one.problem.depth = operation.depth_for(shape.rows, shape.columns);
  one.misaligned_bytes = shape.misaligned;
  if (!operation.check(one.problem).empty()) return;
  one.label = fmt::format("{} x {} {}", shape.rows, shape.columns, kernels::name_of(dtype));
  for (const auto& [name, value] : options) one.label += fmt::format(" {}={}", name, value);
  if (shape.padding) one.label += fmt::format(", rows padded by {}", shape.padding);
  if (shape.misaligned) one.label += fmt::format(", bases off by {} bytes", shape.misaligned);
  list.push_back(std::move(one));
}

}  // namespace

std::vector<VerificationCase> cases(const kernels::Operation& operation, launch::Extent extent,
                                    const std::vector<kernels::DType>& dtypes, const kernels::Options& options,
                                    const std::vector<std::int64_t>& columns) {
  std::vector<VerificationCase> list;
  for (kernels::DType dtype : dtypes) {
    if (extent == launch::Extent::smoke) {
      for (const Shape& shape : kSmokeShapes) add(list, operation, shape, dtype, options);
      for (std::int64_t n : columns) add(list, operation, {5, n, 0, 0}, dtype, options);
      continue;
    }
    for (const Shape& shape : kShapes) add(list, operation, shape, dtype, options);
    for (std::int64_t n : columns) add(list, operation, {67, n, 0, 0}, dtype, options);
    // Any three options with all their values, or any two where that would be hundreds of texts to compile.
    std::vector<kernels::Options> cover = kernels::option_cover(operation, 3, 48);
    if (cover.size() > 64) cover = kernels::option_cover(operation, 2, 48);
    for (const kernels::Options& combination : cover)
      for (const Shape& shape : kOptionShapes) add(list, operation, shape, dtype, combination);
  }
  return list;
}

}  // namespace hone::repository::native
