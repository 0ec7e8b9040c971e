// Sizes as people write them: "4096", "4k".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hone::base {

// Larger than any extent of an array here; products of several stay in 64 bits only where they are checked.
inline constexpr std::int64_t kLargestSize = std::int64_t{1} << 40;

// An integer from 1 to kLargestSize; a 'k' behind it stands for 1024, an 'm' for 1024 * 1024, in either case. Nothing for any
// other text.
std::optional<std::int64_t> size_of(std::string_view text);

}  // namespace hone::base
