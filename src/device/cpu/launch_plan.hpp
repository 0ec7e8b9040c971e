// Launches made ready and run: entries resolved, arguments laid out for the entry's ABI, programs split among workers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/cpu/cpu_memory.hpp"
#include "device/cpu/cpu_program.hpp"
#include "device/cpu/matrix_product.hpp"
#include "device/cpu/worker_pool.hpp"
#include "device/device.hpp"

namespace hone::device::cpu {

// Counts its bytes in the device's sum, which it shares: a buffer may outlive its device.
class CpuBuffer final : public Buffer {
 public:
  using Sum = std::shared_ptr<std::atomic<std::size_t>>;
  CpuBuffer(Mapping mapping, Sum allocated) : mapping_(std::move(mapping)), allocated_(std::move(allocated)) {
    *allocated_ += mapping_.bytes();
  }
  CpuBuffer(const CpuBuffer&) = delete;
  CpuBuffer& operator=(const CpuBuffer&) = delete;
  ~CpuBuffer() override { *allocated_ -= mapping_.bytes(); }
  std::size_t bytes() const override { return mapping_.bytes(); }
  const Mapping& mapping() const { return mapping_; }

 private:
  Mapping mapping_;
  Sum allocated_;
};

// The address of `bytes` bytes of a view, or the error that names buffer and view.
base::Result<std::byte*> resolve(const BufferView& view, std::size_t bytes);

// The programs [first, last) of one worker.
struct Share {
  std::int64_t first = 0, last = 0;
};
// Contiguous, in worker order, sizes differing by one at most. programs >= 0, 0 <= worker < workers.
Share share_of(std::int64_t programs, int worker, int workers);

struct PreparedLaunch {
  std::string entry_name, program_name;
  CpuProgram::Entry entry;
  std::int64_t programs = 0;
  int workers = 0;
  std::vector<std::uint64_t> values;       // one slot an argument; the value stands at its start
  std::vector<void*> pointers;             // to the slots
  std::optional<PreparedProduct> product;  // instead of an entry
};

constexpr int most_workers = 4096;

// What is wrong with a launch whatever its code does; empty when nothing is. Loads no code but the library of a matrix product.
base::Result<void> check_launches(const std::vector<Launch>& launches);
// Loads programs where needed. `cores`: workers of a launch that leaves the choice to the device.
base::Result<std::vector<PreparedLaunch>> prepare(const std::vector<Launch>& launches, int cores);
int workers_of(const std::vector<PreparedLaunch>& launches);

struct BatchTimes {
  std::int64_t device_ns = 0, wall_ns = 0;
};

// Runs prepared launches on a pool, in order. `workspaces` grows to what the entries ask for and is kept for the next call.
// With `guarded`, a fault of an entry ends the batch with an error; otherwise it ends the process.
base::Result<BatchTimes> run_batch(WorkerPool& pool, std::vector<PreparedLaunch>& launches,
                                   std::vector<Mapping>& workspaces, bool guarded);
// What must be there before the batch: threads and workspaces. run_batch does it too; done before, it is not timed.
base::Result<void> reserve_for(WorkerPool& pool, std::vector<PreparedLaunch>& launches,
                               std::vector<Mapping>& workspaces, bool guarded);

}  // namespace hone::device::cpu
