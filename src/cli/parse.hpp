// From the words typed to a command with checked flag values. What they mean is decided by options.hpp.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/flags.hpp"

namespace hone::cli {

// The words as typed, checked against the tables: known command, known flags, right number of arguments, allowed values.
struct Typed {
  const CommandSpec* command = nullptr;  // nullptr: help for the whole program was asked for
  std::vector<std::string> arguments;
  std::map<std::string, std::vector<std::string>> values;  // by flag name; lists are split; booleans are present or not
  bool help = false;

  bool has(const std::string& flag) const { return values.count(flag) != 0; }
  // The value of a flag, or its default.
  std::string text(const std::string& flag) const;
  std::vector<std::string> list(const std::string& flag) const;
};

// Usage errors name the word, what is allowed, and the nearest known name.
base::Result<Typed> parse(const std::vector<std::string>& words);

}  // namespace hone::cli
