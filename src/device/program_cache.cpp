// Keys, seals and the cache folder.
#include "device/program_cache.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <vector>

#include "base/hash.hpp"

namespace hone::device {

namespace {

constexpr char seal_mark[] = "hone-program/1 ";
constexpr std::size_t mark_bytes = sizeof seal_mark - 1;
constexpr std::size_t seal_bytes = mark_bytes + 32 + 1;  // mark, 128-bit hash in hex, newline

// Length-prefixed, so that no two different lists of texts give the same material.
void add(std::string& material, const std::string& text) {
  material += std::to_string(text.size());
  material += ':';
  material += text;
}

}  // namespace

std::string cache_key(const ProgramSource& source, const std::string& compiler_identity, const std::string& flags,
                      const std::string& processor_identity) {
  std::string material;
  add(material, seal_mark);
  add(material, compiler_identity);
  add(material, flags);
  add(material, processor_identity);
  add(material, source.main_file);
  auto files = source.files;
  std::sort(files.begin(), files.end());
  for (const auto& [path, text] : files) {
    add(material, path);
    add(material, text);
  }
  add(material, "defines");
  for (const auto& [name, value] : source.defines) {
    add(material, name);
    add(material, value);
  }
  return base::content_hash(material);
}

std::string seal(const std::string& image) { return image + seal_mark + base::content_hash(image) + '\n'; }

bool is_sealed(const std::string& sealed_image) {
  if (sealed_image.size() < seal_bytes) return false;
  const std::size_t at = sealed_image.size() - seal_bytes;
  if (sealed_image.compare(at, mark_bytes, seal_mark) != 0 || sealed_image.back() != '\n') return false;
  return sealed_image.compare(at + mark_bytes, 32, base::content_hash(std::string_view(sealed_image).substr(0, at))) ==
         0;
}

std::string_view unsealed(std::string_view sealed_image) {
  return sealed_image.substr(0, sealed_image.size() < seal_bytes ? 0 : sealed_image.size() - seal_bytes);
}

std::string ProgramCache::folder() const { return base::join(directory_, kind_); }
std::string ProgramCache::path_of(const std::string& key) const { return base::join(folder(), key + extension_); }

std::optional<std::string> ProgramCache::find(const std::string& key) const {
  if (directory_.empty() || !files_.exists(path_of(key))) return std::nullopt;
  auto image = files_.read(path_of(key));
  if (!image || !is_sealed(*image)) return std::nullopt;
  return std::move(*image);
}

base::Result<void> ProgramCache::store(const std::string& key, const std::string& sealed_image) const {
  if (directory_.empty()) return {};
  if (auto written = files_.write_atomically(path_of(key), sealed_image); !written) return written;
  const std::lock_guard<std::mutex> lock(mutex_);
  const bool measured = unchecked_bytes_ != ~std::uint64_t{0};
  if (measured) unchecked_bytes_ += sealed_image.size();
  if (!measured || unchecked_bytes_ > limit_bytes_ / 8) trim();
  return {};
}

// What can not be listed or removed stays: another process may be doing the same.
void ProgramCache::trim() const {
  unchecked_bytes_ = 0;
  // Sizes and times are the disk's own affair: the port for files has neither.
  std::error_code failed;
  std::filesystem::directory_iterator entry(folder(), failed);
  if (failed) return;
  std::vector<std::tuple<std::filesystem::file_time_type, std::uint64_t, std::string>> entries;
  std::uint64_t total = 0;
  for (; entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
    if (failed) return;
    if (entry->path().extension() != extension_) continue;
    std::error_code gone_time, gone_size;
    const auto modified = entry->last_write_time(gone_time);
    const std::uint64_t bytes = entry->file_size(gone_size);
    if (gone_time || gone_size) continue;
    entries.emplace_back(modified, bytes, entry->path().string());
    total += bytes;
  }
  if (total <= limit_bytes_) return;
  std::sort(entries.begin(), entries.end());
  for (const auto& [modified, bytes, path] : entries) {
    if (total <= limit_bytes_ / 4 * 3) return;
    if (files_.remove(path).ok()) total -= bytes;
  }
}

std::optional<base::Error> ProgramCache::trouble() const {
  if (directory_.empty())
    return base::Error{base::ErrorKind::preflight, "a folder for compiled programs",
                       "none: neither HONE_CACHE_DIR nor HOME is set", "", "set HONE_CACHE_DIR"};
  const std::string probe = base::join(folder(), "write_check");
  HONE_PROPAGATE(files_.write_atomically(probe, "hone checks that this folder can be written\n"));
  HONE_PROPAGATE(files_.remove(probe));
  return std::nullopt;
}

}  // namespace hone::device
