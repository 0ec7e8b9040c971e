// Reads what Nsight Compute exports with --csv: the details page (a row for each metric) or the raw page (a row for each
// launch, a column for each metric, units in the row below the header), of the versions 2022 to 2025.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/counters.hpp"

namespace hone::counters {

struct Capture {
  std::string page;  // "details" or "raw"
  std::string device_name, compute_capability;
  int launches = 0;
  std::vector<model::CounterSummary> kernels;  // one for each distinct kernel; the user's own first, then libraries'
  std::vector<std::string> notes;              // what was odd: cut off, launches without metrics, several processes
};

// Errors (usage): a binary report, a page without kernels, an empty capture; each says how to export a readable one.
// Whatever can be read of a damaged file is read, and `notes` says what was lost.
base::Result<Capture> read_ncu_csv(const std::string& text, const std::string& where);

}  // namespace hone::counters
