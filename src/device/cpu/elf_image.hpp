// What a compiled program's shared object says of itself: its machine code as a hash, and the functions it offers.
// Reads bytes only, loads nothing; any input is safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace hone::device::cpu {

struct ElfFacts {
  // Of the instructions, the constants and initial data they refer to, and the names of outside functions they call.
  // Free of build ids, paths, timestamps and the names of the program's own symbols: two settings which compile to the
  // same code have equal hashes.
  std::string machine_code_hash;
  std::int64_t code_bytes = 0;         // of all instructions
  std::vector<std::string> functions;  // defined and visible from outside, sorted
};

// `image`: a 64-bit ELF shared object of this machine's byte order. `where` names it in errors.
base::Result<ElfFacts> read_elf(std::string_view image, const std::string& where);

}  // namespace hone::device::cpu
