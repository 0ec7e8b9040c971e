// From the words typed to a command with checked flag values. What they mean is decided by options.hpp.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "cli/flags.hpp"

namespace hone::cli {

// Values by flag name. Lists are split; a boolean has no value, or "false".
using FlagValues = std::map<std::string, std::vector<std::string>>;

// The words as typed, checked against the tables: known command, known flags, right number of arguments, allowed values.
struct Typed {
  const CommandSpec* command = nullptr;  // nullptr: help for the whole program was asked for
  std::vector<std::string> arguments;
  FlagValues values;
  FlagValues defaults;  // from configuration files: where `values` has nothing
  bool help = false, version = false;

  // Set on the command line or by a configuration file.
  bool has(const std::string& flag) const;
  // Set on the command line.
  bool given(const std::string& flag) const { return values.count(flag) != 0; }
  // The value of a flag, or its default.
  std::string text(const std::string& flag) const;
  std::vector<std::string> list(const std::string& flag) const;

 private:
  const std::vector<std::string>* found(const std::string& flag) const;
};

// Usage errors name the word, what is allowed, and the nearest known name.
base::Result<Typed> parse(const std::vector<std::string>& words);

// One value of a flag, of a list one item, as commands read it: "4k" becomes "4096". `where` names its place in the error.
base::Result<std::string> read_value(const Flag& flag, const std::string& value, const std::string& where,
                                     const std::string& see);

// The first pair of flags that contradict each other and are both on.
std::optional<std::pair<std::string, std::string>> contradiction(const FlagValues& values);

// Takes the values of `more` for flags that `values` neither sets nor contradicts.
void add_uncontradicted(FlagValues& values, const FlagValues& more);

// "did you mean a or b? " before `otherwise`, where `word` is near to one that is known.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& known, const std::string& otherwise);

}  // namespace hone::cli
