#include "base/size_text.hpp"

#include <charconv>

namespace hone::base {

std::optional<std::int64_t> size_of(std::string_view text) {
  std::int64_t unit = 1;
  if (!text.empty()) {
    const char last = text.back();
    if (last == 'k' || last == 'K') unit = 1 << 10;
    if (last == 'm' || last == 'M') unit = 1 << 20;
    if (unit > 1) text.remove_suffix(1);
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1 || number > kLargestSize / unit)
    return std::nullopt;
  return number * unit;
}

}  // namespace hone::base
