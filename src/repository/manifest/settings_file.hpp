// The file that finalize writes beside a manifest: which values the knobs have at which size, by device and element type.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "repository/launch/operation.hpp"

namespace hone::repository::manifest {

using launch::InstalledEntry;

// An empty text has no entries. A usage error names line and column of what is wrong: the file may have been edited.
base::Result<std::vector<InstalledEntry>> parse_settings(const std::string& text, const std::string& path);

// The whole file, as it is written.
std::string settings_text(const std::string& kernel, const std::vector<InstalledEntry>& entries);

// The text with this entry in place of the one for its device and element type.
base::Result<std::string> text_with(const std::string& text, const std::string& path, const std::string& kernel,
                                    const InstalledEntry& entry);

}  // namespace hone::repository::manifest
