// Compiled programs by content, for every device. An entry is the compiler's result with a seal at its end; one whose seal
// does not fit its bytes (cut off, changed, of another version) is no entry.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.hpp"
#include "base/result.hpp"
#include "device/device.hpp"

namespace hone::device {

// The name of what compiling gives: texts, defines, compiler, flags, and the processor that the flags depend on.
std::string cache_key(const ProgramSource& source, const std::string& compiler_identity, const std::string& flags,
                      const std::string& processor_identity);

constexpr std::uint64_t default_cache_bytes = std::uint64_t{512} << 20;  // some ten thousand programs

// Safe to use from several threads, and from several processes at once.
class ProgramCache {
 public:
  // Entries stand in `directory`/`kind` with `extension`. An empty directory: nothing is found, nothing kept. Beyond `limit_bytes` the entries written longest ago are removed until
  // three quarters of it are used; a program that is loaded from one or about to be keeps working.
  ProgramCache(std::string directory, std::string kind, std::string extension, base::FileSystem& files,
               std::uint64_t limit_bytes = default_cache_bytes)
      : directory_(std::move(directory)),
        kind_(std::move(kind)),
        extension_(std::move(extension)),
        files_(files),
        limit_bytes_(limit_bytes) {}

  // The sealed image of a program, verified; nothing when there is no entry or a broken one.
  std::optional<std::string> find(const std::string& key) const;
  // Publishes as a whole. The error of an unwritable cache is for a note: the image is good without it.
  base::Result<void> store(const std::string& key, const std::string& sealed_image) const;
  std::string path_of(const std::string& key) const;
  // Why nothing can be kept, by trying; nothing when it can.
  std::optional<base::Error> trouble() const;

 private:
  std::string folder() const;
  void trim() const;

  std::string directory_, kind_, extension_;
  base::FileSystem& files_;
  std::uint64_t limit_bytes_;
  mutable std::mutex mutex_;
  mutable std::uint64_t unchecked_bytes_ =
      ~std::uint64_t{0};  // stored since the folder was last measured; at first, unknown
};

// A shared object with its seal appended; the loader ignores bytes behind the sections.
std::string seal(const std::string& image);
// The image without its seal, which must be there.
std::string_view unsealed(std::string_view sealed_image);
// True when the image ends with the seal of the bytes before it.
bool is_sealed(const std::string& sealed_image);

}  // namespace hone::device
