// Sizes between those that are measured, to check a settings function on.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace hone::repository {

// The geometric middle of neighbours, rounded to a multiple of 64 where that stays between them.
inline std::vector<std::int64_t> sizes_between(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> between;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    const double middle = std::sqrt(static_cast<double>(sizes[i]) * static_cast<double>(sizes[i + 1]));
    std::int64_t x = std::llround(middle / 64.0) * 64;
    if (x <= sizes[i] || x >= sizes[i + 1]) x = static_cast<std::int64_t>(middle);
    if (x > sizes[i] && x < sizes[i + 1]) between.push_back(x);
  }
  return between;
}

}  // namespace hone::repository
