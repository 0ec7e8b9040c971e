// Compiled programs by content. An entry is a shared object with a seal at its end; one whose seal does not fit its bytes
// (cut off, changed, of another version) is no entry.
#pragma once

#include <optional>
#include <string>

#include "base/files.hpp"
#include "base/result.hpp"
#include "device/device.hpp"

namespace hone::device::cpu {

// The name of what compiling gives: texts, defines, compiler, flags, and the processor, as -march=native depends on it.
std::string cache_key(const ProgramSource& source, const std::string& compiler_identity, const std::string& flags,
                      const std::string& processor_identity);

class ProgramCache {
 public:
  // An empty directory: nothing is found, nothing kept.
  ProgramCache(std::string directory, base::FileSystem& files) : directory_(std::move(directory)), files_(files) {}

  // The sealed image of a program, verified; nothing when there is no entry or a broken one.
  std::optional<std::string> find(const std::string& key) const;
  // Publishes as a whole. The error of an unwritable cache is for a note: the image is good without it.
  base::Result<void> store(const std::string& key, const std::string& sealed_image) const;
  std::string path_of(const std::string& key) const;

 private:
  std::string directory_;
  base::FileSystem& files_;
};

// A shared object with its seal appended; the loader ignores bytes behind the sections.
std::string seal(const std::string& image);
// True when the image ends with the seal of the bytes before it.
bool is_sealed(const std::string& sealed_image);

}  // namespace hone::device::cpu
