// The file system as a port: the machine's, or one in memory that can be told to fail.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace hone::base {

// What is read into memory as a whole ends here. The largest documents are captures of a profiler, 20 to 30 KB a launch.
inline constexpr std::uint64_t kLargestFileBytes = std::uint64_t{256} << 20;

// Paths are plain strings with '/' between parts. Every error names the path, what the system said, and what to do.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual bool exists(const std::string& path) = 0;
  virtual bool is_directory(const std::string& path) = 0;
  // At most kLargestFileBytes: a device or a pipe without an end is an error, not all of the memory.
  virtual Result<std::string> read(const std::string& path) = 0;

  // Replaces the file as a whole: a reader, or a kill at any instant, sees the old content or the new, never a part.
  // Creates missing parent folders. Written data has reached the disk when it returns.
  virtual Result<void> write_atomically(const std::string& path, const std::string& content) = 0;

  // Adds one piece of text at the end and flushes it to the disk (journals): all of it, or on failure nothing.
  // Creates the file and missing parent folders.
  virtual Result<void> append(const std::string& path, const std::string& content) = 0;

  virtual Result<void> create_directories(const std::string& path) = 0;
  virtual Result<void> remove(const std::string& path) = 0;  // a file; a missing one is no error
  virtual Result<void> remove_recursively(
      const std::string& path) = 0;  // a folder and all below; a missing one is no error
  virtual Result<std::vector<std::string>> list(const std::string& directory) = 0;  // names, sorted
  // One name for one folder or file, whatever links lead to it; the path itself where there are no links.
  virtual std::string canonical(const std::string& path) { return path; }
  // The path from the root; links are not followed. What is absolute already stays.
  virtual std::string absolute(const std::string& path) { return path; }
  virtual Result<std::uint64_t> free_bytes(
      const std::string& path) = 0;  // on the disk that holds path or its nearest existing parent
};

class SystemFiles final : public FileSystem {
 public:
  bool exists(const std::string& path) override;
  bool is_directory(const std::string& path) override;
  Result<std::string> read(const std::string& path) override;
  Result<void> write_atomically(const std::string& path, const std::string& content) override;
  Result<void> append(const std::string& path, const std::string& content) override;
  Result<void> create_directories(const std::string& path) override;
  Result<void> remove(const std::string& path) override;
  Result<void> remove_recursively(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& directory) override;
  std::string canonical(const std::string& path) override;
  std::string absolute(const std::string& path) override;
  Result<std::uint64_t> free_bytes(const std::string& path) override;
};

// Holds files in memory. `fail_writes_after(n)`: the n-th write from now and all later ones fail as a full disk does.
class MemoryFiles final : public FileSystem {
 public:
  bool exists(const std::string& path) override;
  bool is_directory(const std::string& path) override;
  Result<std::string> read(const std::string& path) override;
  Result<void> write_atomically(const std::string& path, const std::string& content) override;
  Result<void> append(const std::string& path, const std::string& content) override;
  Result<void> create_directories(const std::string& path) override;
  Result<void> remove(const std::string& path) override;
  Result<void> remove_recursively(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& directory) override;
  Result<std::uint64_t> free_bytes(const std::string& path) override;

  void fail_writes_after(int writes) { writes_left_ = writes; }
  void set_free_bytes(std::uint64_t bytes) { free_bytes_ = bytes; }
  const std::map<std::string, std::string>& files() const { return files_; }

 private:
  Result<void> count_write(const std::string& path);

  std::map<std::string, std::string> files_;
  std::set<std::string> directories_;
  std::optional<int> writes_left_;
  std::uint64_t free_bytes_ = std::uint64_t{1} << 40;
};

// "a/b" + "c" = "a/b/c"; an absolute second part stands alone; no doubled slash.
std::string join(const std::string& directory, const std::string& name);
std::string parent(const std::string& path);     // "a/b/c" -> "a/b"; "c" -> "."
std::string file_name(const std::string& path);  // "a/b/c" -> "c"

}  // namespace hone::base
