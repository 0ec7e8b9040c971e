// Element types of kernel tensors as bytes in memory: decoding to double is exact, encoding rounds once, to nearest even.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/catalog/plan.hpp"

namespace hone::measure {

using kernels::DType;
using kernels::name_of;
using kernels::size_of;

// Half the distance from 1 to the next number: the largest relative error of one rounding. 0 for integers.
double unit_roundoff(DType dtype);
// The largest finite value; for integers the largest value, as a double.
double largest_finite(DType dtype);

// Single elements. NaN stays NaN and keeps its sign and what fits of its payload; values too large become infinite.
std::uint16_t to_bf16(float value);
std::uint16_t to_fp16(float value);
float from_bf16(std::uint16_t bits);
float from_fp16(std::uint16_t bits);

// Arrays of `elements`. Encoding from double rounds once (never through float to half precision twice). Whole numbers: decoding
// is exact up to 2^53; encoding rounds to nearest even, saturates, and makes 0 of NaN.
void decode(DType dtype, const void* from, std::size_t elements, double* to);
void encode(DType dtype, const double* from, std::size_t elements, void* to);
std::vector<double> decode(DType dtype, const void* from, std::size_t elements);

}  // namespace hone::measure
