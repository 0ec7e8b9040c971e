#include "device/ceiling_mix.hpp"

#include <algorithm>
#include <cmath>

namespace hone::device {

CeilingMix ceiling_mix(double bytes_read, double bytes_written, std::int64_t fewest, std::int64_t half,
                       std::int64_t unit) {
  const auto usable = [](double bytes) { return std::isfinite(bytes) && bytes > 0 ? bytes : 0.0; };
  const double read = usable(bytes_read), written = usable(bytes_written);
  const double both = std::min(read, written), alone = std::max(read, written) - both;
  if (!(both + alone > 0)) return {};
  const double room = static_cast<double>(half);
  const double wanted = std::max(2 * both + alone, static_cast<double>(fewest));
  const double scale = std::min(wanted / (2 * both + alone), room / std::max(both, alone));
  const auto whole = [unit](double bytes) { return static_cast<std::int64_t>(bytes) / unit * unit; };
  CeilingMix mix = {whole(scale * both), whole(scale * alone), read > written};
  if (mix.copied + mix.alone == 0) (both > alone ? mix.copied : mix.alone) = unit;
  return mix;
}

}  // namespace hone::device
