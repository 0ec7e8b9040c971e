// Threads pinned to cores that wait for work, first spinning, then asleep. The calling thread is worker 0 and is pinned
// while it works, so that all cores compute and none is lost to waiting.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <sched.h>
#include <sys/types.h>

#include "base/result.hpp"

namespace hone::device::cpu {

// All parties meet, again and again. Spins, then yields, then sleeps: other programs may hold the cores.
class Barrier {
 public:
  explicit Barrier(int parties) : parties_(parties) {}
  void arrive_and_wait();

 private:
  const int parties_;
  std::atomic<int> arrived_{0};
  std::atomic<std::uint32_t> generation_{0};
};

class WorkerPool {
 public:
  // Worker i is pinned to cpus[i % cpus.size()].
  explicit WorkerPool(std::vector<int> cpus) : cpus_(std::move(cpus)) {}
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool();

  int cores() const { return static_cast<int>(cpus_.size()); }

  // Starts threads for this many workers; they stay. An error when the system gives no more.
  base::Result<void> reserve(int workers);

  // Keeps the calling thread on worker 0's core while it lives, then lets it go where it was allowed before.
  class PinnedCaller {
   public:
    explicit PinnedCaller(const WorkerPool& pool);
    PinnedCaller(const PinnedCaller&) = delete;
    PinnedCaller& operator=(const PinnedCaller&) = delete;
    ~PinnedCaller();

   private:
    cpu_set_t before_[8];  // 8192 cores, the most Linux is built for
    bool saved_ = false;
  };

  // Runs task(worker) on workers 0 .. workers-1 and waits. The task must not throw. One call at a time; reserve first, and
  // pin the caller, which is worker 0.
  void execute(int workers, const std::function<void(int)>& task);

  // The system's ids of the threads behind workers 0 .. workers-1, the caller's first.
  std::vector<pid_t> thread_ids(int workers) const;

 private:
  struct alignas(128) Seat {  // two cache lines: neighbours are fetched in pairs
    std::atomic<std::uint32_t> command{0};
    std::atomic<pid_t> thread_id{0};
    std::thread thread;
  };
  void work(Seat& seat, int worker);

  std::vector<int> cpus_;
  std::vector<std::unique_ptr<Seat>> seats_;  // seats_[i] is worker i + 1
  const std::function<void(int)>* task_ = nullptr;
  std::atomic<bool> stop_{false};
  alignas(128) std::atomic<std::uint32_t> busy_{0};
};

}  // namespace hone::device::cpu
