// Time as a port: the machine's clocks, or a hand-moved one in tests.
#pragma once

#include <cstdint>
#include <string>

namespace hone::base {

class Clock {
 public:
  virtual ~Clock() = default;
  // Monotonic time in nanoseconds; only differences mean anything.
  virtual std::int64_t now_ns() = 0;
  // The calendar, UTC, as "2026-11-30T03:22:39Z".
  virtual std::string utc() = 0;
  virtual void sleep_ns(std::int64_t duration_ns) = 0;
};

// The machine's monotonic clock, for code to which time is no port.
std::int64_t steady_ns();

// The machine's own clocks.
class SystemClock final : public Clock {
 public:
  std::int64_t now_ns() override;
  std::string utc() override;
  void sleep_ns(std::int64_t duration_ns) override;
};

// A clock that moves only when told: `sleep_ns` and `advance_ns` move it.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(std::string utc_text = "2026-01-02T03:04:05Z") : utc_(std::move(utc_text)) {}
  std::int64_t now_ns() override { return now_ns_; }
  std::string utc() override { return utc_; }
  void sleep_ns(std::int64_t duration_ns) override { now_ns_ += duration_ns; }
  void advance_ns(std::int64_t duration_ns) { now_ns_ += duration_ns; }

 private:
  std::int64_t now_ns_ = 0;
  std::string utc_;
};

}  // namespace hone::base
