// The settings file that the kernel library loads: what finalize installs for a kernel, keyed by device, dtype and pass.
// One file a kernel, replaced as a whole, so that what is in force is always the old or the new.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "kernels/catalog/operation.hpp"
#include "model/variant.hpp"

namespace hone::repository::native {

// What is installed for one device and dtype.
struct InstalledEntry {
  std::string device, dtype;
  model::Variant variant;  // settings by pass and source edits
  std::string reason, created, hone_version;
};

class SettingsStore {
 public:
  SettingsStore(base::FileSystem& files, std::string directory) : files_(files), directory_(std::move(directory)) {}

  // $HONE_SETTINGS_DIR, else $XDG_DATA_HOME/hone/settings, else ~/.local/share/hone/settings.
  static std::string default_directory();

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

// Settings of a pass at a problem: the installed ones where they are valid for it, else the kernel's heuristic.
kernels::Settings settings_in_force(const kernels::Operation& operation, kernels::Pass pass,
                                    const kernels::Problem& problem, const kernels::Target& target,
                                    const std::optional<InstalledEntry>& installed);

// Why the installed settings of a pass are not in force at a problem, although there are some; empty when they are in force or
// there are none.
std::string why_not_in_force(const kernels::Operation& operation, kernels::Pass pass, const kernels::Problem& problem,
                             const kernels::Target& target, const std::optional<InstalledEntry>& installed);

}  // namespace hone::repository::native
