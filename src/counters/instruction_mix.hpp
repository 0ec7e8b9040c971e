// What a kernel's machine code consists of, from its disassembly: a static count that needs no counters, no permission and no run.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.hpp"
#include "base/process.hpp"

namespace hone::counters {

// Instructions of one kernel by kind, as they stand in the code: a loop's body counts once.
struct InstructionMix {
  int total = 0;
  int floating_point = 0;  // FADD, FMUL, FFMA, H*2, D*
  int special = 0;         // MUFU: reciprocals, exponentials, roots
  int matrix = 0;          // HMMA, HGMMA, IMMA, QGMMA, UTC*MMA
  int integer = 0;         // integer and address arithmetic, conversions, moves, predicates
  int global_loads = 0, global_stores = 0, bulk_copies = 0;
  int widest_load_bytes = 0, narrowest_load_bytes = 0;  // of one thread's global load; 0: none
  int shared = 0, local = 0;                            // local: spills and arrays indexed at run time
  int barriers = 0, control = 0;
  // "412 instructions: 96 floating point, 4 special, 8 global loads of 16 bytes, ..."
  std::string text() const;
};

// From the output of `nvdisasm -c` or `cuobjdump -sass`, by kernel. Lines that are no instructions are passed over.
std::map<std::string, InstructionMix> read_disassembly(std::string_view text);

struct Disassembler {
  std::string path;
  bool cuobjdump = false;  // else nvdisasm
};
// nvdisasm, else cuobjdump: on PATH, then below $CUDA_HOME, $CUDA_PATH and /usr/local/cuda*, the newest first.
std::optional<Disassembler> find_disassembler(base::Processes& processes, base::FileSystem& files,
                                              const std::map<std::string, std::string>& environment);

// Disassembles a cubin, written to `file` for it and removed again. An error says what the program answered.
base::Result<std::map<std::string, InstructionMix>> instruction_mix(const Disassembler& tool, std::string_view cubin,
                                                                    const std::string& file, base::Processes& processes,
                                                                    base::FileSystem& files);

}  // namespace hone::counters
