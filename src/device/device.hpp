// What runs kernels: compile, allocate, launch, time, ceilings. cpu/ and cuda/ implement it; nobody else includes them
// but cli, which chooses one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "kernels/catalog/plan.hpp"
#include "model/counters.hpp"
#include "model/device_info.hpp"
#include "model/timing.hpp"

namespace hone::device {

// A translation unit for the device's compiler: texts by path, the one that is compiled, and its defines.
struct ProgramSource {
  std::string name;                                          // for messages: "rms_norm forward"
  std::vector<std::pair<std::string, std::string>> files;    // path as included -> text
  std::string main_file;                                     // a path of `files`
  std::vector<std::pair<std::string, std::string>> defines;  // the settings, dtype and options as constants
  bool toolkit_headers = false;  // it includes <cuda_fp16.h> and the like: CUDA alone, from the toolkit
};

// What the compiler made of it. -1 where a device has no such thing.
struct ProgramInfo {
  std::string machine_code_hash;  // of the instructions alone: equal hashes are the same program
  std::int64_t code_bytes = 0;
  int registers_per_thread = -1, spill_bytes = -1, static_shared_bytes = -1;
  bool from_cache = false;
  std::string compiler, flags;
};

// What one entry of a program needs of a multiprocessor. -1 where it is not known.
struct EntryResources {
  int registers_per_thread = -1, spill_bytes = -1, static_shared_bytes = -1;
};

// A compiled program, loaded. Holds its entries for as long as it lives.
class Program {
 public:
  virtual ~Program() = default;
  virtual const ProgramInfo& info() const = 0;
  // Of one entry; where a device does not tell entries apart, of the one that needs most.
  virtual EntryResources resources(const std::string& entry) const {
    (void)entry;
    return {info().registers_per_thread, info().spill_bytes, info().static_shared_bytes};
  }
  // The binary for a disassembler; empty where there is none to give.
  virtual std::string machine_code() const { return ""; }
};

// Device memory. Move-only by unique_ptr; freed with it.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual std::size_t bytes() const = 0;
};

struct BufferView {
  Buffer* buffer = nullptr;
  std::size_t offset_bytes = 0;
};
using Argument = kernels::BasicArgument<BufferView>;
using MatrixProduct = kernels::BasicMatrixProduct<BufferView>;
using kernels::DType;

// A launch of a plan, bound to a compiled program and to memory.
struct Launch : kernels::BasicLaunch<BufferView> {
  const Program* program = nullptr;  // none for a matrix product
  // CUDA, compute capability 9.0 and later: it may begin before the launch ahead of it in the same list has ended, because its
  // program waits for that one itself (griddepcontrol.wait) before it reads or writes memory. Without effect elsewhere.
  bool begins_early = false;
};

struct TimingConditions {
  bool cold_cache = true;  // flush the last-level cache before each run, outside the timed interval
};

struct CeilingOptions {
  bool quick = false;                       // fewer samples of the same protocol
  const std::atomic<bool>* stop = nullptr;  // once true, no further sample is taken

  bool stopped() const { return stop != nullptr && stop->load(); }
};

// The launches of a ceiling's program, and the bytes or operations of one run of them.
struct CeilingRun {
  std::vector<Launch> launches;
  double amount = 0;
};

// The programs behind the ceilings in the shapes that were fastest, with buffers of their own: what runs beside a kernel to tell
// how fast the device is at that moment. The device outlives them.
class CeilingPrograms {
 public:
  virtual ~CeilingPrograms() = default;
  // The program of a bandwidth or of fma_flops_per_s, of the size at which the ceiling is measured: another size or mix would
  // have other fixed costs. Without launches where there is none.
  virtual CeilingRun run_of(const std::string& ceiling) const = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  // Without ceilings, but for the effective size of the last-level cache once use_cache_size has told it.
  virtual const model::DeviceInfo& info() const = 0;
  virtual base::Result<model::Ceilings> ceilings(const CeilingOptions& options) = 0;
  // Names the text of the programs of ceilings(): those measured with another text are other ceilings.
  virtual std::string ceiling_program_version() const { return ""; }
  // `ceilings`: of this device, whose programs' shapes are taken. Null where a device has none.
  virtual base::Result<std::unique_ptr<CeilingPrograms>> ceiling_programs(const model::Ceilings& ceilings) {
    (void)ceilings;
    return std::unique_ptr<CeilingPrograms>();
  }
  // The effective size of the last-level cache, by the read bandwidth over the size of the working set (cache_knee.hpp);
  // 0 where the curve has no knee. Takes one to two seconds where the system reports hundreds of MiB.
  virtual base::Result<std::int64_t> measure_cache_size(const CeilingOptions& options) {
    (void)options;
    return std::int64_t{0};
  }
  // From then on info().last_level_cache_bytes() is `bytes`, and caches are emptied by that size. 0: as the system reports.
  virtual void use_cache_size(std::int64_t bytes) { (void)bytes; }

  // Compiles, or loads from the cache: the key is the content of the source, defines, compiler and flags.
  // An error carries the compiler's first messages.
  virtual base::Result<std::shared_ptr<Program>> compile(const ProgramSource& source) = 0;

  virtual base::Result<std::unique_ptr<Buffer>> allocate(
      std::size_t bytes) = 0;  // names need and free bytes when it fails
  virtual base::Result<void> upload(BufferView to, const void* from, std::size_t bytes) = 0;
  virtual base::Result<void> download(void* to, BufferView from, std::size_t bytes) = 0;
  virtual base::Result<void> copy(BufferView to, BufferView from, std::size_t bytes) = 0;
  virtual base::Result<void> fill(BufferView to, std::uint8_t byte, std::size_t bytes) = 0;

  // Runs the launches in order and waits for them. A fault of the kernel is an error of this call.
  virtual base::Result<void> run(const std::vector<Launch>& launches) = 0;

  // As run, for code that nobody has tried yet: where the device can isolate it, a crash, an exit or no end within deadline_ns
  // is an error of kind gate, and neither the process nor the buffers are harmed. Here: as run.
  virtual base::Result<void> try_run(const std::vector<Launch>& launches, std::int64_t deadline_ns) {
    (void)deadline_ns;
    return run(launches);
  }

  // Runs the launches once and times them as one pass: device time, wall time, clock around it.
  virtual base::Result<model::Sample> time(const std::vector<Launch>& launches, const TimingConditions& conditions) = 0;

  // Bytes this device object has handed out and not got back.
  virtual std::size_t allocated_bytes() const = 0;

  // Hardware counters of one run of the launches, as (name, value); empty with `reason` set where the system has none.
  virtual std::vector<std::pair<std::string, double>> count_events(const std::vector<Launch>& launches,
                                                                   std::string& reason) = 0;
};

}  // namespace hone::device
