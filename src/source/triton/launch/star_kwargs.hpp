// What a `**dictionary` in a launch holds: the literal it was made from, and what was stored into it before the launch.
#pragma once

#include <string>
#include <vector>

#include "source/triton/module/module.hpp"

namespace hone::source {

struct StarEntry {
  std::string key, text;  // text: `kwargs["BLOCK_N"] = 2048`
  Node value;
  std::string how;         // "dict literal at line 76", "stored into the dict at line 490"
  bool elsewhere = false;  // only on devices of other vendors
};

struct StarDictionary {
  std::string name;
  std::vector<StarEntry> entries;  // the last one stored under a key, in order of first appearance
  bool complete = false;           // nothing else can be in it on an NVIDIA device
};

StarDictionary read_star_dictionary(const Module& module, int scope, Node expression, Node launch);

}  // namespace hone::source
