// How much memory the operands of a matrix product take: what every device checks before it reads or writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "device/device.hpp"

namespace hone::device {

// Bytes from the first to behind the last element of rows x columns, rows `stride` elements apart; 0 where there are none.
std::size_t matrix_bytes(std::int64_t rows, std::int64_t columns, std::int64_t stride, DType type);

struct ProductBytes {
  std::size_t a = 0, b = 0, c = 0;
};

// An Error (internal) for negative sizes and for strides below a row; `device` names who found it.
base::Result<ProductBytes> product_bytes(const MatrixProduct& product, const std::string& device);

}  // namespace hone::device
