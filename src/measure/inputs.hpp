// Fresh random inputs by distribution and seed, the same bytes on every platform and for any number of threads.
//
// Values are drawn block by block, each block from a stream of its own, so threads can share the work. Normal values come
// from a two-level table of the normal's quantiles in whole steps of 2^-20, interpolated in integers: no library
// function whose last bit differs between systems stands between the seed and the bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "measure/dtypes.hpp"

namespace hone::measure {

// normal: |N| at most 6. uniform: in steps of 2^-24. labels: 0 < scale < 2^53.
using kernels::Distribution;

struct InputSpec {
  DType dtype = DType::fp32;
  Distribution distribution = Distribution::normal;
  double scale = 1, offset = 0;
  std::uint64_t seed = 0;
  double rare_value = 0, rare_share = 0;  // this share of the elements, drawn one by one, has this value instead
};

// Writes `elements` values to `to`. threads = 0: as many as the machine has, where it pays.
void fill(const InputSpec& spec, void* to, std::size_t elements, int threads = 0);

}  // namespace hone::measure
