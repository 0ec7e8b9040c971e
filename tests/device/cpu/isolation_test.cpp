// Work in a child: its results, its errors, its death, its lateness.
#include "device/cpu/isolation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

namespace hone::device::cpu {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t minute_ns = 60'000'000'000;

TEST(RunInChild, BringsTheRegionsBackAndNothingElse) {
  std::vector<int> shared(300'000, 1), other(10, 1);
  const auto done = run_in_child(
      [&]() -> base::Result<void> {
        for (int& value : shared) value += 1;
        other.assign(10, 9);
        return {};
      },
      {{shared.data(), shared.size() * sizeof(int)}, {shared.data(), 0}}, minute_ns, "work");
  ASSERT_TRUE(done) << base::describe(done.error());
  EXPECT_EQ(shared, std::vector<int>(300'000, 2));
  EXPECT_EQ(other, std::vector<int>(10, 1));
}

TEST(RunInChild, AnErrorComesBackWhole) {
  int value = 1;
  const auto done = run_in_child(
      [&]() -> base::Result<void> {
        value = 2;
        return base::Error{base::ErrorKind::untrusted, "expected", "", "where\nmore", "remedy"};
      },
      {{&value, sizeof value}}, minute_ns, "work");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, base::ErrorKind::untrusted);
  EXPECT_EQ(done.error().expected, "expected");
  EXPECT_EQ(done.error().found, "");
  EXPECT_EQ(done.error().where, "where\nmore");
  EXPECT_EQ(done.error().remedy, "remedy");
  EXPECT_EQ(value, 1);
}

TEST(RunInChild, AStopEndsAChildThatDoesNotEnd) {
  std::atomic<bool> stop{false};
  std::thread person([&] { stop = true; });
  const auto done = run_in_child(
      []() -> base::Result<void> {
        for (;;) ::pause();
      },
      {}, 10 * minute_ns, "work", &stop);
  person.join();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, base::ErrorKind::interrupted);
}

TEST(RunInChild, DeathsAreToldApart) {
  const auto death = [](const std::function<void()>& act) {
    const auto done = run_in_child(
        [&]() -> base::Result<void> {
          act();
          return {};
        },
        {}, minute_ns, "work");
    return done ? std::string("alive") : done.error().found;
  };
  EXPECT_THAT(death([] { ::raise(SIGSEGV); }), HasSubstr("segmentation fault"));
  EXPECT_THAT(death([] { ::_exit(7); }), HasSubstr("exit status 7"));
  EXPECT_THAT(death([] { ::raise(SIGKILL); }), HasSubstr("killed"));
  EXPECT_EQ(death([] {}), "alive");
}

TEST(RunInChild, AnInterruptedChildIsAnInterruption) {
  const auto done =
      run_in_child([]() -> base::Result<void> { return ::raise(SIGINT), base::Result<void>(); }, {}, minute_ns, "work");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, base::ErrorKind::interrupted);
}

TEST(RunInChild, LateWorkIsKilledAndLeavesNoChild) {
  const auto done = run_in_child(
      []() -> base::Result<void> {
        for (;;) ::pause();
      },
      {}, 100'000'000, "endless work");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, base::ErrorKind::gate);
  EXPECT_THAT(done.error().expected, HasSubstr("endless work"));
  EXPECT_THAT(done.error().found, HasSubstr("still running"));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD) << "a zombie is left";
}

}  // namespace
}  // namespace hone::device::cpu
