// Header and section table of an ELF file.
#include "device/elf_sections.hpp"

#include <bit>

namespace hone::device {

namespace {
constexpr std::size_t longest_name = 4096;  // mangled template names are long, garbage is longer
}

base::Error broken_elf(const std::string& expected, const std::string& found, const std::string& where) {
  return {base::ErrorKind::preflight, expected, found, where, "delete the file; it is compiled again"};
}

std::optional<std::string_view> elf_slice(std::string_view image, std::uint64_t offset, std::uint64_t size) {
  if (offset > image.size() || size > image.size() - offset) return std::nullopt;
  return image.substr(offset, size);
}

std::optional<std::string_view> elf_text(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) return std::nullopt;
  const std::string_view rest = table.substr(offset, longest_name);
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  return rest.substr(0, end);
}

base::Result<std::vector<ElfSection>> read_elf_sections(std::string_view image, const std::string& expected,
                                                        const std::string& where) {
  const auto broken = [&](const std::string& found) { return broken_elf(expected, found, where); };
  const auto header = elf_record<Elf64_Ehdr>(image, 0);
  if (!header) return broken("a file of " + std::to_string(image.size()) + " bytes, shorter than an ELF header");
  constexpr unsigned char order = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  if (std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return broken("no ELF file");
  if (header->e_ident[EI_CLASS] != ELFCLASS64) return broken("an ELF file that is not 64-bit");
  if (header->e_ident[EI_DATA] != order) return broken("an ELF file of the other byte order");
  if (header->e_shentsize != sizeof(Elf64_Shdr)) return broken("an ELF file with section headers of unknown size");

  std::vector<ElfSection> sections;
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    if (header->e_shoff > image.size()) return broken("a section table beyond the end of the file");
    const auto each = elf_record<Elf64_Shdr>(image, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!each) return broken("a section table that is cut off");
    ElfSection section{{}, *each, {}};
    if (each->sh_type != SHT_NOBITS) {
      const auto bytes = elf_slice(image, each->sh_offset, each->sh_size);
      if (!bytes) return broken("section " + std::to_string(i) + " beyond the end of the file");
      section.bytes = *bytes;
    }
    sections.push_back(section);
  }
  if (header->e_shstrndx >= sections.size()) return broken("no table of section names");
  const std::string_view names = sections[header->e_shstrndx].bytes;
  for (ElfSection& section : sections) {
    const auto name = elf_text(names, section.header.sh_name);
    if (!name) return broken("a section name beyond its table");
    section.name = *name;
  }
  return sections;
}

}  // namespace hone::device
