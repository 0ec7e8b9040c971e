// SASS by its opcodes. Names as in the CUDA Binary Utilities' instruction set reference for Volta to Blackwell.
#include "counters/instruction_mix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "base/text.hpp"

namespace hone::counters {

namespace {

constexpr std::int64_t kDisassemblyDeadlineMs = 60'000;

bool any_prefix(std::string_view opcode, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return base::starts_with(opcode, prefix); });
}

// Bytes that one thread moves: LDG.E.128 is 16, LDG.E.U16 is 2, without a suffix 4.
int width_of(std::string_view opcode) {
  for (const auto& [suffix, bytes] :
       {std::pair{".128", 16}, {".64", 8}, {".U16", 2}, {".S16", 2}, {".U8", 1}, {".S8", 1}, {".256", 32}})
    if (opcode.find(suffix) != std::string_view::npos) return bytes;
  return 4;
}

void count(std::string_view opcode, InstructionMix& mix) {
  if (any_prefix(opcode, {"NOP"})) return;  // padding behind the end
  ++mix.total;
  if (any_prefix(opcode,
                 {"BAR", "SYNCS", "MEMBAR", "DEPBAR", "LDGDEPBAR", "WARPSYNC", "UCGABAR", "ERRBAR", "FENCE", "CCTL"})) {
    ++mix.barriers;
  } else if (any_prefix(opcode, {"UBLKCP", "UTMALDG", "UTMASTG", "UBLKRED", "LDGSTS", "UTMAREDG"})) {
    ++mix.bulk_copies;
  } else if (any_prefix(opcode, {"LDG", "LD."}) || opcode == "LD") {
    ++mix.global_loads;
    const int bytes = width_of(opcode);
    mix.widest_load_bytes = std::max(mix.widest_load_bytes, bytes);
    mix.narrowest_load_bytes = mix.narrowest_load_bytes == 0 ? bytes : std::min(mix.narrowest_load_bytes, bytes);
  } else if (any_prefix(opcode, {"STG", "ST.", "RED", "ATOMG", "ATOM."}) || opcode == "ST") {
    ++mix.global_stores;
  } else if (any_prefix(opcode, {"LDL", "STL"})) {
    ++mix.local;
  } else if (any_prefix(opcode, {"LDS", "STS", "ATOMS", "STSM"})) {
    ++mix.shared;
  } else if (any_prefix(opcode, {"HMMA", "HGMMA", "IMMA", "IGMMA", "QGMMA", "QMMA", "DMMA", "UTCHMMA", "UTCQMMA",
                                 "UTCIMMA", "WARPGROUP"})) {
    ++mix.matrix;
  } else if (any_prefix(opcode, {"MUFU"})) {
    ++mix.special;
  } else if (any_prefix(opcode, {"FADD", "FMUL", "FFMA", "FMNMX", "FSETP", "FSEL", "FSET", "FCHK", "FSWZADD", "HADD2",
                                 "HMUL2", "HFMA2", "HMNMX2", "HSETP2", "DADD", "DMUL", "DFMA", "DSETP"})) {
    ++mix.floating_point;
  } else if (any_prefix(opcode, {"BRA", "BRX", "EXIT", "RET", "CALL", "BSSY", "BSYNC", "BREAK", "YIELD", "NANOSLEEP",
                                 "JMP", "BRXU"})) {
    ++mix.control;
  } else {
    ++mix.integer;
  }
}

// The opcode of a line "/*0010*/ @!P0 LDG.E.128 R4, [R2] ;", or nothing.
std::string opcode_of(const std::string& line) {
  const std::size_t open = line.find("/*");
  if (open == std::string::npos) return "";
  const std::size_t close = line.find("*/", open);
  if (close == std::string::npos || close - open < 4) return "";
  for (std::size_t i = open + 2; i < close; ++i)
    if (std::isxdigit(static_cast<unsigned char>(line[i])) == 0) return "";
  std::string rest = base::trim(line.substr(close + 2));
  if (!rest.empty() && rest.front() == '{') rest = base::trim(rest.substr(1));
  if (!rest.empty() && rest.front() == '@') {
    const std::size_t space = rest.find(' ');
    if (space == std::string::npos) return "";
    rest = base::trim(rest.substr(space));
  }
  std::size_t end = 0;
  while (end < rest.size() &&
         (std::isalnum(static_cast<unsigned char>(rest[end])) != 0 || rest[end] == '.' || rest[end] == '_'))
    ++end;
  const bool named = end > 0 && std::isupper(static_cast<unsigned char>(rest.front())) != 0;
  return named && rest.find(';') != std::string::npos ? rest.substr(0, end) : "";
}

std::vector<std::string> toolkit_folders(base::FileSystem& files,
                                         const std::map<std::string, std::string>& environment) {
  std::vector<std::string> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const auto found = environment.find(variable);
    if (found != environment.end() && !found->second.empty()) folders.push_back(base::join(found->second, "bin"));
  }
  if (auto names = files.list("/usr/local"))
    for (auto name = names->rbegin(); name != names->rend(); ++name)
      if (base::starts_with(*name, "cuda")) folders.push_back("/usr/local/" + *name + "/bin");
  return folders;
}

}  // namespace

std::string InstructionMix::text() const {
  std::string text = fmt::format("{} instructions", total);
  std::string parts;
  const auto add = [&parts](int number, const std::string& words) {
    if (number > 0) parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", number, words);
  };
  add(floating_point, "floating point");
  add(special, "special functions");
  add(matrix, "matrix");
  add(integer, "integer and moves");
  add(global_loads, narrowest_load_bytes == widest_load_bytes
                        ? fmt::format("global loads of {} bytes", widest_load_bytes)
                        : fmt::format("global loads of {} to {} bytes", narrowest_load_bytes, widest_load_bytes));
  add(global_stores, "global stores");
  add(bulk_copies, "bulk copies");
  add(shared, "shared memory");
  add(local, "local memory");
  add(barriers, "barriers and fences");
  add(control, "control");
  return parts.empty() ? text : text + ": " + parts;
}

std::map<std::string, InstructionMix> read_disassembly(std::string_view text) {
  std::map<std::string, InstructionMix> mixes;
  std::string kernel;
  for (const std::string& line : base::split(text, '\n')) {
    // nvdisasm: ".section .text.NAME,..." or "//---- .text.NAME ----"; cuobjdump: "Function : NAME".
    if (const std::size_t at = line.find("Function : "); at != std::string::npos)
      kernel = base::trim(line.substr(at + 11));
    if (const std::size_t at = line.find(".text.");
        at != std::string::npos && line.find(".section") != std::string::npos) {
      std::size_t end = at + 6;
      while (end < line.size() && line[end] != ',' && line[end] != '"' &&
             std::isspace(static_cast<unsigned char>(line[end])) == 0)
        ++end;
      kernel = line.substr(at + 6, end - at - 6);
    }
    if (kernel.empty()) continue;
    const std::string opcode = opcode_of(line);
    if (!opcode.empty()) count(opcode, mixes[kernel]);
  }
  return mixes;
}

std::optional<Disassembler> find_disassembler(base::Processes& processes, base::FileSystem& files,
                                              const std::map<std::string, std::string>& environment) {
  const std::vector<std::string> folders = toolkit_folders(files, environment);
  for (const char* name : {"nvdisasm", "cuobjdump"}) {
    const bool cuobjdump = std::string(name) == "cuobjdump";
    if (const auto found = processes.find(name)) return Disassembler{*found, cuobjdump};
    for (const std::string& folder : folders)
      if (const std::string path = base::join(folder, name); files.exists(path)) return Disassembler{path, cuobjdump};
  }
  return std::nullopt;
}

base::Result<std::map<std::string, InstructionMix>> instruction_mix(const Disassembler& tool, std::string_view cubin,
                                                                    const std::string& file, base::Processes& processes,
                                                                    base::FileSystem& files) {
  HONE_PROPAGATE(files.write_atomically(file, std::string(cubin)));
  base::Command command;
  command.arguments = {tool.path, tool.cuobjdump ? "-sass" : "-c", file};
  command.deadline_ms = kDisassemblyDeadlineMs;
  command.output_limit_bytes = 64U << 20;
  auto outcome = processes.run(command);
  const auto removed = files.remove(file);
  if (!outcome) return outcome.error();
  if (!removed) return removed.error();
  const std::string words = base::trim(outcome->error.substr(0, 300));
  auto mixes = read_disassembly(outcome->output);
  if (outcome->exit_status != 0 || mixes.empty())
    return base::Error{base::ErrorKind::preflight, "a disassembly of the kernel",
                       outcome->exit_status != 0 ? fmt::format("exit status {}: {}", outcome->exit_status, words)
                                                 : "no instruction in its output",
                       tool.path, "use a disassembler as new as the compiler of the kernel"};
  return mixes;
}

}  // namespace hone::counters
