// Keys, seals and the cache folder.
#include "device/cpu/program_cache.hpp"

#include <algorithm>

#include "base/hash.hpp"

namespace hone::device::cpu {

namespace {

constexpr char seal_mark[] = "hone-cpu-program/1 ";
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

std::string ProgramCache::path_of(const std::string& key) const {
  return base::join(base::join(directory_, "cpu"), key + ".so");
}

std::optional<std::string> ProgramCache::find(const std::string& key) const {
  if (directory_.empty() || !files_.exists(path_of(key))) return std::nullopt;
  auto image = files_.read(path_of(key));
  if (!image || !is_sealed(*image)) return std::nullopt;
  return std::move(*image);
}

base::Result<void> ProgramCache::store(const std::string& key, const std::string& sealed_image) const {
  if (directory_.empty()) return {};
  return files_.write_atomically(path_of(key), sealed_image);
}

}  // namespace hone::device::cpu
