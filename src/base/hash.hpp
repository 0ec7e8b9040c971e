// Content hashes: names for caches and for "the same machine code". Not for security.
#pragma once

#include <string>
#include <string_view>

namespace hone::base {

// 128-bit XXH3 of the bytes, as 32 hex digits.
std::string content_hash(std::string_view bytes);

}  // namespace hone::base
