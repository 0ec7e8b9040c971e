// The counters block of a built-in kernel on a GPU, over a device that is none: hone is started under the profiler, what it
// does not capture is calculated, and the experiments stand beside it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "repository/launch/counter_pass.hpp"
#include "repository/native/native_repository.hpp"

namespace hone::repository::launch {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class HostBuffer final : public device::Buffer {
 public:
  explicit HostBuffer(std::size_t bytes) : bytes_(bytes) {}
  std::size_t bytes() const override { return bytes_; }

 private:
  std::size_t bytes_;
};

class TextProgram final : public device::Program {
 public:
  explicit TextProgram(const device::ProgramSource& source) {
    for (const auto& [name, value] : source.defines) defines[name] = value;
    info_.registers_per_thread = 40;
    info_.spill_bytes = 0;
    info_.static_shared_bytes = 1024;
  }
  const device::ProgramInfo& info() const override { return info_; }
  std::string machine_code() const override { return "a binary"; }
  std::map<std::string, std::string> defines;

 private:
  device::ProgramInfo info_;
};

// A GPU whose passes take a time that follows from the settings and the size of their launch.
class ScriptedGpu final : public device::Device {
 public:
  ScriptedGpu() {
    info_.name = "scripted GPU";
    info_.kind = "cuda";
    info_.id = "cuda:0";
    info_.architecture = "hopper";
    info_.compute_capability = "9.0";
    info_.sm_count = 132;
    info_.total_memory_bytes = std::int64_t{64} << 30;
    info_.caches = {{2, 50 << 20, 132}};
    info_.shared_memory_per_block_bytes = 232448;
    info_.compiler = "scripted";
  }
  const model::DeviceInfo& info() const override { return info_; }
  base::Result<model::Ceilings> ceilings(const device::CeilingOptions&) override { return model::Ceilings{}; }
  base::Result<std::shared_ptr<device::Program>> compile(const device::ProgramSource& source) override {
    return std::shared_ptr<device::Program>(std::make_shared<TextProgram>(source));
  }
  base::Result<std::unique_ptr<device::Buffer>> allocate(std::size_t bytes) override {
    return std::unique_ptr<device::Buffer>(std::make_unique<HostBuffer>(bytes));
  }
  base::Result<void> upload(device::BufferView, const void*, std::size_t) override { return {}; }
  base::Result<void> download(void*, device::BufferView, std::size_t) override { return {}; }
  base::Result<void> copy(device::BufferView, device::BufferView, std::size_t) override {
    ++restored;
    return {};
  }
  base::Result<void> fill(device::BufferView, std::uint8_t, std::size_t) override { return {}; }
  base::Result<void> run(const std::vector<device::Launch>& launches) override {
    for (const device::Launch& launch : launches) ++runs[launch.entry];
    return {};
  }
  base::Result<model::Sample> time(const std::vector<device::Launch>& launches,
                                   const device::TimingConditions&) override {
    const auto& program = dynamic_cast<const TextProgram&>(*launches.front().program);
    const std::string& ablation = program.defines.at("TILE_ABLATION");
    const double ns = ablation == "1" ? 98'000 : ablation == "2" ? 20'000 : 100'000;
    return model::Sample{ns, ns + 1000, 1900, false};
  }
  std::size_t allocated_bytes() const override { return 0; }
  std::vector<std::pair<std::string, double>> count_events(const std::vector<device::Launch>&, std::string&) override {
    return {};
  }

  std::map<std::string, int> runs;
  int restored = 0;

 private:
  model::DeviceInfo info_;
};

constexpr const char* kHeader =
    "\"ID\",\"Process ID\",\"Kernel Name\",\"Grid Size\",\"Block Size\",\"CC\",\"gpu__time_duration.sum\","
    "\"sm__warps_active.avg.pct_of_peak_sustained_active\"\n\"\",\"\",\"\",\"\",\"\",\"\",\"us\",\"%\"\n";

std::string row(const std::string& kernel) {
  return "\"0\",\"7\",\"" + kernel + "\",\"(8192, 1, 1)\",\"(128, 1, 1)\",\"9.0\",\"47.01\",\"88.5\"\n";
}

base::Outcome printed(const std::string& output) {
  base::Outcome outcome;
  outcome.output = output;
  return outcome;
}

class GpuCounters : public ::testing::Test {
 protected:
  GpuCounters() {
    put("/proc/self/status", "CapEff:\t0000000000000000\n");
    put("/proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
  }
  void put(const std::string& path, const std::string& text) { ASSERT_TRUE(files_.write_atomically(path, text).ok()); }

  void allow_counters(const std::string& csv) {
    put("/proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
    put("/usr/bin/ncu", "");
    processes_.programs["ncu"] = "/usr/bin/ncu";
    processes_.answers = {printed("Version 2025.3.1.0\n"), printed(csv)};
  }

  native::NativeRepository repository() {
    Context context{gpu_, files_, clock_};
    context.processes = &processes_;
    context.counter_command = {"/bin/hone", "counter-pass"};
    return native::NativeRepository(std::move(context), "/settings");
  }

  model::Counters counters(std::vector<std::string> sizes = {"128", "256"}) {
    model::Request request;
    request.kernel = "relu_squared";
    request.sizes = std::move(sizes);
    request.quick = true;
    auto session = repository().open(request);
    EXPECT_TRUE(session) << base::describe(session.error());
    auto found = (*session)->counters();
    EXPECT_TRUE(found) << base::describe(found.error());
    return *found;
  }

  ScriptedGpu gpu_;
  base::MemoryFiles files_;
  base::ManualClock clock_;
  base::ScriptedProcesses processes_;
};

std::vector<std::string> names(const std::vector<model::CounterSummary>& kernels, bool counted) {
  std::vector<std::string> found;
  for (const model::CounterSummary& kernel : kernels)
    if (kernel.counted() == counted) found.push_back(kernel.name);
  return found;
}

TEST_F(GpuCounters, WithoutPermissionSaysSoAndHowToGetItAndCalculatesWhatItCan) {
  const model::Counters found = counters();
  EXPECT_EQ(found.status, "unavailable");
  EXPECT_EQ(found.route, "counter-free");
  EXPECT_THAT(found.reason, HasSubstr("RmProfilingAdminOnly: 1"));
  EXPECT_THAT(found.remedy, HasSubstr("--cap-add SYS_ADMIN"));
  EXPECT_THAT(processes_.commands, IsEmpty()) << "nothing is started that may not read counters";
  EXPECT_THAT(names(found.kernels, false), ElementsAre("relu_squared_forward", "relu_squared_backward"));
  for (const model::CounterSummary& kernel : found.kernels) {
    EXPECT_GT(kernel.theoretical_occupancy_pct.value_or(0), 0);
    EXPECT_EQ(kernel.registers_per_thread, 40);
    EXPECT_EQ(kernel.spills, 0);
    EXPECT_GT(kernel.waves_per_sm.value_or(0), 0);
  }
}

TEST_F(GpuCounters, TheExperimentsChangeOneThingEach) {
  const model::Counters found = counters();
  std::map<std::string, double> ratios;
  for (const model::Experiment& each : found.experiments)
    if (each.mode == "forward") ratios[each.name] = each.ratio;
  EXPECT_NEAR(ratios.at("no-compute"), 0.98, 1e-6);
  EXPECT_NEAR(ratios.at("no-memory"), 0.2, 1e-6);
  EXPECT_EQ(ratios.count("size-scaling"), 1u);
  EXPECT_EQ(ratios.count("more-warps") + ratios.count("fewer-warps"), 2u);
  EXPECT_EQ(ratios.count("threads"), 0u);
  const auto scaling = std::find_if(found.experiments.begin(), found.experiments.end(),
                                    [](const auto& each) { return each.name == "size-scaling"; });
  EXPECT_EQ(scaling->parameter, "hidden_size=128");
  EXPECT_EQ(scaling->x_value, "256");
  EXPECT_THAT(scaling->observation, HasSubstr("at hidden_size=128, with 50 % of the bytes to move, it takes"));
}

TEST_F(GpuCounters, OneSizeHasNoOtherToScaleTo) {
  const model::Counters found = counters({"256"});
  for (const model::Experiment& each : found.experiments) EXPECT_NE(each.name, "size-scaling");
}

TEST_F(GpuCounters, WithPermissionHoneItselfRunsUnderTheProfilerForThePassesOwnKernels) {
  allow_counters(kHeader + row("relu_squared_forward") + row("relu_squared_backward"));
  const model::Counters found = counters();
  EXPECT_EQ(found.status, "available");
  EXPECT_EQ(found.route, "nsight-compute");
  EXPECT_EQ(found.reason, "");
  EXPECT_THAT(names(found.kernels, true), UnorderedElementsAre("relu_squared_forward", "relu_squared_backward"));
  EXPECT_THAT(names(found.kernels, false), IsEmpty());
  for (const model::CounterSummary& kernel : found.kernels)
    EXPECT_EQ(kernel.pass, kernel.name == "relu_squared_forward" ? "forward" : "backward");
  EXPECT_THAT(found.experiments, Not(IsEmpty())) << "the other route stands beside it";
  const std::vector<std::string>& words = processes_.commands.at(1).arguments;
  EXPECT_THAT(words, Contains("regex:^(relu_squared_forward|relu_squared_backward)$"));
  const auto begin = std::find(words.begin(), words.end(), "counter-pass");
  ASSERT_NE(begin, words.end());
  EXPECT_EQ(*(begin - 1), "/bin/hone");
  EXPECT_EQ(*(begin + 1), "cuda:0");
  const auto pass = CounterPass::parse({begin + 2, words.end()});
  ASSERT_TRUE(pass.has_value());
  EXPECT_EQ(pass->repository, "native");
  EXPECT_EQ(pass->place, "/settings");
  EXPECT_EQ(pass->kernel, "relu_squared");
  EXPECT_EQ(pass->dtype, "bf16");
  EXPECT_EQ(pass->x_value, "256");
  EXPECT_EQ(pass->launches, 2) << "one warms up, one is captured";
  EXPECT_EQ(pass->last_level_cache_bytes, 50 << 20) << "the device's: its rows follow from it";
}

TEST_F(GpuCounters, WhatACaptureDidNotReachIsCalculatedAndNamed) {
  allow_counters(kHeader + row("relu_squared_forward"));
  const model::Counters found = counters();
  EXPECT_EQ(found.status, "available");
  EXPECT_THAT(found.reason, HasSubstr("not captured, and calculated instead: relu_squared_backward"));
  EXPECT_THAT(names(found.kernels, true), ElementsAre("relu_squared_forward"));
  EXPECT_THAT(names(found.kernels, false), ElementsAre("relu_squared_backward"));
}

TEST_F(GpuCounters, WhereTheProfilerCapturesNothingItsWordsAreTheReason) {
  allow_counters("==ERROR== The application returned an error code (3).\n");
  const model::Counters found = counters();
  EXPECT_EQ(found.status, "unavailable");
  EXPECT_THAT(found.reason, HasSubstr("returned an error code (3)"));
  EXPECT_THAT(names(found.kernels, false), ElementsAre("relu_squared_forward", "relu_squared_backward"));
}

TEST_F(GpuCounters, ADisassemblerTellsWhatTheMachineCodeConsistsOf) {
  processes_.programs["nvdisasm"] = "/usr/bin/nvdisasm";
  processes_.answers = {printed("\t.section\t.text.relu_squared_forward,\"ax\",@progbits\n"
                                "        /*0000*/                   LDG.E.128 R4, [R2.64] ;\n"
                                "        /*0010*/                   FMUL R4, R4, R4 ;\n"
                                "        /*0020*/                   EXIT ;\n"),
                        printed("")};
  const model::Counters found = counters();
  EXPECT_THAT(found.kernels.front().instructions,
              AllOf(HasSubstr("3 instructions"), HasSubstr("1 global loads of 16 bytes")));
  EXPECT_EQ(found.kernels.back().instructions, "") << "a disassembler that refuses costs the row alone";
}

TEST_F(GpuCounters, ThePassesRunAsOftenAsAskedFromRestoredInputs) {
  CounterPass pass;
  pass.repository = "native", pass.place = "/settings";
  pass.kernel = "relu_squared";
  pass.dtype = "bf16";
  pass.x_value = "256";
  pass.launches = 3;
  auto kernels = repository();
  const auto done = run_counter_pass(kernels, pass);
  ASSERT_TRUE(done.ok()) << base::describe(done.error());
  EXPECT_EQ(gpu_.runs["relu_squared_forward"], 4) << "once for what backward needs, then as asked";
  EXPECT_EQ(gpu_.runs["relu_squared_backward"], 3);
  pass.kernel = "relu_sqared";
  EXPECT_EQ(run_counter_pass(kernels, pass).error().kind, base::ErrorKind::usage);
}

TEST(CounterPassWords, GoThereAndBack) {
  CounterPass pass;
  pass.repository = "manifest";
  pass.kernel = "rms_norm";
  pass.dtype = "bf16";
  pass.x_value = "4096";
  pass.scope = "backward";
  pass.seed = 18446744073709551615ULL;
  pass.launches = 2;
  pass.last_level_cache_bytes = 50 << 20;
  pass.options = {{"casting_mode", "gemma"}, {"offset", "1.0"}};
  const auto read = CounterPass::parse(pass.words());
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->words(), pass.words());
  EXPECT_EQ(read->options.at("casting_mode"), "gemma");
}

TEST(CounterPassWords, ThatAreNoneAreRefused) {
  const std::vector<std::string> good = {"native", "", "rms_norm", "bf16", "4096", "general", "1", "2", "0"};
  EXPECT_TRUE(CounterPass::parse(good).has_value());
  EXPECT_FALSE(CounterPass::parse({}).has_value());
  const std::pair<std::size_t, const char*> wrong[] = {{6, "x"},    {6, ""},   {7, "0"},   {7, "-1"},
                                                       {7, "1001"}, {7, "2 "}, {8, "big"}, {9, "no_equals"}};
  for (const auto& [index, word] : wrong) {
    std::vector<std::string> words = good;
    words.resize(std::max(words.size(), index + 1));
    words[index] = word;
    EXPECT_FALSE(CounterPass::parse(words).has_value()) << index << " '" << word << "'";
  }
}

}  // namespace
}  // namespace hone::repository::launch
