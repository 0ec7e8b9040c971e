// Cached programs that were cut off, overwritten or made up: refused with an error that says what to do, or read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "device/cpu/elf_image.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto facts = hone::device::cpu::read_elf({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (facts) {
    if (facts->machine_code_hash.size() != 32 || facts->code_bytes < 0) std::abort();
  } else if (facts.error().found.empty() || facts.error().remedy.empty()) {
    std::abort();
  }
  return 0;
}
