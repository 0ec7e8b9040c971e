#include "counters/csv.hpp"

#include <algorithm>

namespace hone::counters {

namespace {

// Nsight's raw page has 2238 columns; a line with more separators than this is something else.
constexpr std::size_t kMostFields = 100'000;

}  // namespace

CsvWalk::Outcome CsvWalk::read_record(std::size_t& position, std::vector<std::string>& fields) const {
  std::size_t at = position;
  for (;;) {
    std::string field;
    if (at < text_.size() && text_[at] == '"') {
      ++at;
      for (;;) {
        const std::size_t quote = text_.find('"', at);
        if (quote == std::string_view::npos) return Outcome::truncated;
        field.append(text_.substr(at, quote - at));
        at = quote + 1;
        if (at >= text_.size() || text_[at] != '"') break;
        field.push_back('"');
        ++at;
      }
    } else {
      const std::size_t end = std::min(text_.find_first_of(std::string{separator_, '\n'}, at), text_.size());
      field = text_.substr(at, end - at);
      at = end;
      if (!field.empty() && field.back() == '\r') field.pop_back();
    }
    fields.push_back(std::move(field));
    if (fields.size() > kMostFields) return Outcome::malformed;
    if (at < text_.size() && text_[at] == '\r' && (at + 1 == text_.size() || text_[at + 1] == '\n')) ++at;
    if (at >= text_.size()) break;
    if (text_[at] == '\n') {
      ++at;
      break;
    }
    if (text_[at] != separator_) return Outcome::malformed;
    ++at;
  }
  position = at;
  return Outcome::record;
}

std::optional<CsvWalk::Item> CsvWalk::next() {
  if (position_ >= text_.size()) return std::nullopt;
  const std::size_t line_end = std::min(text_.find('\n', position_), text_.size());
  Item item;
  const bool may_be_record = text_[position_] == '"' ||
                             (unquoted_ && text_[position_] != '=' && line_end > position_ && text_[position_] != '\r');
  if (may_be_record) {
    std::size_t after = position_;
    Record record;
    record.line = line_;
    const Outcome outcome = read_record(after, record.fields);
    if (outcome == Outcome::record) {
      line_ += static_cast<std::size_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(position_),
                                                   text_.begin() + static_cast<std::ptrdiff_t>(after), '\n'));
      position_ = after;
      item.record = std::move(record);
      return item;
    }
    item.truncated = outcome == Outcome::truncated;
  }
  item.noise = text_.substr(position_, line_end - position_);
  position_ = std::min(line_end + 1, text_.size());
  ++line_;
  return item;
}

}  // namespace hone::counters
