#include "base/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/files.hpp"
#include "base/hash.hpp"

namespace hone::base {

namespace {

std::string temporary_folder() {
  for (const char* name : {"XDG_RUNTIME_DIR", "TMPDIR"})
    if (const char* value = std::getenv(name); value != nullptr && *value == '/' && ::access(value, W_OK) == 0)
      return value;
  return "/tmp";
}

// The holder's process number, as it wrote it.
std::string holder_of(int descriptor) {
  char text[32] = {};
  const ssize_t length = ::pread(descriptor, text, sizeof text - 1, 0);
  std::string digits;
  for (ssize_t i = 0; i < length && text[i] >= '0' && text[i] <= '9'; ++i) digits += text[i];
  return digits.empty() ? "another hone" : "process " + digits;
}

}  // namespace

Result<std::unique_ptr<FileLock>> FileLock::claim(const std::string& path, std::string folder) {
  if (folder.empty()) folder = temporary_folder();
  const std::string file =
      join(folder, "hone-" + std::to_string(::getuid()) + "-" + content_hash(path).substr(0, 16) + ".lock");
  constexpr int kTurns = 10;  // each lost to a holder that removed its file between the two calls
  for (int turn = 0; turn < kTurns; ++turn) {
    // No link is followed: the folder may be one that everybody writes into.
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0) break;
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      const bool taken = errno == EWOULDBLOCK;
      const std::string holder = taken ? holder_of(descriptor) : "";
      ::close(descriptor);
      if (!taken) break;
      return Error{ErrorKind::preflight, "a workspace that no other hone works in", holder + " works in it", path,
                   "wait until it has ended, or choose another folder with --workspace"};
    }
    struct stat locked = {}, named = {};
    if (::fstat(descriptor, &locked) != 0 || ::lstat(file.c_str(), &named) != 0 || locked.st_ino != named.st_ino ||
        locked.st_dev != named.st_dev) {
      ::close(descriptor);  // the lock of a file that has no name any more keeps nobody out
      continue;
    }
    const std::string own = std::to_string(::getpid()) + "\n";
    // Only a courtesy to whoever finds it taken; the lock stands without.
    if (::ftruncate(descriptor, 0) == 0) (void)!::pwrite(descriptor, own.data(), own.size(), 0);
    return std::unique_ptr<FileLock>(new FileLock(descriptor, file));
  }
  return std::unique_ptr<FileLock>(new FileLock(-1, ""));
}

FileLock::~FileLock() {
  if (descriptor_ < 0) return;
  ::unlink(file_.c_str());  // while it is still held, so that nobody else's file is removed
  ::close(descriptor_);
}

}  // namespace hone::base
