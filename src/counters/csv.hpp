// Records of a CSV text that other programs have printed into: quoted fields with line ends in them, and lines between
// records that are none ("==PROF== ...", output of the profiled program).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::counters {

struct Record {
  std::vector<std::string> fields;
  std::size_t line = 0;  // where it begins, from 1
};

// Walks over a text line by line: each call gives the next record, or the next line that is none.
class CsvWalk {
 public:
  explicit CsvWalk(std::string_view text) : text_(text) {}

  struct Item {
    std::optional<Record> record;  // nothing: `noise` is a line outside the table
    std::string_view noise;
    bool truncated = false;  // the text ended inside a quoted field; what began there is no record
  };
  std::optional<Item> next();

  // Lines that begin without a quote are records too (a file that went through a spreadsheet). Off until a header says so.
  void accept_unquoted(bool accept) { unquoted_ = accept; }
  void set_separator(char separator) { separator_ = separator; }

 private:
  enum class Outcome { record, malformed, truncated };
  Outcome read_record(std::size_t& position, std::vector<std::string>& fields) const;

  std::string_view text_;
  std::size_t position_ = 0, line_ = 1;
  char separator_ = ',';
  bool unquoted_ = false;
};

}  // namespace hone::counters
