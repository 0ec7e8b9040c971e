// Conversions between element types and double. See dtypes.hpp.
#include "measure/dtypes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace hone::measure {

namespace {

// `value` as float with every lost bit remembered in the lowest one (rounding to odd): rounding that once more to a format
// at least two bits shorter gives the same as rounding the double directly.
float to_float_odd(double value) {
  const float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || std::isnan(value)) return nearest;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  // The bits of the magnitude count upwards, also from the largest finite value to infinity.
  if (std::abs(static_cast<double>(nearest)) > std::abs(value)) --bits;
  return std::bit_cast<float>(bits | 1u);
}

std::int64_t to_int64(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 0x1p63) return std::numeric_limits<std::int64_t>::max();
  if (value < -0x1p63) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(std::nearbyint(value));
}

std::int32_t to_int32(double value) {
  constexpr std::int64_t least = std::numeric_limits<std::int32_t>::min(),
                         most = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::clamp(to_int64(value), least, most));
}

template <class Bits, class Convert>
void each(const void* from, std::size_t elements, double* to, Convert convert) {
  const auto* bytes = static_cast<const unsigned char*>(from);
  for (std::size_t i = 0; i < elements; ++i) {
    Bits bits;
    std::memcpy(&bits, bytes + i * sizeof(Bits), sizeof(Bits));
    to[i] = convert(bits);
  }
}

template <class Convert>
void each(const double* from, std::size_t elements, void* to, Convert convert) {
  auto* bytes = static_cast<unsigned char*>(to);
  for (std::size_t i = 0; i < elements; ++i) {
    const auto bits = convert(from[i]);
    std::memcpy(bytes + i * sizeof(bits), &bits, sizeof(bits));
  }
}

}  // namespace

double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::fp32: return 0x1p-24;
    case DType::fp16: return 0x1p-11;
    case DType::bf16: return 0x1p-8;
    case DType::int64:
    case DType::int32: return 0;
  }
  return 0;
}

double largest_finite(DType dtype) {
  switch (dtype) {
    case DType::fp32: return std::numeric_limits<float>::max();
    case DType::fp16: return 65504;
    case DType::bf16: return 0x1.fep127;
    case DType::int64: return 0x1p63;
    case DType::int32: return std::numeric_limits<std::int32_t>::max();
  }
  return 0;
}

std::uint16_t to_bf16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  // A NaN whose payload lies in the lower half only must not become infinite.
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

float from_bf16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

std::uint16_t to_fp16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x1ffu));
  if (magnitude >= 0x47800000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // 2^16 and more
  if (magnitude < 0x38800000u) {
    // Below 2^-14: subnormal in steps of 2^-24. Adding 0.5 puts the step at the float's last bit, so the adder rounds.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
  }
  const std::uint32_t rebased = magnitude - 0x38000000u;  // exponent bias 127 to 15
  return static_cast<std::uint16_t>(sign | ((rebased + 0xfffu + ((rebased >> 13) & 1u)) >> 13));
}

float from_fp16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu, fraction = bits & 0x3ffu;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  const std::uint32_t rebased = exponent == 31 ? 0x7f800000u : (exponent + 112) << 23;
  return std::bit_cast<float>(sign | rebased | (fraction << 13));
}

void decode(DType dtype, const void* from, std::size_t elements, double* to) {
  switch (dtype) {
    case DType::fp32: return each<float>(from, elements, to, [](float value) { return static_cast<double>(value); });
    case DType::fp16:
      return each<std::uint16_t>(from, elements, to, [](std::uint16_t bits) { return from_fp16(bits); });
    case DType::bf16:
      return each<std::uint16_t>(from, elements, to, [](std::uint16_t bits) { return from_bf16(bits); });
    case DType::int64:
      return each<std::int64_t>(from, elements, to, [](std::int64_t value) { return static_cast<double>(value); });
    case DType::int32:
      return each<std::int32_t>(from, elements, to, [](std::int32_t value) { return static_cast<double>(value); });
  }
}

void encode(DType dtype, const double* from, std::size_t elements, void* to) {
  switch (dtype) {
    case DType::fp32: return each(from, elements, to, [](double value) { return static_cast<float>(value); });
    case DType::fp16: return each(from, elements, to, [](double value) { return to_fp16(to_float_odd(value)); });
    case DType::bf16: return each(from, elements, to, [](double value) { return to_bf16(to_float_odd(value)); });
    case DType::int64: return each(from, elements, to, to_int64);
    case DType::int32: return each(from, elements, to, to_int32);
  }
}

std::vector<double> decode(DType dtype, const void* from, std::size_t elements) {
  std::vector<double> values(elements);
  decode(dtype, from, elements, values.data());
  return values;
}

}  // namespace hone::measure
