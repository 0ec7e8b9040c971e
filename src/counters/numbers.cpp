#include "counters/numbers.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace hone::counters {

namespace {

// Spaces that group digits: plain, no-break (C2 A0), narrow no-break (E2 80 AF), and the Swiss apostrophe.
constexpr std::array<std::string_view, 4> kGroupMarks{" ", "\xC2\xA0", "\xE2\x80\xAF", "'"};
constexpr std::size_t kLongestNumber = 64;

std::string without_group_marks(std::string_view text) {
  std::string kept;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t skip = 0;
    for (const std::string_view mark : kGroupMarks)
      if (text.substr(i, mark.size()) == mark) skip = mark.size();
    if (skip == 0)
      kept.push_back(text[i++]);
    else
      i += skip;
  }
  return kept;
}

std::string_view before_instances(std::string_view text) {
  const std::size_t open = text.find('(');
  return open == std::string_view::npos ? text : text.substr(0, open);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct Prefix {
  std::string_view text;
  double factor;
};
constexpr std::array kPrefixes{Prefix{"Ki", 1024.0},
                               Prefix{"Mi", 1048576.0},
                               Prefix{"Gi", 1073741824.0},
                               Prefix{"Ti", 1099511627776.0},
                               Prefix{"K", 1e3},
                               Prefix{"k", 1e3},
                               Prefix{"M", 1e6},
                               Prefix{"G", 1e9},
                               Prefix{"T", 1e12},
                               Prefix{"P", 1e15},
                               Prefix{"", 1}};

struct TimeUnit {
  std::string_view text;
  double seconds;
};
constexpr std::array kTimes{TimeUnit{"s", 1},
                            TimeUnit{"sec", 1},
                            TimeUnit{"second", 1},
                            TimeUnit{"seconds", 1},
                            TimeUnit{"ms", 1e-3},
                            TimeUnit{"msecond", 1e-3},
                            TimeUnit{"us", 1e-6},
                            TimeUnit{"usecond", 1e-6},
                            TimeUnit{"\xC2\xB5s", 1e-6},
                            TimeUnit{"\xCE\xBCs", 1e-6},
                            TimeUnit{"ns", 1e-9},
                            TimeUnit{"nsecond", 1e-9}};

std::optional<double> as_time(std::string_view text) {
  for (const TimeUnit& each : kTimes)
    if (text == each.text) return each.seconds;
  return std::nullopt;
}

// The factor of "Kbyte" for the stem "byte".
std::optional<double> prefixed(std::string_view text, std::string_view stem) {
  for (const Prefix& prefix : kPrefixes)
    if (text.size() == prefix.text.size() + stem.size() && text.substr(0, prefix.text.size()) == prefix.text &&
        text.substr(prefix.text.size()) == stem)
      return prefix.factor;
  return std::nullopt;
}

std::optional<double> as_bytes(std::string_view text) {
  for (const std::string_view stem : {"byte", "bytes", "B"})
    if (const auto factor = prefixed(text, stem)) return factor;
  return std::nullopt;
}

std::optional<double> as_hertz(std::string_view text) {
  for (const std::string_view stem : {"hz", "Hz"})
    if (const auto factor = prefixed(text, stem)) return factor;
  return std::nullopt;
}

}  // namespace

void MarkVotes::see(std::string_view raw) {
  const std::string text = without_group_marks(before_instances(raw));
  if (text.size() > kLongestNumber) return;
  int commas = 0, points = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',')
      ++commas, last = i;
    else if (text[i] == '.')
      ++points, last = i;
    else if (!is_digit(text[i]) && !(i == 0 && (text[i] == '-' || text[i] == '+')))
      return;  // not a plain number
  }
  if (commas + points == 0) return;
  if (commas > 0 && points > 0) {
    (text[last] == ',' ? comma_ : point_) += 1;
  } else if (commas + points > 1) {
    (commas > 0 ? point_ : comma_) += 1;  // a mark that stands twice groups digits, so the other one is decimal
  } else {
    const bool groups_three = text.size() - last - 1 == 3 && last > 0 && text[0] != '0';
    if (!groups_three) (commas > 0 ? comma_ : point_) += 1;
  }
}

std::optional<double> parse_number(std::string_view raw, DecimalMark mark) {
  if (raw.size() > 4 * kLongestNumber) return std::nullopt;
  std::string text;
  for (const char c : without_group_marks(before_instances(raw))) {
    if (c == (mark == DecimalMark::point ? ',' : '.')) continue;
    text.push_back(c == ',' ? '.' : c);
  }
  if (text.empty() || text.size() > kLongestNumber) return std::nullopt;
  const char* begin = text.data() + (text[0] == '+' ? 1 : 0);
  double value = 0;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

Unit parse_unit(std::string_view text) {
  if (text.empty()) return {Dimension::none, 1};
  if (text == "%") return {Dimension::percent, 1};
  const std::size_t slash = text.find('/');
  const std::string_view above = text.substr(0, slash),
                         below = slash == std::string_view::npos ? std::string_view{} : text.substr(slash + 1);
  const std::optional<double> per_time = as_time(below);
  if (const auto bytes = as_bytes(above)) {
    if (below.empty() || below == "block" || below == "thread") return {Dimension::bytes, *bytes};
    if (per_time) return {Dimension::bytes_per_second, *bytes / *per_time};
    return {Dimension::other, 1};
  }
  if (below.empty()) {
    if (const auto seconds = as_time(above)) return {Dimension::seconds, *seconds};
    if (const auto hertz = as_hertz(above)) return {Dimension::hertz, *hertz};
    return {Dimension::none, 1};  // counts: block, warp, inst, sector, cycle, ...
  }
  if (above == "cycle" && per_time) return {Dimension::hertz, 1 / *per_time};
  if (above == "register" && below == "thread") return {Dimension::none, 1};
  return {Dimension::other, 1};
}

}  // namespace hone::counters
