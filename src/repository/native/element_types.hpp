// The kernel library's element types and input distributions in the words of the measuring floor.
#pragma once

#include "kernels/catalog/operation.hpp"
#include "measure/inputs.hpp"

namespace hone::repository::native {

inline measure::DType element_type(kernels::DType dtype) {
  switch (dtype) {
    case kernels::DType::fp32: return measure::DType::fp32;
    case kernels::DType::fp16: return measure::DType::fp16;
    case kernels::DType::bf16: return measure::DType::bf16;
    case kernels::DType::int64: return measure::DType::int64;
  }
  return measure::DType::fp32;
}

inline measure::InputSpec input_spec(const kernels::TensorSpec& spec, std::uint64_t seed) {
  measure::InputSpec input;
  input.dtype = element_type(spec.dtype);
  input.scale = spec.scale;
  input.offset = spec.offset;
  input.seed = seed;
  input.rare_value = spec.rare_value;
  input.rare_share = spec.rare_share;
  switch (spec.distribution) {
    case kernels::Distribution::normal: input.distribution = measure::Distribution::normal; break;
    case kernels::Distribution::uniform: input.distribution = measure::Distribution::uniform; break;
    case kernels::Distribution::labels: input.distribution = measure::Distribution::labels; break;
    case kernels::Distribution::zeros: input.distribution = measure::Distribution::zeros; break;
  }
  return input;
}

}  // namespace hone::repository::native
