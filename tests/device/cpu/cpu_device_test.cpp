// The CPU device end to end, with the machine's own compiler: what compile, allocate, run, time and try_run promise.
#include "device/cpu/cpu_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <numeric>

#include "device/no_end.hpp"
#include "tests/device/cpu/cpu_fixture.hpp"

namespace hone::device::cpu {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t second_ns = 1'000'000'000;

constexpr char adding[] = R"(
#include <cstdint>
// out[i] += value for the programs' elements; seen[worker] = 1 + workers.
extern "C" void add(void* const* arguments, int64_t first, int64_t last, int worker, int workers, void*) {
  int* out = *static_cast<int* const*>(arguments[0]);
  int* seen = *static_cast<int* const*>(arguments[1]);
  const int value = *static_cast<const int*>(arguments[2]);
  for (int64_t i = first; i < last; ++i) out[i] += value;
  seen[worker] = 1 + workers;
}
)";

using CpuDeviceTest = CpuFixture;

TEST_F(CpuDeviceTest, RunsEveryProgramOnceOnAnyNumberOfWorkers) {
  const auto program = compile(source(adding));
  for (const int threads : {0, 1, 2, 3, 7}) {
    for (const int programs : {0, 1, 2, 5, 100, 1009}) {
      auto out = buffer_of(std::vector<int>(1009, 10));
      auto seen = buffer_of(std::vector<int>(64, 0));
      const auto run = device_->run(
          {launch(*program, "add", programs, {BufferView{out.get(), 0}, BufferView{seen.get(), 0}, 7}, threads)});
      ASSERT_TRUE(run) << base::describe(run.error());
      std::vector<int> expected(1009, 10);
      std::fill_n(expected.begin(), programs, 17);
      EXPECT_EQ(values_of(*out), expected) << threads << " threads, " << programs << " programs";
      const int workers = threads == 0 ? device_->info().sm_count : threads;
      const auto workers_seen = values_of(*seen);
      for (int worker = 0; worker < 64; ++worker) {
        EXPECT_EQ(workers_seen[static_cast<std::size_t>(worker)],
                  worker < std::min(workers, programs) ? 1 + workers : 0);
      }
    }
  }
}

TEST_F(CpuDeviceTest, LaunchesOfOneCallSeeEachOthersResults) {
  const auto program = compile(source(R"(
#include <cstdint>
extern "C" void fill(void* const* a, int64_t first, int64_t last, int, int, void*) {
  for (int64_t i = first; i < last; ++i) (*static_cast<int* const*>(a[0]))[i] = static_cast<int>(i);
}
extern "C" void reverse(void* const* a, int64_t first, int64_t last, int, int, void*) {
  const int64_t n = *static_cast<const int64_t*>(a[2]);
  for (int64_t i = first; i < last; ++i) (*static_cast<int* const*>(a[1]))[i] = (*static_cast<int* const*>(a[0]))[n - 1 - i];
}
)"));
  constexpr std::int64_t n = 20'000;
  auto from = buffer_of(std::vector<int>(n)), to = buffer_of(std::vector<int>(n));
  for (int repeat = 0; repeat < 20; ++repeat) {
    ASSERT_TRUE(device_->fill({from.get(), 0}, 0, n * 4));
    ASSERT_TRUE(
        device_->run({launch(*program, "fill", n, {BufferView{from.get(), 0}}, 3),
                      launch(*program, "reverse", n, {BufferView{from.get(), 0}, BufferView{to.get(), 0}, n}, 5)}));
    std::vector<int> expected(n);
    std::iota(expected.rbegin(), expected.rend(), 0);
    ASSERT_EQ(values_of(*to), expected);
  }
}

TEST_F(CpuDeviceTest, PassesEachKindOfArgumentByItsAddress) {
  const auto program = compile(source(R"(
#include <cstdint>
extern "C" void gather(void* const* a, int64_t, int64_t, int, int, void*) {
  double* out = *static_cast<double* const*>(a[0]);
  out[0] = *static_cast<const int32_t*>(a[1]);
  out[1] = static_cast<double>(*static_cast<const int64_t*>(a[2]));
  out[2] = *static_cast<const float*>(a[3]);
}
)"));
  auto out = device_->allocate(64);
  ASSERT_TRUE(out);
  ASSERT_TRUE(device_->run(
      {launch(*program, "gather", 1, {BufferView{out->get(), 16}, std::int32_t{-5}, std::int64_t{1} << 40, 0.5f})}));
  double values[3];
  ASSERT_TRUE(device_->download(values, {out->get(), 16}, sizeof values));
  EXPECT_EQ(values[0], -5);
  EXPECT_EQ(values[1], 1099511627776.0);
  EXPECT_EQ(values[2], 0.5);
}

TEST_F(CpuDeviceTest, TimesAPassAndLeavesItsResults) {
  const auto program = compile(source(adding));
  auto out = buffer_of(std::vector<int>(100'000, 0)), seen = buffer_of(std::vector<int>(64, 0));
  for (const bool cold : {true, false}) {
    const auto sample = device_->time(
        {launch(*program, "add", 100'000, {BufferView{out.get(), 0}, BufferView{seen.get(), 0}, 1})}, {cold});
    ASSERT_TRUE(sample) << base::describe(sample.error());
    EXPECT_GT(sample->device_ns, 0);
    EXPECT_GE(sample->wall_ns, sample->device_ns);
  }
  EXPECT_EQ(values_of(*out), std::vector<int>(100'000, 2));
}

TEST_F(CpuDeviceTest, GivesEachWorkerItsOwnAlignedWorkspace) {
  const auto program = compile(source(R"(
#include <cstdint>
extern "C" int64_t use_workspace_bytes(void* const* a) { return *static_cast<const int64_t*>(a[1]); }
extern "C" void use(void* const* a, int64_t first, int64_t last, int worker, int, void* workspace) {
  char* bytes = static_cast<char*>(workspace);
  for (int64_t i = 0, n = *static_cast<const int64_t*>(a[1]); i < n; ++i) bytes[i] = static_cast<char>(worker);
  for (int64_t i = first; i < last; ++i) (*static_cast<uint64_t* const*>(a[0]))[i] = reinterpret_cast<uint64_t>(workspace);
}
)"));
  auto out = device_->allocate(3 * sizeof(std::uint64_t));
  ASSERT_TRUE(out);
  for (const std::int64_t bytes : {std::int64_t{1}, std::int64_t{100'000}}) {
    ASSERT_TRUE(device_->run({launch(*program, "use", 3, {BufferView{out->get(), 0}, bytes}, 3)}));
    std::uint64_t places[3];
    ASSERT_TRUE(device_->download(places, {out->get(), 0}, sizeof places));
    for (const std::uint64_t place : places) EXPECT_EQ(place % 64, 0U);
    EXPECT_GE(std::max(places[0], places[1]) - std::min(places[0], places[1]), static_cast<std::uint64_t>(bytes));
    EXPECT_NE(places[1], places[2]);
  }
  const auto absurd = device_->run({launch(*program, "use", 1, {BufferView{out->get(), 0}, std::int64_t{-1}}, 1)});
  ASSERT_FALSE(absurd);
  EXPECT_THAT(base::describe(absurd.error()), HasSubstr("use_workspace_bytes"));
}

TEST_F(CpuDeviceTest, AMissingEntryNamesThosePresent) {
  const auto program = compile(source(adding));
  const auto run = device_->run({launch(*program, "adds", 1, {})});
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().expected, HasSubstr("'adds'"));
  EXPECT_THAT(run.error().found, HasSubstr("add"));
}

TEST_F(CpuDeviceTest, WrongLaunchesAreErrorsAndRunNothing) {
  const auto program = compile(source(adding));
  auto out = buffer_of({0});
  EXPECT_FALSE(device_->run({launch(*program, "add", -1, {})}));
  EXPECT_FALSE(device_->run({launch(*program, "add", 1, {}, -1)}));
  EXPECT_FALSE(device_->run({launch(*program, "add", 1, {}, 1 << 20)}));
  EXPECT_FALSE(device_->run({launch(*program, "add", 1, {BufferView{nullptr, 0}})}));
  EXPECT_FALSE(device_->run({launch(*program, "add", 1, {BufferView{out.get(), 5}})}));
  Launch foreign = launch(*program, "add", 1, {});
  foreign.program = nullptr;
  EXPECT_FALSE(device_->run({foreign}));
}

TEST_F(CpuDeviceTest, AFaultInThisProcessIsAnErrorAndTheDeviceLivesOn) {
  const auto program = compile(source(std::string(adding) + R"(
extern "C" void crash(void* const* a, int64_t first, int64_t last, int, int, void*) {
  volatile int* nowhere = *static_cast<int* const*>(a[0]);
  for (int64_t i = first; i < last; ++i) if (i == last - 1) nowhere[int64_t{1} << 40] = 1;
}
extern "C" void divide(void* const* a, int64_t, int64_t, int, int, void*) {
  volatile int zero = 0, number = 1000;
  **static_cast<int* const*>(a[0]) = number / zero;
}
extern "C" void end_all(void* const*, int64_t, int64_t, int, int, void*) { __builtin_abort(); }
)"));
  auto out = buffer_of(std::vector<int>(8, 0)), seen = buffer_of(std::vector<int>(64, 0));
  const std::vector<Argument> arguments = {BufferView{out.get(), 0}, BufferView{seen.get(), 0}, 1};
  for (int repeat = 0; repeat < 3; ++repeat) {
    const auto crashed =
        device_->run({launch(*program, "add", 8, arguments, 3), launch(*program, "crash", 8, arguments, 3),
                      launch(*program, "add", 8, arguments, 3)});
    ASSERT_FALSE(crashed);
    EXPECT_EQ(crashed.error().kind, base::ErrorKind::gate);
    EXPECT_THAT(crashed.error().found, HasSubstr("segmentation fault"));
    EXPECT_THAT(crashed.error().expected, HasSubstr("'crash'"));
  }
  const auto aborted = device_->time({launch(*program, "end_all", 1, arguments)}, {});
  ASSERT_FALSE(aborted);
  EXPECT_THAT(aborted.error().found, HasSubstr("abort"));
#if defined(__x86_64__)  // an integer division by zero traps there, and is 0 on Arm
  const auto divided = device_->time({launch(*program, "divide", 1, arguments)}, {});
  ASSERT_FALSE(divided);
  EXPECT_THAT(divided.error().found, HasSubstr("division by zero"));
#endif
  ASSERT_TRUE(device_->run({launch(*program, "add", 8, arguments, 3)}));
  EXPECT_EQ(values_of(*out), std::vector<int>(8, 4)) << "launches behind the fault must not have run";
}

constexpr char misbehaving[] = R"(
#include <cstdint>
#include <cstdlib>
#include <csignal>
#include <cstdio>
#include <unistd.h>
extern "C" void misbehave(void* const* a, int64_t first, int64_t last, int, int, void*) {
  int* out = *static_cast<int* const*>(a[0]);
  for (int64_t i = first; i < last; ++i) out[i] += 1;
  switch (*static_cast<const int*>(a[1])) {
    case 1: *reinterpret_cast<volatile int*>(8) = 1; break;
    case 2: for (volatile int i = 0;; ) i = i + 1;
    case 3: ::_exit(0);
    case 4: ::abort();
    case 5: ::printf("noise\n"); ::fflush(stdout); break;
    case 6: ::raise(SIGKILL); break;
  }
}
)";

TEST_F(CpuDeviceTest, TryRunBringsResultsBack) {
  const auto program = compile(source(adding));
  auto out = buffer_of(std::vector<int>(1'000'000, 1)), seen = buffer_of(std::vector<int>(64, 0));
  const auto run = device_->try_run(
      {launch(*program, "add", 1'000'000, {BufferView{out.get(), 0}, BufferView{seen.get(), 0}, 5}, 3)},
      60 * second_ns);
  ASSERT_TRUE(run) << base::describe(run.error());
  EXPECT_EQ(values_of(*out), std::vector<int>(1'000'000, 6));
  EXPECT_EQ(values_of(*seen)[2], 4);
}

TEST_F(CpuDeviceTest, TryRunSurvivesWhatAVariantMayDo) {
  const auto program = compile(source(misbehaving));
  auto out = buffer_of(std::vector<int>(8, 0));
  const auto attempt = [&](std::int32_t what, std::int64_t deadline_ns) {
    return device_->try_run({launch(*program, "misbehave", 8, {BufferView{out.get(), 0}, what}, 2)}, deadline_ns);
  };
  const std::pair<int, const char*> deaths[] = {
      {1, "segmentation fault"}, {3, "exit status 0"}, {4, "abort"}, {6, "killed"}};
  for (const auto& [what, words] : deaths) {
    const auto result = attempt(what, 60 * second_ns);
    ASSERT_FALSE(result) << what;
    EXPECT_EQ(result.error().kind, base::ErrorKind::gate);
    EXPECT_THAT(result.error().found, HasSubstr(words));
    EXPECT_FALSE(is_no_end(result.error())) << words;
    EXPECT_EQ(values_of(*out), std::vector<int>(8, 0)) << "buffers must be as before";
  }
  const auto endless = attempt(2, second_ns / 5);
  ASSERT_FALSE(endless);
  EXPECT_THAT(endless.error().found, HasSubstr("still running after 0.2 s"));
  EXPECT_TRUE(is_no_end(endless.error()));
  EXPECT_EQ(values_of(*out), std::vector<int>(8, 0));

  ::testing::internal::CaptureStdout();
  EXPECT_TRUE(attempt(5, 60 * second_ns));
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "") << "a kernel's own output must not reach hone's";
  EXPECT_EQ(values_of(*out), std::vector<int>(8, 1));
}

TEST_F(CpuDeviceTest, TryRunIsolatesConstructorsToo) {
  const auto program = compile(source(R"(
#include <cstdint>
#include <cstdlib>
struct Bomb { Bomb() { ::abort(); } };
static Bomb bomb;
extern "C" void nothing(void* const*, int64_t, int64_t, int, int, void*) {}
)"));
  const auto result = device_->try_run({launch(*program, "nothing", 1, {})}, 60 * second_ns);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().found, HasSubstr("abort"));
}

TEST_F(CpuDeviceTest, TryRunReportsErrorsOfTheChildAsTheyWere) {
  const auto program = compile(source(adding));
  const auto result = device_->try_run({launch(*program, "subtract", 1, {})}, 60 * second_ns);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, base::ErrorKind::gate);
  EXPECT_EQ(result.error().expected, "an entry 'subtract'");
  EXPECT_EQ(result.error().where, "test program");
}

TEST_F(CpuDeviceTest, AllocationNamesNeedAndFreeBytes) {
  for (const std::size_t absurd : {std::size_t{1} << 50, std::numeric_limits<std::size_t>::max()}) {
    const auto buffer = device_->allocate(absurd);
    ASSERT_FALSE(buffer);
    EXPECT_EQ(buffer.error().kind, base::ErrorKind::preflight);
    EXPECT_THAT(buffer.error().expected, HasSubstr(std::to_string(absurd)));
    EXPECT_THAT(buffer.error().found, HasSubstr("bytes free"));
  }
  EXPECT_EQ(device_->allocated_bytes(), 0U);
}

TEST_F(CpuDeviceTest, BuffersAreAlignedZeroedAndCounted) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{4097}, std::size_t{5} << 20}) {
    auto buffer = device_->allocate(bytes);
    ASSERT_TRUE(buffer);
    EXPECT_EQ((*buffer)->bytes(), bytes);
    EXPECT_EQ(device_->allocated_bytes(), bytes);
    std::vector<unsigned char> content(bytes, 1);
    ASSERT_TRUE(device_->download(content.data(), {buffer->get(), 0}, bytes));
    EXPECT_EQ(content, std::vector<unsigned char>(bytes, 0));
  }
  EXPECT_EQ(device_->allocated_bytes(), 0U);
}

TEST_F(CpuDeviceTest, BuffersAndProgramsMayOutliveTheirDevice) {
  auto program = compile(source(adding));
  auto buffer = buffer_of({1, 2, 3});
  device_.reset();
  EXPECT_EQ(buffer->bytes(), 12U);
  EXPECT_FALSE(program->info().machine_code_hash.empty());
}

TEST_F(CpuDeviceTest, TransfersStayInsideTheirBuffers) {
  auto one = buffer_of({1, 2, 3, 4}), other = buffer_of({0, 0});
  int value = 9;
  EXPECT_FALSE(device_->upload({one.get(), 13}, &value, 4));
  EXPECT_FALSE(device_->download(&value, {one.get(), 17}, 0));
  EXPECT_FALSE(device_->copy({other.get(), 0}, {one.get(), 0}, 12));
  EXPECT_FALSE(device_->fill({one.get(), 8}, 0, std::numeric_limits<std::size_t>::max()));
  EXPECT_FALSE(device_->fill({nullptr, 0}, 0, 1));
  EXPECT_TRUE(device_->copy({other.get(), 0}, {one.get(), 8}, 8));
  EXPECT_EQ(values_of(*other), (std::vector<int>{3, 4}));
  EXPECT_TRUE(device_->fill({one.get(), 4}, 0xff, 8));
  EXPECT_EQ(values_of(*one), (std::vector<int>{1, -1, -1, 4}));
}

TEST_F(CpuDeviceTest, DescribesTheMachine) {
  const model::DeviceInfo& info = device_->info();
  EXPECT_EQ(info.kind, "cpu");
  EXPECT_EQ(info.id, "cpu");
  EXPECT_FALSE(info.name.empty());
  EXPECT_FALSE(info.architecture.empty());
  EXPECT_GE(info.sm_count, 1);
  EXPECT_GT(info.total_memory_bytes, std::int64_t{1} << 20);
  EXPECT_THAT(info.driver, HasSubstr("Linux"));
  EXPECT_FALSE(info.compiler.empty());
}

TEST_F(CpuDeviceTest, CountsEventsOrSaysWhyNot) {
  const auto program = compile(source(adding));
  auto out = buffer_of(std::vector<int>(1000, 0)), seen = buffer_of(std::vector<int>(64, 0));
  std::string reason = "stale";
  const auto events = device_->count_events(
      {launch(*program, "add", 1000, {BufferView{out.get(), 0}, BufferView{seen.get(), 0}, 1})}, reason);
  EXPECT_NE(events.empty(), reason.empty()) << reason;
  if (events.empty()) {
    EXPECT_THAT(reason, HasSubstr("perf_event_open"));
  }
}

}  // namespace
}  // namespace hone::device::cpu
