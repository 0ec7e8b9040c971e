#include "base/utc.hpp"

#include <chrono>
#include <cstdio>

namespace hone::base {

std::optional<std::int64_t> seconds_of_utc(const std::string& text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, end = 0;
  if (text.size() != 20 ||
      std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2dZ%n", &year, &month, &day, &hour, &minute, &second, &end) !=
          6 ||
      end != 20)
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok() || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
    return std::nullopt;
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return ((std::int64_t{days} * 24 + hour) * 60 + minute) * 60 + second;
}

std::string age_text(std::int64_t seconds) {
  if (seconds < 120) return std::to_string(seconds) + " s ago";
  if (seconds < 2 * 3600) return std::to_string(seconds / 60) + " min ago";
  if (seconds < 48 * 3600) return std::to_string(seconds / 3600) + " h ago";
  return std::to_string(seconds / 86400) + " days ago";
}

}  // namespace hone::base
