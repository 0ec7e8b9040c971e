// The calls of calculate_settings in a file: what they set, where it goes, and which launches use it.
#pragma once

#include <string>
#include <vector>

#include "source/triton/rewrite/subject.hpp"

namespace hone::source::rewrite {

// `BLOCK_SIZE, num_warps = calculate_settings(n_cols)` in a host function.
struct SettingsCall {
  int function = kNoFunction;
  Node statement, callee, targets;
  std::string block, warps, size;       // names of the targets ("_" included), text of the argument
  std::vector<const Launch*> launches;  // of the function, from here on, that use one of the two
  Pass pass = Pass::any;
};

std::vector<SettingsCall> find_settings_calls(const Subject& subject);

// The returns of its function through which the settings of a call leave it.
std::vector<Node> returns_with_settings(const Subject& subject, const SettingsCall& call);

// Do the launches of backward take their settings from elsewhere than a calculate_settings of their own function?
bool backward_takes_them(const Subject& subject, const std::vector<SettingsCall>& calls);

// Is each row done by one block of the kernel, so that BLOCK_SIZE must reach over it?
bool needs_whole_rows(const Subject& subject, const Launch& launch, const std::string& block);

bool mentions(Node root, const std::string& name);

}  // namespace hone::source::rewrite
