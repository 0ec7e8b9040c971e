#include "model/device_info.hpp"

#include <algorithm>

namespace hone::model {

double Ceilings::p50(const std::string& name) const {
  const auto found = by_name.find(name);
  return found == by_name.end() ? 0 : found->second.p50;
}

std::int64_t DeviceInfo::last_level_cache_bytes() const {
  const std::int64_t effective = ceilings.effective_last_level_cache_bytes;
  return effective > 0 ? effective : reported_last_level_cache_bytes();
}

std::int64_t DeviceInfo::largest_last_level_cache_bytes() const {
  return std::max(ceilings.effective_last_level_cache_bytes, reported_last_level_cache_bytes());
}

std::int64_t DeviceInfo::reported_last_level_cache_bytes() const {
  const auto last =
      std::max_element(caches.begin(), caches.end(), [](const Cache& a, const Cache& b) { return a.level < b.level; });
  return last == caches.end() ? 0 : last->bytes;
}

}  // namespace hone::model
