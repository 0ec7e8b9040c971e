// Text as other machines save it: UTF-8 with or without a mark at its beginning, or UTF-16 as a Windows shell redirects it.
#pragma once

#include <string>

namespace hone::counters {

std::string as_utf8(const std::string& text);

}  // namespace hone::counters
