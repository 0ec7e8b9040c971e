#include "stages/optimize/target_metric.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "base/size_text.hpp"
#include "base/text.hpp"

namespace hone::stages {

namespace {

struct Unit {
  const char* name;
  bool memory;
  double scale;  // to ms or MB
};
constexpr Unit kUnits[] = {{"ms", false, 1}, {"us", false, 1e-3}, {"ns", false, 1e-6}, {"s", false, 1e3},
                           {"MB", true, 1},  {"GB", true, 1e3},   {"KB", true, 1e-3}};

class Scanner {
 public:
  explicit Scanner(const std::string& text) : text_(text) {}

  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  std::size_t at() const { return at_; }
  bool done() {
    skip_space();
    return at_ == text_.size();
  }
  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  // Letters, digits and the signs that names and sizes are written with.
  std::string word() {
    skip_space();
    const std::size_t from = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_' ||
                                  text_[at_] == '-' || text_[at_] == '.'))
      ++at_;
    return text_.substr(from, at_ - from);
  }
  bool number(double& value) {
    skip_space();
    // strtod also takes hexadecimal, "inf" and "nan"; a limit is none of these.
    if (at_ >= text_.size() || !(std::isdigit(static_cast<unsigned char>(text_[at_])) || text_[at_] == '.'))
      return false;
    char* end = nullptr;
    value = std::strtod(text_.c_str() + at_, &end);
    if (end == text_.c_str() + at_) return false;
    at_ = static_cast<std::size_t>(end - text_.c_str());
    return true;
  }
  base::Error error(std::size_t where, const std::string& expected, const std::string& remedy) const {
    const std::string rest = where < text_.size() ? "'" + text_.substr(where) + "'" : "the end of the text";
    return {base::ErrorKind::usage, expected, rest,
            fmt::format("--target-metric, column {}\n{}\n{}^", where + 1, text_, std::string(where, ' ')), remedy};
  }

 private:
  const std::string& text_;
  std::size_t at_ = 0;
};

base::Result<void> parse_limit(Scanner& scan, TargetMetric& target) {
  const std::string form = "write it like \"forward < 0.3 ms @ hidden_size=4096\"";
  if (!scan.take('<')) return scan.skip_space(), scan.error(scan.at(), "'<' or '<='", form);
  target.inclusive = scan.take('=');
  scan.skip_space();
  const std::size_t number_at = scan.at();
  if (!scan.number(target.limit) || !std::isfinite(target.limit) || target.limit <= 0)
    return scan.error(number_at, "a number above 0", form);
  scan.skip_space();
  const std::size_t unit_at = scan.at();
  const std::string name = scan.word();
  const bool memory = target.subject == "memory";
  for (const Unit& unit : kUnits) {
    if (name == unit.name && unit.memory == memory) {
      target.limit *= unit.scale;
      return {};
    }
  }
  return scan.error(unit_at, memory ? "a unit of memory: KB, MB or GB" : "a unit of time: s, ms, us or ns", form);
}

}  // namespace

base::Result<TargetMetric> parse_target_metric(const std::string& text, const std::vector<std::string>& modes,
                                               const std::string& x_name, const std::vector<std::string>& sizes) {
  TargetMetric target;
  target.text = text;
  Scanner scan(text);
  scan.skip_space();
  const std::size_t subject_at = scan.at();
  target.subject = scan.word();
  if (target.subject != "memory" && std::find(modes.begin(), modes.end(), target.subject) == modes.end()) {
    return scan.error(subject_at, "one of " + base::join_text(modes, ", ") + " or memory",
                      "name a pass this kernel has");
  }
  HONE_PROPAGATE(parse_limit(scan, target));
  if (scan.done()) return target;
  if (!scan.take('@'))
    return scan.error(scan.at(), "'@' and a size, or the end",
                      "write the size like \"@ " + x_name + "=" + (sizes.empty() ? "4096" : sizes.back()) + "\"");
  scan.skip_space();
  const std::size_t name_at = scan.at();
  if (scan.word() != x_name)
    return scan.error(name_at, "the name of the size: " + x_name, "this kernel is measured over " + x_name);
  if (!scan.take('=')) return scan.skip_space(), scan.error(scan.at(), "'='", "write \"@ " + x_name + "=VALUE\"");
  scan.skip_space();
  const std::size_t value_at = scan.at();
  target.x_value = scan.word();
  if (const auto size = base::size_of(target.x_value)) target.x_value = std::to_string(*size);  // "4k" as in --sizes
  if (std::find(sizes.begin(), sizes.end(), target.x_value) == sizes.end()) {
    return scan.error(value_at, "a size of the profile: " + base::join_text(sizes, ", "),
                      "choose one of these, or profile again with --sizes");
  }
  if (!scan.done()) return scan.error(scan.at(), "the end of the text", "one target at a time");
  return target;
}

bool met_by(const TargetMetric& target, double upper) {
  return target.inclusive ? upper <= target.limit : upper < target.limit;
}

}  // namespace hone::stages
