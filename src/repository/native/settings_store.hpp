// The settings file that the kernel library loads: what finalize installs for a kernel, keyed by device, dtype and pass.
// One file a kernel, replaced as a whole, so that what is in force is always the old or the new.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "repository/launch/operation.hpp"

namespace hone::repository::native {

using launch::InstalledEntry;

class SettingsStore {
 public:
  SettingsStore(base::FileSystem& files, std::string directory) : files_(files), directory_(std::move(directory)) {}

  // $HONE_SETTINGS_DIR, else $XDG_DATA_HOME/hone/settings, else ~/.local/share/hone/settings.
  static std::string default_directory();

  const std::string& directory() const { return directory_; }
  std::string path(const std::string& kernel) const;
  // The text of the file; empty when there is none.
  base::Result<std::string> text(const std::string& kernel) const;
  // The entry of a device and dtype; nothing when none is installed. A damaged file is an error that says how to remove it.
  base::Result<std::optional<InstalledEntry>> load(const std::string& kernel, const std::string& device,
                                                   const std::string& dtype) const;
  // The file's text after installing `entry` in place of the one with the same device and dtype.
  base::Result<std::string> text_with(const std::string& kernel, const InstalledEntry& entry) const;

 private:
  base::Result<std::vector<InstalledEntry>> entries(const std::string& kernel) const;

  base::FileSystem& files_;
  std::string directory_;
};

}  // namespace hone::repository::native
