// Sections of a cubin: .text.KERNEL holds instructions, .nv.info its attributes as records of (format, attribute, size, data),
// where attribute 0x2f is (symbol index, registers); .nv.constant2 to 4 are constants, .nv.global.init
// its initialized variables. (Layout as described by the CUDA Binary Utilities and as written by CUDA 12 and 13.)
#include "device/cuda/cubin.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "device/elf_sections.hpp"

namespace hone::device::cuda {

namespace {

constexpr char expected_file[] = "a CUDA binary";
constexpr std::uint16_t machine_cuda = 190;  // EM_CUDA
constexpr std::string_view code_prefix = ".text.";
constexpr unsigned char format_sized = 0x04, attribute_registers = 0x2f;

bool is_machine_code(std::string_view name) {
  return base::starts_with(name, code_prefix) || base::starts_with(name, ".nv.constant2") ||
         base::starts_with(name, ".nv.constant3") || base::starts_with(name, ".nv.constant4") ||
         base::starts_with(name, ".nv.global.init");
}

// Registers by symbol index, from the records of the section .nv.info.
std::map<std::uint32_t, int> registers_by_symbol(std::string_view records) {
  std::map<std::uint32_t, int> found;
  std::size_t at = 0;
  while (at + 4 <= records.size()) {
    const auto format = static_cast<unsigned char>(records[at]),
               attribute = static_cast<unsigned char>(records[at + 1]);
    std::size_t step = 4;  // formats 1 to 3 hold their value in these four bytes
    if (format == format_sized) {
      step += *elf_record<std::uint16_t>(records, at + 2);
      const auto symbol = elf_record<std::uint32_t>(records, at + 4),
                 value = elf_record<std::uint32_t>(records, at + 8);
      if (attribute == attribute_registers && step >= 12 && symbol && value)
        found[*symbol] = static_cast<int>(*value & 0xffffU);
    }
    at += step;
  }
  return found;
}

}  // namespace

base::Result<CubinFacts> read_cubin(std::string_view image, const std::string& where) {
  HONE_TRY(sections, read_elf_sections(image, expected_file, where));
  if (elf_record<Elf64_Ehdr>(image, 0)->e_machine != machine_cuda)
    return broken_elf(expected_file, "an ELF file of another machine", where);

  CubinFacts facts;
  std::vector<const ElfSection*> code;
  std::string_view records;
  std::map<std::string, std::uint32_t> symbols;
  for (const ElfSection& section : *sections) {
    if (section.header.sh_type == SHT_PROGBITS && is_machine_code(section.name)) code.push_back(&section);
    if (section.name == ".nv.info") records = section.bytes;
    if (section.header.sh_type != SHT_SYMTAB || section.header.sh_link >= sections->size()) continue;
    const std::string_view names = (*sections)[section.header.sh_link].bytes;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.bytes.size(); at += sizeof(Elf64_Sym)) {
      const auto symbol = *elf_record<Elf64_Sym>(section.bytes, at);
      const auto name = elf_text(names, symbol.st_name);
      if (!name) return broken_elf(expected_file, "a symbol name beyond its table", where);
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC)
        symbols[std::string(*name)] = static_cast<std::uint32_t>(at / sizeof(Elf64_Sym));
    }
  }
  std::stable_sort(code.begin(), code.end(),
                   [](const ElfSection* a, const ElfSection* b) { return a->name < b->name; });
  const std::map<std::uint32_t, int> registers = registers_by_symbol(records);
  std::string material;
  for (const ElfSection* section : code) {
    // Real sections do not share bytes; without the bound a small file could claim terabytes.
    if (material.size() + section->bytes.size() > 2 * image.size() + 4096)
      return broken_elf(expected_file, "sections that overlap", where);
    material.append(section->name)
        .append(1, '\0')
        .append(std::to_string(section->bytes.size()))
        .append(1, '\0')
        .append(section->bytes);
    if (!base::starts_with(section->name, code_prefix)) continue;
    facts.code_bytes += static_cast<std::int64_t>(section->bytes.size());
    const std::string kernel(section->name.substr(code_prefix.size()));
    const auto symbol = symbols.find(kernel);
    const auto count = symbol == symbols.end() ? registers.end() : registers.find(symbol->second);
    facts.registers[kernel] = count == registers.end() ? -1 : count->second;
  }
  if (facts.registers.empty()) return broken_elf(expected_file, "no instructions", where);
  facts.machine_code_hash = base::content_hash(material);
  return facts;
}

std::map<std::string, KernelResources> read_assembler_log(std::string_view log) {
  // The number that stands before `words` in a line, -1 where they do not stand there.
  const auto number_before = [](const std::string& line, std::string_view words) {
    const std::size_t end = line.find(words);
    if (end == std::string::npos) return -1;
    std::size_t begin = end;
    while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
    return begin == end || end - begin > 9 ? -1 : std::atoi(line.substr(begin, end - begin).c_str());
  };
  std::map<std::string, KernelResources> found;
  std::string entry, function;
  for (const std::string& line : base::split(log, '\n')) {
    constexpr std::string_view compiling = "Compiling entry function '", properties = "Function properties for ";
    if (const std::size_t at = line.find(compiling); at != std::string::npos) {
      const std::size_t begin = at + compiling.size();
      entry = line.substr(begin, line.find('\'', begin) - begin);
      found[entry];
    } else if (const std::size_t named = line.find(properties); named != std::string::npos) {
      function = base::trim(line.substr(named + properties.size()));
    } else if (const int stores = number_before(line, " bytes spill stores"); stores >= 0) {
      if (!found.count(function)) continue;  // a function that is called, not launched
      KernelResources& kernel = found[function];
      kernel.stack_bytes = number_before(line, " bytes stack frame");
      kernel.spill_store_bytes = stores;
      kernel.spill_load_bytes = number_before(line, " bytes spill loads");
    } else if (const int registers = number_before(line, " registers"); registers >= 0 && !entry.empty()) {
      found[entry].registers = registers;
      found[entry].static_shared_bytes = std::max(0, number_before(line, " bytes smem"));
    }
  }
  return found;
}

}  // namespace hone::device::cuda
