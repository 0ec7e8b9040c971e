#include "base/clock.hpp"

#include <chrono>
#include <ctime>
#include <thread>

namespace hone::base {

std::int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::int64_t SystemClock::now_ns() { return steady_ns(); }

std::string SystemClock::utc() {
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

void SystemClock::sleep_ns(std::int64_t duration_ns) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(duration_ns));
}

}  // namespace hone::base
