// Dynamic symbols and relocations, every offset checked against the image before it is used.
#include "device/cpu/elf_image.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "device/elf_sections.hpp"

namespace hone::device::cpu {

namespace {

using Section = ElfSection;

struct Symbol {
  std::string_view name;
  Elf64_Sym entry{};
};

constexpr char expected_file[] = "a shared object of this machine";

class Reader {
 public:
  Reader(std::string_view image, std::string where) : image_(image), where_(std::move(where)) {}

  base::Result<ElfFacts> read() {
    HONE_TRY(sections, read_elf_sections(image_, expected_file, where_));
    sections_ = std::move(*sections);
    HONE_PROPAGATE(read_symbols());

    ElfFacts facts;
    std::string material;
    HONE_PROPAGATE(add_content(material, facts.code_bytes));
    HONE_PROPAGATE(add_references(material));
    facts.machine_code_hash = base::content_hash(material);
    for (const Symbol& symbol : symbols_) {
      const bool function = ELF64_ST_TYPE(symbol.entry.st_info) == STT_FUNC;
      const bool global = ELF64_ST_BIND(symbol.entry.st_info) != STB_LOCAL;
      if (function && global && symbol.entry.st_shndx != SHN_UNDEF) facts.functions.emplace_back(symbol.name);
    }
    std::sort(facts.functions.begin(), facts.functions.end());
    return facts;
  }

 private:
  base::Error broken(const std::string& found) const { return broken_elf(expected_file, found, where_); }

  base::Result<void> read_symbols() {
    const auto table = std::find_if(sections_.begin(), sections_.end(),
                                    [](const Section& section) { return section.header.sh_type == SHT_DYNSYM; });
    if (table == sections_.end()) return broken("no table of dynamic symbols");
    if (table->header.sh_link >= sections_.size()) return broken("dynamic symbols without names");
    const std::string_view names = sections_[table->header.sh_link].bytes;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->bytes.size(); at += sizeof(Elf64_Sym)) {
      const auto entry = elf_record<Elf64_Sym>(table->bytes, at);
      const auto name = elf_text(names, entry->st_name);
      if (!name) return broken("a symbol name beyond its table");
      symbols_.push_back({*name, *entry});
    }
    return {};
  }

  // Code, constants and initial data, each with its section's name, in the order of their addresses.
  base::Result<void> add_content(std::string& material, std::int64_t& code_bytes) {
    std::vector<const Section*> kept;
    for (const Section& section : sections_) {
      if (section.header.sh_type != SHT_PROGBITS || (section.header.sh_flags & SHF_ALLOC) == 0) continue;
      for (const char* prefix : {".text", ".rodata", ".data", ".tdata"}) {
        if (base::starts_with(section.name, prefix)) {
          kept.push_back(&section);
          break;
        }
      }
    }
    std::stable_sort(kept.begin(), kept.end(),
                     [](const Section* a, const Section* b) { return a->header.sh_addr < b->header.sh_addr; });
    std::uint64_t total = 0;
    for (const Section* section : kept) {
      total += section->bytes.size();
      // Real sections do not share bytes; without the bound a small file could claim terabytes.
      if (total > image_.size()) return broken("sections that overlap");
      material.append(section->name);
      add_number(material, section->bytes.size());
      material.append(section->bytes);
      if (base::starts_with(section->name, ".text")) {
        code_bytes += static_cast<std::int64_t>(section->bytes.size());
        if (!has_code_) base_address_ = section->header.sh_addr;
        has_code_ = true;
      }
    }
    if (!has_code_) return broken("no instructions");
    return {};
  }

  // What the code reaches through the loader. Calls look alike whoever is called, so the names of outside functions
  // belong to the program; addresses are taken relative to the code, which the length of symbol names can shift.
  base::Result<void> add_references(std::string& material) {
    std::vector<Elf64_Rela> relocations;
    for (const Section& section : sections_) {
      if (section.header.sh_type != SHT_RELA || (section.header.sh_flags & SHF_ALLOC) == 0) continue;
      for (std::uint64_t at = 0; at + sizeof(Elf64_Rela) <= section.bytes.size(); at += sizeof(Elf64_Rela)) {
        relocations.push_back(*elf_record<Elf64_Rela>(section.bytes, at));
      }
      if (relocations.size() > image_.size() / sizeof(Elf64_Rela)) return broken("relocations that overlap");
    }
    std::stable_sort(relocations.begin(), relocations.end(),
                     [](const Elf64_Rela& a, const Elf64_Rela& b) { return a.r_offset < b.r_offset; });
    std::uint64_t named_bytes = 0;
    for (const Elf64_Rela& relocation : relocations) {
      const std::uint64_t symbol = ELF64_R_SYM(relocation.r_info);
      add_number(material, ELF64_R_TYPE(relocation.r_info));
      add_number(material, relocation.r_offset - base_address_);
      if (symbol == 0) {
        add_number(material, static_cast<std::uint64_t>(relocation.r_addend) - base_address_);
        continue;
      }
      if (symbol >= symbols_.size()) return broken("a relocation against an unknown symbol");
      const Symbol& target = symbols_[symbol];
      add_number(material, static_cast<std::uint64_t>(relocation.r_addend));
      if (target.entry.st_shndx == SHN_UNDEF) {
        named_bytes += target.name.size();
        if (named_bytes > 64 * image_.size()) return broken("relocations that name one symbol again and again");
        material.append(target.name).push_back('\0');
      } else {
        add_number(material, target.entry.st_value - base_address_);
      }
    }
    return {};
  }

  static void add_number(std::string& material, std::uint64_t value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    material.append(bytes, sizeof bytes);
  }

  std::string_view image_;
  std::string where_;
  std::vector<Section> sections_;
  std::vector<Symbol> symbols_;
  std::uint64_t base_address_ = 0;
  bool has_code_ = false;
};

}  // namespace

base::Result<ElfFacts> read_elf(std::string_view image, const std::string& where) {
  return Reader(image, where).read();
}

}  // namespace hone::device::cpu
