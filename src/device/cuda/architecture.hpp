// GPU architectures by compute capability: their names, and what NVRTC is told to build for.
#pragma once

#include <string>
#include <vector>

namespace hone::device::cuda {

struct Capability {
  int major = 0, minor = 0;
  std::string text() const;  // "9.0"
};

// "volta", "turing", "ampere", "ada", "hopper", "blackwell"; one that is not known is named honestly: "newer than this version knows
// (13.0)", "older than CUDA 12 runs (6.1)".
std::string architecture_name(const Capability& capability);

// What a kernel is compiled to for one GPU. `native`: machine code of exactly that GPU; otherwise the newest that the compiler
// knows below it, as PTX, which the driver translates when it loads it.
struct CompileTarget {
  std::string option;  // "sm_90a", "compute_121"
  bool native = true;
  int number = 0;  // 90, 121: what the text sees, whatever GPU runs it
};

// `supported`: what the compiler builds for, as 10 * major + minor ("90"), ascending. From 9.0 on the architecture-specific
// variant is taken ("sm_90a"): only it has all instructions of the chip. Empty option: the compiler knows nothing this GPU
// can run.
CompileTarget compile_target(const Capability& capability, const std::vector<int>& supported);

}  // namespace hone::device::cuda
