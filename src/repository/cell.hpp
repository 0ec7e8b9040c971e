// One row of work of the tables: what is timed, predicted and compared.
#pragma once

#include <string>

namespace hone::repository {

// A size and a pass. mode: "forward", "backward" or "full" (forward then backward).
struct Cell {
  std::string x_value, mode;
  bool operator==(const Cell&) const = default;
  bool operator<(const Cell& other) const {
    return x_value != other.x_value ? x_value < other.x_value : mode < other.mode;
  }
};

}  // namespace hone::repository
