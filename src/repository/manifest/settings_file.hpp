// The file that finalize writes beside a manifest: which values the knobs have at which size, by device and element type.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/variant.hpp"

namespace hone::repository::manifest {

struct SettingsEntry {
  std::string device, dtype, reason, created, hone_version;
  std::map<std::string, model::SettingsFunction> settings;  // by pass
  bool operator==(const SettingsEntry&) const = default;
};

// An empty text has no entries. A usage error names line and column of what is wrong: the file may have been edited.
base::Result<std::vector<SettingsEntry>> parse_settings(const std::string& text, const std::string& path);

// The whole file, as it is written.
std::string settings_text(const std::string& kernel, const std::vector<SettingsEntry>& entries);

// The text with this entry in place of the one for its device and element type.
base::Result<std::string> text_with(const std::string& text, const std::string& path, const std::string& kernel,
                                    const SettingsEntry& entry);

}  // namespace hone::repository::manifest
