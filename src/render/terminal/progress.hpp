// Text of a progress line. Pure: who prints it, where and how often is cli's.
#pragma once

#include <string>

#include "render/terminal/style.hpp"

namespace hone::render {

struct ProgressState {
  std::string label;    // "sweep: forward at 4096"
  double fraction = 0;  // done so far, 0 to 1; outside of it is clamped, not a number counts as 0
  double elapsed_s = 0;
};

// "[#######---------]  44 %  12 s, about 15 s left  sweep: forward at 4096", never wider than the style's width.
// The estimate appears once 2 % and a second have passed: before that it would be a guess.
std::string progress_bar(const ProgressState& state, const Style& style);

// The same for places that are no terminal: "44 % after 12 s: sweep: forward at 4096".
std::string progress_line(const ProgressState& state);

}  // namespace hone::render
