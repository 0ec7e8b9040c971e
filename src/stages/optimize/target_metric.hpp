// "forward < 0.3 ms @ hidden_size=4096": what the user wants reached, parsed, and judged against a measurement.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace hone::stages {

struct TargetMetric {
  std::string text;     // as typed
  std::string subject;  // a mode, or "memory"
  double limit = 0;     // in ms, or in MB for memory
  bool inclusive = false;
  std::string x_value;  // empty: at every size
};

// Grammar: SUBJECT ('<' | '<=') NUMBER UNIT ['@' X_NAME '=' X_VALUE]; UNIT is s, ms, us or ns for a mode, MB, GB or KB for
// memory. Usage errors name the column and show the text with a mark below it.
base::Result<TargetMetric> parse_target_metric(const std::string& text, const std::vector<std::string>& modes,
                                               const std::string& x_name, const std::vector<std::string>& sizes);

// `upper` is the upper end of the measured interval, in ms or MB.
bool met_by(const TargetMetric& target, double upper);

}  // namespace hone::stages
