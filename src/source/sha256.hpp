// SHA-256 (FIPS 180-4), the fingerprint that audited files are named by. Not used for security.
#pragma once

#include <string>
#include <string_view>

namespace hone::source {

std::string sha256_hex(std::string_view bytes);  // 64 hex digits

}  // namespace hone::source
