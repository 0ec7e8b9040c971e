// Poison and guard bands of a tensor's memory. See numerics.hpp.
#include <fmt/format.h>

#include <array>
#include <cassert>
#include <cstring>

#include "measure/numerics.hpp"

namespace hone::measure {

namespace {

// Quiet NaNs with payloads that arithmetic does not make: it makes the payload 0 or passes on that of an operand.
std::array<unsigned char, 8> poison_of(DType dtype) {
  std::array<unsigned char, 8> bytes = {};
  const auto put = [&](auto bits) { std::memcpy(bytes.data(), &bits, sizeof(bits)); };
  switch (dtype) {
    case DType::fp32: put(std::uint32_t{0x7fd5a96b}); break;
    case DType::fp16: put(std::uint16_t{0x7f5b}); break;
    case DType::bf16: put(std::uint16_t{0x7fdb}); break;
    case DType::int64: put(std::uint64_t{0x8badf00d5ca1ab1e}); break;
    case DType::int32: put(std::uint32_t{0x8badf00d}); break;
  }
  return bytes;
}

unsigned char guard_byte(std::size_t position) { return static_cast<unsigned char>(0xa5u ^ (position * 29u)); }

std::size_t to_size(std::int64_t value) { return static_cast<std::size_t>(value); }

}  // namespace

std::string ImageFaults::describe() const {
  if (guard_offset) return fmt::format("wrote outside the tensor, {} bytes from its start", *guard_offset);
  if (padding_element) return fmt::format("wrote between the rows, at element {} of the memory", *padding_element);
  if (unwritten > 0)
    return fmt::format("left {} elements unwritten, the first is {}", unwritten, first_unwritten.value_or(0));
  return {};
}

GuardedImage::GuardedImage(const TensorShape& shape, std::size_t misalign_bytes)
    : shape_(shape),
      misalign_bytes_((misalign_bytes + size_of(shape.dtype) - 1) / size_of(shape.dtype) * size_of(shape.dtype)) {
  assert(shape.rows >= 0 && shape.columns >= 0 && shape.row_stride >= shape.columns);
  bytes_.resize(tensor_offset() + tensor_bytes() + kGuardBytes);
  for (std::size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = guard_byte(i);
  poison(0, to_size(shape.rows * shape.row_stride));
}

std::size_t GuardedImage::tensor_bytes() const {
  return to_size(shape_.rows * shape_.row_stride) * size_of(shape_.dtype);
}

void GuardedImage::poison(std::size_t first_element, std::size_t count) {
  const std::array<unsigned char, 8> pattern = poison_of(shape_.dtype);
  const std::size_t size = size_of(shape_.dtype);
  unsigned char* at = bytes_.data() + tensor_offset() + first_element * size;
  for (std::size_t i = 0; i < count; ++i) std::memcpy(at + i * size, pattern.data(), size);
}

bool GuardedImage::is_poison(std::size_t element) const {
  const std::size_t size = size_of(shape_.dtype);
  return std::memcmp(bytes_.data() + tensor_offset() + element * size, poison_of(shape_.dtype).data(), size) == 0;
}

void GuardedImage::set(const std::vector<double>& values) {
  assert(values.size() == to_size(shape_.rows * shape_.columns));
  for (std::int64_t row = 0; row < shape_.rows; ++row) {
    encode(shape_.dtype, values.data() + row * shape_.columns, to_size(shape_.columns),
           bytes_.data() + tensor_offset() + to_size(row * shape_.row_stride) * size_of(shape_.dtype));
  }
}

std::vector<double> GuardedImage::values() const {
  std::vector<double> values(to_size(shape_.rows * shape_.columns));
  for (std::int64_t row = 0; row < shape_.rows; ++row) {
    decode(shape_.dtype, bytes_.data() + tensor_offset() + to_size(row * shape_.row_stride) * size_of(shape_.dtype),
           to_size(shape_.columns), values.data() + row * shape_.columns);
  }
  return values;
}

ImageFaults GuardedImage::faults(bool must_be_written) const {
  ImageFaults faults;
  const std::size_t end = tensor_offset() + tensor_bytes();
  for (std::size_t i = 0; i < bytes_.size() && !faults.guard_offset; ++i) {
    if (i == tensor_offset()) i = end;
    if (i < bytes_.size() && bytes_[i] != guard_byte(i)) {
      faults.guard_offset = static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(tensor_offset());
    }
  }
  for (std::int64_t row = 0; row < shape_.rows; ++row) {
    for (std::int64_t column = 0; column < shape_.row_stride; ++column) {
      const std::size_t element = to_size(row * shape_.row_stride + column);
      const bool poisoned = is_poison(element);
      if (column >= shape_.columns) {
        if (!poisoned && !faults.padding_element) faults.padding_element = element;
      } else if (must_be_written && poisoned) {
        if (faults.unwritten++ == 0) faults.first_unwritten = to_size(row * shape_.columns + column);
      }
    }
  }
  return faults;
}

}  // namespace hone::measure
