// Ceilings of a device as they are kept between runs (hone.ceilings/1).
#pragma once

#include <string>

#include "base/result.hpp"
#include "model/device_info.hpp"

namespace hone::model {

struct KeptCeilings {
  std::string device;       // what they are ceilings of, in words: other words are another device
  std::string measured_by;  // version of the programs that measured them
  bool quick = false;       // by the fewer samples of --quick
  int cache_looks = 0;      // how often the effective cache size was measured, also where the curve had no knee
  Ceilings ceilings;        // by_name is empty where the cache alone was measured
  bool operator==(const KeptCeilings&) const = default;
};

inline constexpr const char* kCeilingsSchema = "hone.ceilings/1";

// A document with the hash of its content. parse_kept_ceilings refuses one whose content does not fit the hash, rates that can
// not stand beside the copy's, times and cache sizes that no device has, and whatever parse_profile refuses in a profile's
// ceilings.
std::string to_json(const KeptCeilings& kept);
base::Result<KeptCeilings> parse_kept_ceilings(const std::string& json, const std::string& where);

}  // namespace hone::model
