// See private_folder.hpp.
#include "device/cpu/private_folder.hpp"

#include <stdlib.h>

#include <cerrno>

#include "base/system_error.hpp"

namespace hone::device::cpu {

PrivateFolder::~PrivateFolder() {
  if (!path_.empty()) (void)files_.remove_recursively(path_).ok();
}

base::Result<std::string> PrivateFolder::path() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!path_.empty()) return path_;
  int failure = ENOENT;
  for (const std::string& candidate : candidates_) {
    std::string pattern = base::join(candidate, "hone-cpu-XXXXXX");
    if (::mkdtemp(pattern.data()) != nullptr) return path_ = pattern;
    failure = errno;
  }
  base::Error error = base::system_error(failure, "a temporary folder for the compiler", candidates_.front());
  error.remedy += "; TMPDIR names another place";
  return error;
}

}  // namespace hone::device::cpu
