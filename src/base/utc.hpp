// Calendar times as hone writes them, "2026-11-30T03:22:39Z".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hone::base {

// Seconds since the start of 1970; nothing where the text is no such time.
std::optional<std::int64_t> seconds_of_utc(const std::string& text);

// "12 s ago", "5 min ago", "3 h ago", "12 days ago".
std::string age_text(std::int64_t seconds);

}  // namespace hone::base
