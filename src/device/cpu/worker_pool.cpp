// Waiting in three steps, pinning, dispatch.
#include "device/cpu/worker_pool.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <system_error>

namespace hone::device::cpu {

namespace {

// About 30 us of spinning: longer than the gap between two launches, shorter than anybody would notice on a shared machine.
constexpr int spins = 1500;
constexpr int yields = 20;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

// Returns once the value is no longer `old`.
void wait_for_change(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  for (int i = 0; i < spins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    relax();
  }
  for (int i = 0; i < yields; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    ::sched_yield();
  }
  while (value.load(std::memory_order_acquire) == old) value.wait(old, std::memory_order_acquire);
}

void pin_to(int cpu) {
  // CPU_ALLOC: a machine may have more cores than a cpu_set_t has bits.
  const std::size_t count = static_cast<std::size_t>(cpu) + 1;
  cpu_set_t* set = CPU_ALLOC(count);
  if (set == nullptr) return;
  const std::size_t bytes = CPU_ALLOC_SIZE(count);
  CPU_ZERO_S(bytes, set);
  CPU_SET_S(static_cast<std::size_t>(cpu), bytes, set);
  // A core taken offline meanwhile leaves the worker unpinned: slower, not wrong.
  ::pthread_setaffinity_np(::pthread_self(), bytes, set);
  CPU_FREE(set);
}

}  // namespace

void Barrier::arrive_and_wait() {
  const std::uint32_t generation = generation_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == parties_) {
    arrived_.store(0, std::memory_order_relaxed);
    generation_.store(generation + 1, std::memory_order_release);
    generation_.notify_all();
    return;
  }
  wait_for_change(generation_, generation);
}

WorkerPool::PinnedCaller::PinnedCaller(const WorkerPool& pool) {
  saved_ = ::pthread_getaffinity_np(::pthread_self(), sizeof before_, before_) == 0;
  if (saved_) pin_to(pool.cpus_.front());
}

WorkerPool::PinnedCaller::~PinnedCaller() {
  if (saved_) ::pthread_setaffinity_np(::pthread_self(), sizeof before_, before_);
}

WorkerPool::~WorkerPool() {
  stop_.store(true);
  for (auto& seat : seats_) {
    seat->command.fetch_add(1, std::memory_order_release);
    seat->command.notify_one();
  }
  for (auto& seat : seats_) seat->thread.join();
}

base::Result<void> WorkerPool::reserve(int workers) {
  while (static_cast<int>(seats_.size()) + 1 < workers) {
    const int worker = static_cast<int>(seats_.size()) + 1;
    auto seat = std::make_unique<Seat>();
    try {
      seat->thread = std::thread([this, &place = *seat, worker] { work(place, worker); });
    } catch (const std::system_error& failure) {
      return base::Error{base::ErrorKind::preflight, std::to_string(workers) + " worker threads", failure.what(),
                         "worker " + std::to_string(worker),
                         "raise the limit of processes (ulimit -u), or use fewer threads"};
    }
    seats_.push_back(std::move(seat));
    // Known from here on: counters are opened by it.
    Seat& started = *seats_.back();
    while (started.thread_id.load(std::memory_order_acquire) == 0) started.thread_id.wait(0);
  }
  return {};
}

void WorkerPool::work(Seat& seat, int worker) {
  pin_to(cpus_[static_cast<std::size_t>(worker) % cpus_.size()]);
  seat.thread_id.store(static_cast<pid_t>(::syscall(SYS_gettid)), std::memory_order_release);
  seat.thread_id.notify_all();
  std::uint32_t seen = 0;
  for (;;) {
    wait_for_change(seat.command, seen);
    if (stop_.load()) return;
    ++seen;
    (*task_)(worker);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
  }
}

void WorkerPool::execute(int workers, const std::function<void(int)>& task) {
  task_ = &task;
  busy_.store(static_cast<std::uint32_t>(workers - 1), std::memory_order_relaxed);
  for (int i = 0; i + 1 < workers; ++i) {
    Seat& seat = *seats_[static_cast<std::size_t>(i)];
    seat.command.fetch_add(1, std::memory_order_release);
    seat.command.notify_one();
  }
  task(0);
  for (std::uint32_t left = busy_.load(std::memory_order_acquire); left != 0;
       left = busy_.load(std::memory_order_acquire)) {
    wait_for_change(busy_, left);
  }
}

std::vector<pid_t> WorkerPool::thread_ids(int workers) const {
  std::vector<pid_t> ids = {static_cast<pid_t>(::syscall(SYS_gettid))};
  for (int i = 0; i + 1 < workers; ++i) ids.push_back(seats_[static_cast<std::size_t>(i)]->thread_id.load());
  return ids;
}

}  // namespace hone::device::cpu
