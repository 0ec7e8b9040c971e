// The sections of a 64-bit ELF file in this machine's byte order, for what devices read from compiled programs. Reads bytes
// only; every offset is checked against the image before it is used, so any input is safe.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace hone::device {

struct ElfSection {
  std::string_view name;
  Elf64_Shdr header{};
  std::string_view bytes;  // empty for sections without content in the file
};

// The bytes [offset, offset + size) of an image, or nothing.
std::optional<std::string_view> elf_slice(std::string_view image, std::uint64_t offset, std::uint64_t size);

// Copies a record out of the image: its structures may stand at any alignment there.
template <class T>
std::optional<T> elf_record(std::string_view bytes, std::uint64_t offset) {
  const auto part = elf_slice(bytes, offset, sizeof(T));
  if (!part) return std::nullopt;
  T value;
  std::memcpy(&value, part->data(), sizeof value);
  return value;
}

// The zero-terminated text at `offset` of a string table.
std::optional<std::string_view> elf_text(std::string_view table, std::uint64_t offset);

// `expected` and `where` name the file in errors: "a shared object of this machine", its path. Views into `image`.
base::Result<std::vector<ElfSection>> read_elf_sections(std::string_view image, const std::string& expected,
                                                        const std::string& where);

// The error of an ELF file that is not what it should be; such files are cache entries, compiled again when deleted.
base::Error broken_elf(const std::string& expected, const std::string& found, const std::string& where);

}  // namespace hone::device
