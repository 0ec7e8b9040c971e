// How much of a pass's traffic the ceiling programs move beside it.
#pragma once

#include <cstdint>

namespace hone::device {

struct CeilingMix {
  std::int64_t copied = 0;  // bytes read and as many written
  std::int64_t alone = 0;   // bytes read, or written, besides
  bool alone_is_read = false;

  double bytes_read() const { return static_cast<double>(copied + (alone_is_read ? alone : 0)); }
  double bytes_written() const { return static_cast<double>(copied + (alone_is_read ? 0 : alone)); }
};

// The mix of `bytes_read` and `bytes_written`, scaled to at least `fewest` bytes in all and at most `half` in each buffer, which
// holds no less than a `unit`; each part in whole units. Not a number, negative or nothing: nothing.
CeilingMix ceiling_mix(double bytes_read, double bytes_written, std::int64_t fewest, std::int64_t half,
                       std::int64_t unit);

}  // namespace hone::device
