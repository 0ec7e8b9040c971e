// Every flag and command as one definition. Parsing, --help, the man page and shell completions are made from these tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone::cli {

enum class FlagKind { boolean, text, integer, list, pair };  // list: comma separated; pair: name=value, may be repeated

struct Flag {
  std::string name;  // "--dtype"
  char letter = 0;   // 'v'; 0: none
  FlagKind kind = FlagKind::boolean;
  std::string value_name;  // "DIR"; empty for a boolean
  std::string standard;    // the default as text; empty: none
  std::vector<std::string> choices;
  std::string help;  // one sentence without a full stop
};

struct CommandSpec {
  std::string name;                          // "profile"
  std::string argument;                      // "KERNEL", "KERNEL...", "PATH...", "A B", ""
  int min_arguments = 0, max_arguments = 0;  // max -1: any number
  std::string summary;                       // one line
  std::string description;                   // a paragraph
  std::vector<std::string> flags;            // names of flags it takes
  std::vector<std::string> examples;
};

const std::vector<Flag>& all_flags();
const std::vector<CommandSpec>& all_commands();
const Flag* find_flag(std::string_view name);
const CommandSpec* find_command(std::string_view name);

}  // namespace hone::cli
