// What the system's files say, on files in memory; cores come from the test's own process.
#include "device/cpu/system_info.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::device::cpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SystemInfoTest : public ::testing::Test {
 protected:
  void put(const std::string& path, const std::string& text) { ASSERT_TRUE(files_.write_atomically(path, text)); }
  SystemFacts read(int most_cores = 0) { return read_system(files_, most_cores); }
  // The same cache on every core of this process, shared by those of `sharing`.
  void put_cache(int index, int level, const char* type, const char* size, const std::string& sharing) {
    for (const int cpu : read().cpus) {
      const std::string folder =
          "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index" + std::to_string(index);
      put(folder + "/level", std::to_string(level) + "\n");
      put(folder + "/type", std::string(type) + "\n");
      put(folder + "/size", std::string(size) + "\n");
      put(folder + "/shared_cpu_list", (sharing.empty() ? std::to_string(cpu) : sharing) + "\n");
    }
  }
  base::MemoryFiles files_;
};

TEST_F(SystemInfoTest, ReadsAnX86Processor) {
  put("/proc/cpuinfo",
      "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 9554\nflags\t\t: fpu sse2 avx avx2 fma "
      "avx512f avx512_bf16\n\n"
      "processor\t: 1\nmodel name\t: another\n");
  const auto facts = read();
  EXPECT_EQ(facts.info.name, "AMD EPYC 9554");
  EXPECT_THAT(facts.info.isa, ElementsAre("sse2", "avx", "fma", "avx2", "avx512f", "avx512_bf16"));
  EXPECT_THAT(facts.info.architecture, HasSubstr("avx512"));
  EXPECT_THAT(facts.processor_identity, HasSubstr("avx512_bf16"));
  EXPECT_EQ(facts.info.sm_count, static_cast<int>(facts.cpus.size()));
}

TEST_F(SystemInfoTest, NamesArmCoresByTheirNumbers) {
  put("/proc/cpuinfo",
      "processor\t: 0\nFeatures\t: fp asimd asimddp sve\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n");
  EXPECT_EQ(read().info.name, "Arm Neoverse V1");
  EXPECT_THAT(read().info.architecture, HasSubstr("sve"));
  put("/proc/cpuinfo", "CPU implementer\t: 0x99\nCPU part\t: 0x123\n");
  EXPECT_EQ(read().info.name, "Arm core, implementer 0x99 part 0x123");
}

TEST_F(SystemInfoTest, AnotherProcessorHasAnotherIdentity) {
  put("/proc/cpuinfo", "model name\t: A\nflags\t: avx2\n");
  const std::string one = read().processor_identity;
  put("/proc/cpuinfo", "model name\t: A\nflags\t: avx2 avx512f\n");
  EXPECT_NE(read().processor_identity, one);
}

TEST_F(SystemInfoTest, ReadsDataCaches) {
  put_cache(0, 1, "Data", "32K", "");
  put_cache(1, 1, "Instruction", "64K", "");
  put_cache(2, 2, "Unified", "1024K", "");
  put_cache(3, 3, "Unified", "32M", "0-63");
  const auto facts = read();
  ASSERT_EQ(facts.info.caches.size(), 3U);
  EXPECT_EQ(facts.info.caches[0].bytes, 32 << 10);
  EXPECT_EQ(facts.info.caches[1].bytes, 1 << 20);
  EXPECT_EQ(facts.info.caches[1].shared_by_cores, 1);
  EXPECT_EQ(facts.info.caches[2].bytes, 32 << 20);
  EXPECT_EQ(facts.info.caches[2].shared_by_cores, 64);
  EXPECT_EQ(facts.all_last_level_bytes, 32 << 20) << "one cache for all cores counts once";
}

TEST_F(SystemInfoTest, AddsUpLastLevelCachesThatAreNotShared) {
  put_cache(0, 2, "Unified", "2048K", "");
  const auto facts = read();
  EXPECT_EQ(facts.all_last_level_bytes, static_cast<std::int64_t>(facts.cpus.size()) * (2 << 20));
}

TEST_F(SystemInfoTest, GarbageInCacheFilesIsNoCache) {
  put_cache(0, 1, "Data", "many", "7-3,x,-");
  for (const auto& cache : read().info.caches) EXPECT_GT(cache.bytes, 0);
}

TEST_F(SystemInfoTest, TheControlGroupsShareOfTimeLimitsTheCores) {
  const std::size_t all = read().cpus.size();
  put("/sys/fs/cgroup/cpu.max", "100000 100000\n");
  EXPECT_EQ(read().cpus.size(), 1U);
  put("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(read().cpus.size(), 1U) << "never none";
  put("/sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(read().cpus.size(), all);
  put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(read().cpus.size(), all);
  EXPECT_EQ(read(1).cpus.size(), 1U);
}

TEST_F(SystemInfoTest, MemoryIsTheSmallerOfMachineAndGroup) {
  put("/proc/meminfo", "MemTotal:       1000000 kB\nMemFree:  5 kB\nMemAvailable:    800000 kB\n");
  EXPECT_EQ(read().info.total_memory_bytes, 1'024'000'000);
  EXPECT_EQ(available_memory_bytes(files_), 819'200'000);
  put("/sys/fs/cgroup/memory.max", "500000000\n");
  put("/sys/fs/cgroup/memory.current", "300000000\n");
  EXPECT_EQ(read().info.total_memory_bytes, 500'000'000);
  EXPECT_EQ(available_memory_bytes(files_), 200'000'000);
  put("/sys/fs/cgroup/memory.stat", "anon 1\ninactive_file 250000000\n");
  EXPECT_EQ(available_memory_bytes(files_), 450'000'000) << "cached files give way";
  put("/sys/fs/cgroup/memory.max", "max\n");
  EXPECT_EQ(available_memory_bytes(files_), 819'200'000);
}

TEST_F(SystemInfoTest, WithoutAnyFileTheFactsAreStillWhole) {
  const auto facts = read();
  EXPECT_FALSE(facts.info.name.empty());
  EXPECT_FALSE(facts.cpus.empty());
  EXPECT_GT(facts.info.total_memory_bytes, 0);
  EXPECT_GT(facts.all_last_level_bytes, 0);
  EXPECT_EQ(available_memory_bytes(files_), 0) << "not known is said as 0";
}

}  // namespace
}  // namespace hone::device::cpu
