// How far a stage is, in one line. The place and the clock are cli's.
#pragma once

#include <optional>
#include <string>

#include "render/terminal/style.hpp"

namespace hone::render {

struct ProgressState {
  std::string stage;             // "optimize 2/3"; empty: none
  std::string step;              // "sweep backward"
  int done = 0, total = 0;       // units of the step; no total: it has none
  std::optional<double> left_s;  // an estimate
  std::string detail;            // the unit at work
};

// "optimize 2/3 · sweep backward 14/32 · about 40 s left · hidden_size=4096", never wider than the style's width.
std::string progress_text(const ProgressState& state, const Style& style);

// "about 40 s left", "about 4 min left": in steps that an estimate deserves.
std::string time_left(double seconds);

}  // namespace hone::render
