// Numbers and units as Nsight Compute prints them: in the language of the machine that exported the file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hone::counters {

enum class DecimalMark { point, comma };

// Which mark a file uses can not be told from "16,384" alone: the values that have only one reading decide for all.
class MarkVotes {
 public:
  void see(std::string_view text);
  DecimalMark winner() const { return comma_ > point_ ? DecimalMark::comma : DecimalMark::point; }

 private:
  long point_ = 0, comma_ = 0;
};

// "1,234.5", "1.234,5", "1 234,5", "1'234.5", "1e-3". Nothing for "", "n/a", "nan", "inf" and everything else that is no
// finite number. An instance list after the value ("8 (1; 2)") is left out.
std::optional<double> parse_number(std::string_view text, DecimalMark mark);

enum class Dimension { none, percent, seconds, bytes, bytes_per_second, hertz, other };

struct Unit {
  Dimension dimension = Dimension::other;
  double factor = 1;  // value in the unit x factor = value in seconds, bytes, bytes/s, hertz
};

// "us", "usecond", "Kbyte", "Kbyte/block", "Tbyte/s", "Gbyte/second", "Ghz", "cycle/nsecond", "%", "": Nsight Compute 2022
// to 2025. Decimal prefixes are powers of 1000 there; Ki, Mi, Gi are powers of 1024.
Unit parse_unit(std::string_view text);

}  // namespace hone::counters
