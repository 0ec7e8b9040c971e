// The state of cores and caches around a timed run: the clock of a core as it runs now, and caches emptied of a kernel's data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "device/cpu/cpu_memory.hpp"
#include "device/cpu/isolation.hpp"
#include "device/cpu/worker_pool.hpp"

namespace hone::device::cpu {

// Clock of the core this thread is on, from a chain of dependent additions (one each cycle on every known core) against the
// steady clock; takes about 20 us. 0 on processors where the chain is not written.
double measure_clock_mhz();

// Brings caches to the state "nothing of these regions inside".
class CacheFlush {
 public:
  // `reported_bytes`: of all last-level caches together, as the system says.
  explicit CacheFlush(std::int64_t reported_bytes) : reported_bytes_(reported_bytes), cache_bytes_(reported_bytes) {}
  void use_size(std::int64_t effective_bytes) {
    cache_bytes_ = effective_bytes > 0 ? effective_bytes : reported_bytes_;
  }

  // By flushing each line of the regions where the processor can and they might fit into the caches as reported or as
  // measured; otherwise by reading memory of 2.5 times the effective size. Lines that were written reach memory here, not in
  // the timed run.
  base::Result<void> flush(WorkerPool& pool, const std::vector<Region>& regions);

 private:
  base::Result<void> displace(WorkerPool& pool);

  std::int64_t reported_bytes_, cache_bytes_;
  Mapping displacing_;
};

}  // namespace hone::device::cpu
