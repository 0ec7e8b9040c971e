// Cache control and cycle counting, the only code here that knows an instruction set.
#include "device/cpu/core_meter.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#include "device/cpu/launch_plan.hpp"

namespace hone::device::cpu {

namespace {

constexpr std::size_t line = 64;

// 4096 dependent additions of registers. An addition of a constant would not do: recent cores fold those.
#if defined(__x86_64__)
constexpr bool has_chain = true;
void addition_chain() {
  std::uint64_t value = 1;
  const std::uint64_t step = 3;
  for (int i = 0; i < 64; ++i) {
    asm volatile(".rept 64\n\tadd %1, %0\n\t.endr" : "+r"(value) : "r"(step));
  }
}
#elif defined(__aarch64__)
constexpr bool has_chain = true;
void addition_chain() {
  std::uint64_t value = 1;
  const std::uint64_t step = 3;
  for (int i = 0; i < 64; ++i) {
    asm volatile(".rept 64\n\tadd %0, %0, %1\n\t.endr" : "+r"(value) : "r"(step));
  }
}
#else
constexpr bool has_chain = false;
void addition_chain() {}
#endif
constexpr double chain_cycles = 4096;

#if defined(__x86_64__)
bool has_clflushopt() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & (1u << 23)) != 0;
}

__attribute__((target("clflushopt"))) void flush_lines(const std::byte* from, const std::byte* to) {
  for (const std::byte* at = from; at < to; at += line) _mm_clflushopt(const_cast<std::byte*>(at));
  _mm_sfence();
}
#else
bool has_clflushopt() { return false; }
void flush_lines(const std::byte*, const std::byte*) {}
#endif

}  // namespace

double measure_clock_mhz() {
  if (!has_chain) return 0;
  // The shortest of a few: an interrupt only ever makes one longer.
  double shortest_ns = 1e18;
  for (int i = 0; i < 6; ++i) {
    const auto start = std::chrono::steady_clock::now();
    addition_chain();
    addition_chain();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    shortest_ns = std::min(shortest_ns, took.count());
  }
  return shortest_ns > 0 ? 2 * chain_cycles / shortest_ns * 1e3 : 0;
}

base::Result<void> CacheFlush::flush(WorkerPool& pool, const std::vector<Region>& regions) {
  static const bool by_line = has_clflushopt();
  const int workers = pool.cores();
  if (auto threads = pool.reserve(workers); !threads) return threads;
  std::size_t total = 0;
  for (const Region& region : regions) total += region.bytes;
  if (!by_line || static_cast<double>(total) > 2.5 * static_cast<double>(std::max(reported_bytes_, cache_bytes_)))
    return displace(pool);
  const WorkerPool::PinnedCaller pinned(pool);
  pool.execute(workers, [&regions, workers](int worker) {
    for (const Region& region : regions) {
      const auto lines = static_cast<std::int64_t>((region.bytes + line - 1) / line);
      const Share share = share_of(lines, worker, workers);
      const auto* start = static_cast<const std::byte*>(region.data);
      flush_lines(start + share.first * static_cast<std::int64_t>(line),
                  start + share.last * static_cast<std::int64_t>(line));
    }
  });
  return {};
}

base::Result<void> CacheFlush::displace(WorkerPool& pool) {
  const auto bytes = static_cast<std::size_t>(static_cast<double>(cache_bytes_) * 2.5);
  const int workers = pool.cores();
  const bool first_use = displacing_.bytes() < bytes;
  if (first_use) {
    HONE_TRY(mapping, Mapping::make(bytes));
    displacing_ = std::move(*mapping);
  }
  const WorkerPool::PinnedCaller pinned(pool);
  pool.execute(workers, [this, bytes, workers, first_use](int worker) {
    const Share share = share_of(static_cast<std::int64_t>(bytes / line), worker, workers);
    std::byte* from = displacing_.data() + share.first * static_cast<std::int64_t>(line);
    const std::byte* to = displacing_.data() + share.last * static_cast<std::int64_t>(line);
    // Written once: pages never written are all the same page of zeros.
    if (first_use) std::memset(from, 1, static_cast<std::size_t>(to - from));
    unsigned sum = 0;
    for (const std::byte* at = from; at < to; at += line) sum += static_cast<unsigned>(*at);
    asm volatile("" : : "r"(sum) : "memory");
  });
  return {};
}

}  // namespace hone::device::cpu
