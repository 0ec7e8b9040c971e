// One process at a time for a folder that need not exist yet: an advisory lock of this machine, freed by the kernel when its
// holder ends, however it ends.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/result.hpp"

namespace hone::base {

class FileLock {
 public:
  // `path`: absolute, what is claimed; nothing is written there. The lock itself is a small file of this user in `folder`
  // (XDG_RUNTIME_DIR, TMPDIR or /tmp where empty), removed with the lock; a killed holder leaves it, unlocked. An Error
  // (preflight) where another process holds it. Where no such file can be made there is no lock, and `held` says so: a
  // machine without room for temporary files still works.
  static Result<std::unique_ptr<FileLock>> claim(const std::string& path, std::string folder = "");

  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  bool held() const { return descriptor_ >= 0; }

 private:
  FileLock(int descriptor, std::string file) : descriptor_(descriptor), file_(std::move(file)) {}
  int descriptor_;
  std::string file_;
};

}  // namespace hone::base
