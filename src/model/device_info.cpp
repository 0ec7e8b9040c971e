#include "model/device_info.hpp"

#include <algorithm>

namespace hone::model {

double Ceilings::p50(const std::string& name) const {
  const auto found = by_name.find(name);
  return found == by_name.end() ? 0 : found->second.p50;
}

std::int64_t DeviceInfo::last_level_cache_bytes() const {
  const auto last =
      std::max_element(caches.begin(), caches.end(), [](const Cache& a, const Cache& b) { return a.level < b.level; });
  return last == caches.end() ? 0 : last->bytes;
}

}  // namespace hone::model
