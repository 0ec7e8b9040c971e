// Sources: CUDA C++ Programming Guide, "Compute Capabilities"; NVRTC reference, --gpu-architecture.
#include "device/cuda/architecture.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace hone::device::cuda {

std::string Capability::text() const { return fmt::format("{}.{}", major, minor); }

std::string architecture_name(const Capability& capability) {
  switch (capability.major) {
    case 7: return capability.minor >= 5 ? "turing" : "volta";
    case 8: return capability.minor == 9 ? "ada" : "ampere";
    case 9: return "hopper";
    case 10:
    case 11:
    case 12: return "blackwell";
    default: break;
  }
  if (capability.major > 12) return fmt::format("newer than this version knows ({})", capability.text());
  return fmt::format("older than CUDA 12 runs ({})", capability.text());
}

CompileTarget compile_target(const Capability& capability, const std::vector<int>& supported) {
  const int number = 10 * capability.major + capability.minor;
  if (std::find(supported.begin(), supported.end(), number) != supported.end())
    return {fmt::format("sm_{}{}", number, number >= 90 ? "a" : ""), true, number};
  int below = 0;
  for (const int each : supported)
    if (each < number) below = std::max(below, each);
  if (below == 0) return {"", false, 0};
  return {fmt::format("compute_{}", below), false, below};
}

}  // namespace hone::device::cuda
