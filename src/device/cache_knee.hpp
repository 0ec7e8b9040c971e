// The effective size of a cache, from the bandwidth of reads over the size of the working set. What a system reports is not it:
// a virtual machine reports the last-level cache of the whole host, of which it gets a part.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace hone::device {

struct CachePoint {
  std::int64_t bytes = 0;
  double bytes_per_s = 0;
};

// Working sets of 1, 1.5, 2, 3, 4, 6, ... times `smallest`; the last is `largest`. None where they are not in that order.
std::vector<std::int64_t> working_sets(std::int64_t smallest, std::int64_t largest);

// The curve at these sizes, which lie in order. Sizes are visited in rounds, up and down in turn, so that a slow moment meets
// all of them; of each size's rates the highest stands, since other load only takes from it. At least 3 rounds, and no
// more than 9 or than fit into max_ns. `rate`: bytes/s of one run on a working set that the run before left in the caches.
base::Result<std::vector<CachePoint>> cache_curve(const std::vector<std::int64_t>& sizes, base::Clock& clock,
                                                  std::int64_t max_ns,
                                                  const std::function<base::Result<double>(std::int64_t bytes)>& rate);

// The bytes that a large working set still gets hits for. With t(S) the time per byte, the share of hits at S is
//   h(S) = (t(memory) - t(S)) / (t(memory) - min t),  t(memory): the lesser of the two largest working sets
// and the cache holds the largest h(S) S of the sizes before the curve has fallen to memory (h < 0.4): a cache that evicts
// the oldest lines hits until S is its size and then never; one that evicts any line hits for its size at every S.
// 0: memory and the quickest differ by less than 1.3, or there are fewer than 4 points.
std::int64_t effective_cache_bytes(const std::vector<CachePoint>& curve);

}  // namespace hone::device
