#include "base/regular_file.hpp"

#include <sys/stat.h>

namespace hone::base {

namespace {

Error too_large(const std::string& path, std::uint64_t most_bytes) {
  return Error{ErrorKind::usage, "a file of at most " + std::to_string(most_bytes) + " bytes", "a larger one", path,
               "name a smaller file"};
}

}  // namespace

Result<std::string> read_regular(FileSystem& files, const std::string& path, std::uint64_t most_bytes) {
  // Only the machine's files can be anything else; a failing stat is left for the read to explain.
  struct stat status {};
  if (dynamic_cast<SystemFiles*>(&files) != nullptr && ::stat(path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
      return Error{ErrorKind::usage, "a regular file", "a pipe, a socket or a device", path, "name a file on a disk"};
    if (static_cast<std::uint64_t>(status.st_size) > most_bytes) return too_large(path, most_bytes);
  }
  auto content = files.read(path);
  if (content && content->size() > most_bytes) return too_large(path, most_bytes);
  return content;
}

}  // namespace hone::base
