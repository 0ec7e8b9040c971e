// What a CUDA binary says of itself: its machine code as a hash, its kernels and their registers. Reads bytes only, loads
// nothing, needs no driver; any input is safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace hone::device::cuda {

struct CubinFacts {
  // Of the instructions and the constants they load, in the order of their sections' names. Free of debug information and of
  // notes of the compiler: two settings that compile to the same code have equal hashes.
  std::string machine_code_hash;
  std::int64_t code_bytes = 0;           // of all instructions
  std::map<std::string, int> registers;  // by kernel: of one thread; -1 where the binary does not tell
};

// `where` names the binary in errors.
base::Result<CubinFacts> read_cubin(std::string_view image, const std::string& where);

// What the assembler reported of one kernel.
struct KernelResources {
  int registers = -1;
  int stack_bytes = -1, spill_store_bytes = -1, spill_load_bytes = -1;
  int static_shared_bytes = 0;
  int spill_bytes() const { return spill_store_bytes > spill_load_bytes ? spill_store_bytes : spill_load_bytes; }
};

// From the log of a verbose compilation, by kernel: "Function properties for NAME", "... bytes spill stores", "Used N registers".
std::map<std::string, KernelResources> read_assembler_log(std::string_view log);

}  // namespace hone::device::cuda
