// The folder optimization/{kernel}/: the names of its files, and the checks before anything is written there.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "model/profile.hpp"
#include "model/variant.hpp"

namespace hone::stages {

class Workspace {
 public:
  // Opens root/kernel and creates it where missing. Pre-flight errors: not writable, less than 16 MiB free, the workspace of
  // another kernel, or documents of another schema; a folder that was not there before such an error is not there after it.
  static base::Result<Workspace> open(base::FileSystem& files, const std::string& root, const std::string& kernel);

  const std::string& kernel() const { return kernel_; }
  const std::string& folder() const { return folder_; }
  base::FileSystem& files() const { return *files_; }

  std::string at(const std::string& name) const;                // a file of the workspace
  std::string notes_name(const std::string& variant) const;     // "rms_norm_v2_notes.md"
  std::string settings_name(const std::string& variant) const;  // "rms_norm_v2_settings.json"
  std::string source_name(const std::string& variant, const std::string& extension) const;  // "rms_norm_v2.hpp"
  std::string results_name(const std::string& variant) const;  // "benchmarks/v2_results.csv"

  // Writes the sources as original_{kernel}.*; a file that stands there with other content is never overwritten: the new one
  // gets the next free number (original_{kernel}_2.*). Returns the names that hold `sources`, in order.
  base::Result<std::vector<std::string>> write_snapshot(
      const std::vector<std::pair<std::string, std::string>>& sources) const;
  // The names under which write_snapshot first keeps these sources and that are missing; empty: the snapshot is whole.
  std::vector<std::string> missing_snapshot(const std::vector<std::pair<std::string, std::string>>& sources) const;

  base::Result<void> write(const std::string& name, const std::string& content) const;
  base::Result<std::string> read(const std::string& name,
                                 const std::string& made_by) const;  // made_by: the command that makes it

  base::Result<model::Profile> load_profile() const;
  base::Result<model::ComparisonDocument> load_comparison() const;
  base::Result<model::Variant> load_variant(const std::string& id) const;

 private:
  Workspace(base::FileSystem& files, std::string folder, std::string kernel)
      : files_(&files), folder_(std::move(folder)), kernel_(std::move(kernel)) {}
  std::string snapshot_name(const std::string& source) const;

  base::FileSystem* files_;
  std::string folder_, kernel_;
};

}  // namespace hone::stages
