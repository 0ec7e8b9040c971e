#include "device/cache_knee.hpp"

#include <algorithm>
#include <cmath>

namespace hone::device {

namespace {

constexpr int fewest_rounds = 3, most_rounds = 9;
constexpr double least_contrast = 1.3, fallen = 0.4;

}  // namespace

std::vector<std::int64_t> working_sets(std::int64_t smallest, std::int64_t largest) {
  std::vector<std::int64_t> sizes;
  if (smallest <= 0 || largest < smallest) return sizes;
  const std::int64_t most = largest - largest / 6;  // no two sizes that hardly differ
  for (std::int64_t bytes = smallest; bytes < most; bytes *= 2) {
    sizes.push_back(bytes);
    if (bytes / 2 * 3 < most) sizes.push_back(bytes / 2 * 3);
  }
  sizes.push_back(largest);
  return sizes;
}

base::Result<std::vector<CachePoint>> cache_curve(const std::vector<std::int64_t>& sizes, base::Clock& clock,
                                                  std::int64_t max_ns,
                                                  const std::function<base::Result<double>(std::int64_t bytes)>& rate) {
  std::vector<CachePoint> curve;
  for (const std::int64_t bytes : sizes) curve.push_back({bytes, 0});
  const std::int64_t start_ns = clock.now_ns();
  for (int round = 0; round < most_rounds; ++round) {
    const std::int64_t elapsed_ns = clock.now_ns() - start_ns;
    if (round >= fewest_rounds && elapsed_ns + elapsed_ns / round > max_ns) break;
    for (std::size_t place = 0; place < sizes.size(); ++place) {
      const std::size_t i = round % 2 == 0 ? place : sizes.size() - 1 - place;
      HONE_TRY(taken, rate(sizes[i]));
      curve[i].bytes_per_s = std::max(curve[i].bytes_per_s, *taken);
    }
  }
  return curve;
}

std::int64_t effective_cache_bytes(const std::vector<CachePoint>& curve) {
  if (curve.size() < 4 || std::any_of(curve.begin(), curve.end(), [](const auto& p) { return !(p.bytes_per_s > 0); }))
    return 0;
  const double memory = 1 / std::max(curve.back().bytes_per_s, curve[curve.size() - 2].bytes_per_s);
  double quickest = memory;
  for (const CachePoint& point : curve) quickest = std::min(quickest, 1 / point.bytes_per_s);
  if (memory < least_contrast * quickest) return 0;
  double held = 0;
  int fallen_in_a_row = 0;
  for (const CachePoint& point : curve) {
    const double hits = (memory - 1 / point.bytes_per_s) / (memory - quickest);
    // One size below its neighbours is a disturbed one; two are the memory's side of the curve.
    fallen_in_a_row = hits < fallen ? fallen_in_a_row + 1 : 0;
    if (held > 0 && fallen_in_a_row == 2) break;
    if (hits >= fallen) held = std::max(held, hits * static_cast<double>(point.bytes));
  }
  return std::llround(held);
}

}  // namespace hone::device
