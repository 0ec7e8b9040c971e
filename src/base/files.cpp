// The machine's file system behind the port: whole-file replacement that a kill or a full disk can not break.
#include "base/files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include "base/system_error.hpp"

namespace hone::base {

namespace {

// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  // Closes now and tells what close said: network file systems report a full disk only here. 0 or an errno.
  int close() {
    const int fd = std::exchange(fd_, -1);
    return ::close(fd) == 0 || errno == EINTR ? 0 : errno;
  }

 private:
  int fd_;
};

// All bytes, over short writes and signals. 0 or an errno.
int write_all(int fd, const std::string& content) {
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t written = ::write(fd, content.data() + done, content.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    done += static_cast<std::size_t>(written);
  }
  return 0;
}

int sync_file(int fd) {
  while (::fsync(fd) != 0) {
    if (errno == EINTR) continue;
    // Pipes and a few special files can not be synced; there is nothing to lose there.
    return errno == EINVAL || errno == ENOTSUP ? 0 : errno;
  }
  return 0;
}

// Makes names inside a folder (a rename, a new file) survive a crash. 0 or an errno.
int sync_directory(const std::string& path) {
  Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.open()) return sync_file(directory.get());
  // A folder may be writable but not readable; its entries are then as safe as the system makes them.
  return errno == EACCES ? 0 : errno;
}

// Where a symbolic link ends: replacing the link itself would leave the real file unchanged.
std::string final_target(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return path;
  std::unique_ptr<char, decltype(&std::free)> target(::realpath(path.c_str(), nullptr), &std::free);
  return target ? std::string(target.get()) : path;
}

constexpr char temporary_head[] = ".hone-", temporary_tail[] = ".tmp";

std::string temporary_name(const std::string& directory) {
  static std::atomic<unsigned> counter{0};
  return join(directory,
              temporary_head + std::to_string(::getpid()) + "-" + std::to_string(counter++) + temporary_tail);
}

bool is_temporary(const std::string& name) {
  constexpr std::size_t head = sizeof temporary_head - 1, tail = sizeof temporary_tail - 1;
  return name.size() > head + tail && name.compare(0, head, temporary_head) == 0 &&
         name.compare(name.size() - tail, tail, temporary_tail) == 0;
}

bool lock(int fd, int operation) {
  while (::flock(fd, operation) != 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

// Removes temporary files that a kill between naming and renaming left in a folder. The writer of a temporary file holds its
// lock for as long as it has the name, so one that can be locked belongs to nobody. Once a folder and process: listing a large
// one at every write would cost more than the write.
void remove_abandoned(const std::string& directory) {
  static std::mutex mutex;
  static std::set<std::string> done;
  {
    const std::lock_guard<std::mutex> guard(mutex);
    if (!done.insert(directory).second) return;
  }
  std::unique_ptr<DIR, int (*)(DIR*)> handle(::opendir(directory.c_str()), &::closedir);
  if (!handle) return;
  std::vector<std::string> names;
  for (const dirent* entry = ::readdir(handle.get()); entry != nullptr; entry = ::readdir(handle.get())) {
    if (is_temporary(entry->d_name)) names.emplace_back(entry->d_name);
  }
  for (const std::string& name : names) {
    const std::string path = join(directory, name);
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (file.open() && lock(file.get(), LOCK_EX | LOCK_NB)) ::unlink(path.c_str());
  }
}

constexpr char can_be_written[] = "a file that can be written";

Error too_large(const std::string& path) {
  return {ErrorKind::usage, "a file of at most " + std::to_string(kLargestFileBytes >> 20) + " MiB",
          "more than that; a device or a pipe may have no end", path, "name a smaller file, or a part of this one"};
}

// A complete file under a temporary name, and the lock that says that its writer lives.
struct Temporary {
  std::string path;
  std::unique_ptr<Descriptor> writer;
};

// A new, complete and synced file under a temporary name in the target's folder, ready to be renamed over it.
// The file first exists without a name (where the file system can), so that a kill while writing leaves nothing behind.
Result<Temporary> write_temporary(const std::string& target, const std::string& content) {
  const std::string directory = parent(target);
  const std::string temporary = temporary_name(directory);
  int fd = ::open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  const bool unnamed = fd >= 0;
  if (!unnamed) fd = ::open(temporary.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  if (fd < 0) return system_error(errno, can_be_written, target);
  Descriptor file(fd);
  // A file system without locks loses the clearing up of what a kill left, nothing else.
  (void)lock(file.get(), LOCK_EX);
  auto writer = std::make_unique<Descriptor>(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0));

  struct stat old {};
  int failure = 0;
  if (::stat(target.c_str(), &old) == 0 && ::fchmod(file.get(), old.st_mode & 07777) != 0) failure = errno;
  if (failure == 0) failure = write_all(file.get(), content);
  if (failure == 0) failure = sync_file(file.get());
  if (failure == 0 && unnamed) {
    const std::string handle = "/proc/self/fd/" + std::to_string(file.get());
    if (::linkat(AT_FDCWD, handle.c_str(), AT_FDCWD, temporary.c_str(), AT_SYMLINK_FOLLOW) != 0) failure = errno;
  }
  const int closed = file.close();
  if (failure == 0) failure = closed;
  if (failure == 0) return Temporary{temporary, std::move(writer)};
  ::unlink(temporary.c_str());
  return system_error(failure, can_be_written, target);
}

}  // namespace

bool SystemFiles::exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

bool SystemFiles::is_directory(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

Result<std::string> SystemFiles::read(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open()) return system_error(errno, "a file that can be read", path);
  struct stat status {};
  std::string content;
  if (::fstat(file.get(), &status) == 0 && status.st_size > 0) {
    if (static_cast<std::uint64_t>(status.st_size) > kLargestFileBytes) return too_large(path);
    content.reserve(static_cast<std::size_t>(status.st_size));
  }
  char block[1 << 16];
  for (;;) {
    const ssize_t got = ::read(file.get(), block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(errno, "a file that can be read", path);
    if (got == 0) return content;
    if (content.size() + static_cast<std::size_t>(got) > kLargestFileBytes) return too_large(path);
    content.append(block, static_cast<std::size_t>(got));
  }
}

Result<void> SystemFiles::write_atomically(const std::string& path, const std::string& content) {
  const std::string target = final_target(path);
  if (is_directory(target)) return system_error(EISDIR, can_be_written, path);
  if (auto made = create_directories(parent(target)); !made) return made;
  remove_abandoned(parent(target));
  HONE_TRY(temporary, write_temporary(target, content));
  if (::rename(temporary->path.c_str(), target.c_str()) != 0) {
    const int failure = errno;
    ::unlink(temporary->path.c_str());
    return system_error(failure, can_be_written, path);
  }
  if (int failure = sync_directory(parent(target)); failure != 0) return system_error(failure, can_be_written, path);
  return {};
}

Result<void> SystemFiles::append(const std::string& path, const std::string& content) {
  if (auto made = create_directories(parent(path)); !made) return made;
  const bool is_new = !exists(path);
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!file.open()) return system_error(errno, "a file that can be appended to", path);
  // The lock lets a half-written piece be taken back without touching what another process appends.
  (void)lock(file.get(), LOCK_EX);
  struct stat before {};
  int failure = ::fstat(file.get(), &before) == 0 ? 0 : errno;
  if (failure == 0) failure = write_all(file.get(), content);
  if (failure == 0) failure = sync_file(file.get());
  if (failure != 0) {
    if (S_ISREG(before.st_mode) && ::ftruncate(file.get(), before.st_size) != 0) {
      return system_error(errno, "a half-written line that can be taken back", path);
    }
    return system_error(failure, "a file that can be appended to", path);
  }
  failure = file.close();
  if (failure == 0 && is_new) failure = sync_directory(parent(path));
  if (failure != 0) return system_error(failure, "a file that can be appended to", path);
  return {};
}

Result<void> SystemFiles::create_directories(const std::string& path) {
  constexpr char can_be_made[] = "a folder that can be created";
  if (path.empty() || is_directory(path)) return {};
  if (auto above = create_directories(parent(path)); !above) return above;
  if (::mkdir(path.c_str(), 0777) != 0) {
    // Another process may have made it in the meantime; that is as good.
    const int failure = errno;
    if (failure == EEXIST && is_directory(path)) return {};
    return system_error(failure == EEXIST ? ENOTDIR : failure, can_be_made, path);
  }
  if (int failure = sync_directory(parent(path)); failure != 0) return system_error(failure, can_be_made, path);
  return {};
}

Result<void> SystemFiles::remove(const std::string& path) {
  if (::unlink(path.c_str()) == 0) return {};
  const int failure = errno;
  if (failure == ENOENT || failure == ENOTDIR) return {};
  return system_error(is_directory(path) ? EISDIR : failure, "a file that can be removed", path);
}

Result<void> SystemFiles::remove_recursively(const std::string& path) {
  std::error_code failure;
  std::filesystem::remove_all(path, failure);
  if (failure && failure != std::errc::no_such_file_or_directory && failure != std::errc::not_a_directory) {
    return system_error(failure.value(), "a folder that can be removed", path);
  }
  return {};
}

Result<std::vector<std::string>> SystemFiles::list(const std::string& directory) {
  std::unique_ptr<DIR, int (*)(DIR*)> handle(::opendir(directory.c_str()), &::closedir);
  if (!handle) return system_error(errno, "a folder that can be listed", directory);
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(handle.get());
    if (entry == nullptr && errno != 0) return system_error(errno, "a folder that can be listed", directory);
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string SystemFiles::absolute(const std::string& path) {
  std::error_code failure;
  const auto full = std::filesystem::absolute(path, failure);
  return failure ? path : full.lexically_normal().string();
}

std::string SystemFiles::canonical(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, failed);
  return failed ? path : real.string();
}

Result<std::uint64_t> SystemFiles::free_bytes(const std::string& path) {
  std::string place = path.empty() ? "." : path;
  while (!exists(place) && place != parent(place)) place = parent(place);
  struct statvfs disk {};
  if (::statvfs(place.c_str(), &disk) != 0) return system_error(errno, "a disk that tells its free space", path);
  return std::uint64_t{disk.f_bavail} * disk.f_frsize;
}

}  // namespace hone::base
