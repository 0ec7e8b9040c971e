// A compiled CUDA program and its launches, made ready: entries resolved, attributes raised, arguments laid out.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/cuda/compiler.hpp"
#include "device/cuda/matrix_product.hpp"
#include "device/cuda/session.hpp"
#include "device/device.hpp"

namespace hone::device::cuda {

// What a kernel needs of the GPU, as the driver tells it once the kernel is loaded.
struct KernelFacts {
  Function function = nullptr;
  int max_threads = 0, registers = 0, static_shared_bytes = 0, local_bytes = 0;
};

class CudaProgram final : public Program {
 public:
  CudaProgram(std::shared_ptr<GpuSession> session, std::string name, CompiledCuda compiled)
      : session_(std::move(session)), name_(std::move(name)), compiled_(std::move(compiled)) {}
  CudaProgram(const CudaProgram&) = delete;
  CudaProgram& operator=(const CudaProgram&) = delete;
  ~CudaProgram() override;

  const ProgramInfo& info() const override { return compiled_.info; }
  EntryResources resources(const std::string& entry) const override;
  std::string machine_code() const override { return compiled_.native ? compiled_.image : ""; }
  const std::string& name() const { return name_; }
  const std::string& image() const { return compiled_.image; }
  bool native() const { return compiled_.native; }
  bool waits_itself() const { return compiled_.waits_itself; }
  const std::map<std::string, KernelResources>& kernels() const { return compiled_.kernels; }

  // Loads the program if need be. A missing entry is an error that names those present. Safe from several threads.
  base::Result<KernelFacts> entry(const std::string& name) const;
  // Dynamic shared memory above what a kernel gets unasked (48 KiB), and clusters above the portable 8 blocks.
  base::Result<void> raise_limits(const std::string& name, const KernelFacts& facts, std::size_t dynamic_shared_bytes,
                                  int cluster_size) const;

 private:
  std::shared_ptr<GpuSession> session_;
  std::string name_;
  CompiledCuda compiled_;
  mutable std::mutex mutex_;
  mutable Module module_ = nullptr;
  mutable std::map<std::string, KernelFacts> entries_;
  mutable std::map<std::string, std::size_t> raised_shared_;
};

// A launch with everything that the driver call takes.
struct PreparedLaunch {
  std::string entry, program;
  Function function = nullptr;
  std::array<unsigned, 3> grid = {}, block = {};
  unsigned dynamic_shared_bytes = 0;
  int cluster_size = 1;
  bool begins_early = false;
  std::vector<std::uint64_t> values;       // one slot an argument; the value stands at its start
  std::optional<PreparedProduct> product;  // then `entry` is its name, and the rest means nothing
};

// What is wrong with a launch whatever its code does; empty when nothing is. Loads no code.
base::Result<void> check_launches(const std::vector<Launch>& launches);
// Loads programs and chooses algorithms of matrix products where needed; launches of 0 programs fall away. The session must have
// been entered, and its stream be free.
base::Result<std::vector<PreparedLaunch>> prepare(GpuSession& session, const std::vector<Launch>& launches);
// Hands the launches to the stream and returns without waiting.
base::Result<void> enqueue(GpuSession& session, std::vector<PreparedLaunch>& launches);
// "'rms_norm_forward' of 'rms_norm forward'", the first of several, for messages.
std::string words_for(const std::vector<PreparedLaunch>& launches);

}  // namespace hone::device::cuda
