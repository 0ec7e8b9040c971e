// The pool runs every worker once for each call, on few and on too many threads; shares cover all programs once.
#include "device/cpu/worker_pool.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "device/cpu/launch_plan.hpp"

namespace hone::device::cpu {
namespace {

TEST(WorkerPool, RunsEachWorkerOnceForEachCall) {
  WorkerPool pool({0, 0});
  for (const int workers : {1, 2, 9, 3}) {
    ASSERT_TRUE(pool.reserve(workers));
    std::vector<std::atomic<int>> calls(9);
    for (int repeat = 1; repeat <= 200; ++repeat) {
      pool.execute(workers, [&calls](int worker) { calls[static_cast<std::size_t>(worker)].fetch_add(1); });
      for (int worker = 0; worker < 9; ++worker)
        ASSERT_EQ(calls[static_cast<std::size_t>(worker)], worker < workers ? repeat : 0);
    }
  }
}

TEST(WorkerPool, WorkersAreThreadsOfTheirOwn) {
  WorkerPool pool({0});
  ASSERT_TRUE(pool.reserve(4));
  const auto ids = pool.thread_ids(4);
  EXPECT_EQ(std::set<pid_t>(ids.begin(), ids.end()).size(), 4U);
}

TEST(WorkerPool, ThePinnedCallerGoesWhereItCameFrom) {
  cpu_set_t before, inside, after;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &before)) ++cpu;
  const WorkerPool pool({cpu});
  {
    const WorkerPool::PinnedCaller pinned(pool);
    ASSERT_EQ(::sched_getaffinity(0, sizeof inside, &inside), 0);
    EXPECT_EQ(CPU_COUNT(&inside), 1);
    EXPECT_TRUE(CPU_ISSET(cpu, &inside));
  }
  ASSERT_EQ(::sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(Barrier, NobodyPassesBeforeAllHaveArrived) {
  constexpr int workers = 5, rounds = 200;
  WorkerPool pool({0});
  ASSERT_TRUE(pool.reserve(workers));
  Barrier barrier(workers);
  std::atomic<int> arrived{0}, early{0};
  pool.execute(workers, [&](int) {
    for (int round = 1; round <= rounds; ++round) {
      arrived.fetch_add(1);
      barrier.arrive_and_wait();
      if (arrived.load() < round * workers) early.fetch_add(1);
      barrier.arrive_and_wait();
    }
  });
  EXPECT_EQ(arrived, workers * rounds);
  EXPECT_EQ(early, 0);
}

TEST(Shares, CoverAllProgramsOnceInOrder) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const int workers : {1, 2, 3, 7, 64, most_workers}) {
    for (const std::int64_t programs :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{6}, std::int64_t{7}, std::int64_t{1000}, most - 1, most}) {
      std::int64_t next = 0;
      for (int worker = 0; worker < workers; ++worker) {
        const Share share = share_of(programs, worker, workers);
        ASSERT_EQ(share.first, next);
        ASSERT_GE(share.last - share.first, programs / workers);
        ASSERT_LE(share.last - share.first - programs / workers, 1);
        next = share.last;
      }
      ASSERT_EQ(next, programs);
    }
  }
}

}  // namespace
}  // namespace hone::device::cpu
