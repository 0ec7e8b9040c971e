// Why counters are not there, in words; and counts of this thread where they are.
#include "device/cpu/perf_events.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

namespace hone::device::cpu {
namespace {

using ::testing::HasSubstr;

TEST(WhyNoEvents, NamesTheRemedyForEachRefusal) {
  EXPECT_THAT(why_no_events(EACCES, "4"), HasSubstr("perf_event_paranoid is 4"));
  EXPECT_THAT(why_no_events(EACCES, "4"), HasSubstr("sysctl kernel.perf_event_paranoid=2"));
  EXPECT_THAT(why_no_events(EPERM, ""), HasSubstr("not readable"));
  EXPECT_THAT(why_no_events(ENOENT, "2"), HasSubstr("virtual machines"));
  EXPECT_THAT(why_no_events(ENOSYS, ""), HasSubstr("filter"));
  EXPECT_THAT(why_no_events(EMFILE, ""), HasSubstr("ulimit -n"));
  EXPECT_THAT(why_no_events(E2BIG, ""), HasSubstr("perf_event_open"));
}

TEST(CountWhile, CountsOrSaysWhyNot) {
  std::string reason;
  bool ran = false;
  const auto events = count_while(
      {::gettid()}, [&]() -> base::Result<void> { return ran = true, base::Result<void>(); }, reason);
  EXPECT_NE(events.empty(), reason.empty());
  EXPECT_EQ(ran, !events.empty()) << "work that can not be counted is not run";
  for (const auto& [name, count] : events) EXPECT_GE(count, 0) << name;
}

TEST(CountWhile, AThreadThatIsGoneIsAReason) {
  std::string reason;
  EXPECT_TRUE(count_while(
                  {1 << 30}, []() -> base::Result<void> { return {}; }, reason)
                  .empty());
  EXPECT_FALSE(reason.empty());
}

TEST(CountWhile, FailedWorkHasNoCounts) {
  std::string reason;
  const auto events = count_while(
      {::gettid()},
      []() -> base::Result<void> {
        return base::Error{base::ErrorKind::gate, "work", "failure", "", ""};
      },
      reason);
  EXPECT_TRUE(events.empty());
  EXPECT_FALSE(reason.empty());
}

}  // namespace
}  // namespace hone::device::cpu
