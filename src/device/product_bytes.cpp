#include "device/product_bytes.hpp"

#include <fmt/format.h>

namespace hone::device {

std::size_t matrix_bytes(std::int64_t rows, std::int64_t columns, std::int64_t stride, DType type) {
  if (rows <= 0 || columns <= 0) return 0;
  return static_cast<std::size_t>((rows - 1) * stride + columns) * size_of(type);
}

base::Result<ProductBytes> product_bytes(const MatrixProduct& p, const std::string& device) {
  const std::int64_t a_rows = p.a_transposed ? p.k : p.m, a_columns = p.a_transposed ? p.m : p.k;
  const std::int64_t b_rows = p.b_transposed ? p.n : p.k, b_columns = p.b_transposed ? p.k : p.n;
  if (p.m < 0 || p.n < 0 || p.k < 0 || p.a_stride < a_columns || p.b_stride < b_columns || p.c_stride < p.n) {
    return base::Error{
        base::ErrorKind::internal, "a matrix product with sizes of 0 or more and strides of whole rows",
        fmt::format("m {}, n {}, k {}, strides {}, {}, {}", p.m, p.n, p.k, p.a_stride, p.b_stride, p.c_stride), device,
        ""};
  }
  return ProductBytes{matrix_bytes(a_rows, a_columns, p.a_stride, p.input),
                      matrix_bytes(b_rows, b_columns, p.b_stride, p.input),
                      matrix_bytes(p.m, p.n, p.c_stride, p.output)};
}

}  // namespace hone::device
