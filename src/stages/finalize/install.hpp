// Writes the winner into production so that a kill at any instant leaves the old files or the new ones, whole, and never an
// installation that was not verified.
//
// Order: copies of the old content, then an intent with the hashes of old and new content, then each file atomically, then
// "applied"; "verified" follows when the gates have passed. What is not verified at the next start is taken back.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "repository/changeable.hpp"
#include "stages/records.hpp"
#include "stages/workspace.hpp"

namespace hone::stages {

struct Installation {
  struct File {
    std::string path, before_copy, before_hash,
        after_hash;  // before_copy: in the workspace, empty where there was no file
    bool existed = false;
  };
  int number = 0;
  std::string variant, at, state;  // state: "intended", "applied", "verified", "reverted"
  std::vector<File> files;
};

class Installer {
 public:
  // `unverified`, where given, is true from the first file that is written until the installation is verified or taken back.
  static base::Result<Installer> open(const Workspace& workspace, base::Clock& clock,
                                      std::atomic<bool>* unverified = nullptr);

  // Takes back what an earlier run left unverified; says what it did. An error where a file is neither the old nor the new
  // one: somebody else changed it, and it is left alone.
  base::Result<std::optional<std::string>> recover();
  // Production must still be what `changes` say it was. On failure everything written so far is taken back.
  base::Result<void> apply(const std::string& variant, const std::vector<repository::FileChange>& changes);
  base::Result<void> verified();  // keeps the last one
  // Takes the last one back; nothing to do when there is none. An error where a file could not be put back.
  base::Result<void> revert(const std::string& reason);

  // The verified installation whose files are all still in place.
  std::optional<Installation> in_force() const;
  const std::optional<Installation>& last() const { return last_; }

 private:
  Installer(const Workspace& workspace, base::Clock& clock) : workspace_(workspace), clock_(&clock) {}
  base::Result<void> note(const std::string& state, const std::string& reason);
  base::Result<void> restore();
  std::string state_of(const Installation::File& file) const;  // "before", "after", "other" or "unreadable"

  Workspace workspace_;
  base::Clock* clock_;
  std::atomic<bool>* unverified_ = nullptr;
  std::optional<Installation> last_;
  bool line_open_ = false;
};

}  // namespace hone::stages
