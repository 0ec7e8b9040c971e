// Every flag and command as one definition. Parsing, --help, the manual page, completions and the keys of configuration
// files are made from these tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone::cli {

enum class FlagKind {
  boolean,
  text,
  path,     // in a configuration file: relative to that file
  integer,  // from `least` to `most`
  list,     // comma separated
  sizes,    // a list of positive integers; "4k" is 4096
  pair      // name=value, may be repeated
};

// What completions offer for a value or an argument besides words.
enum class Offer { nothing, kernels, files, folders };

struct Flag {
  std::string name;  // "--dtype"
  char letter = 0;   // 'v'; 0: none
  FlagKind kind = FlagKind::boolean;
  std::string value_name = {};                // "DIR"; empty for a boolean
  std::string standard = {};                  // the default as text; empty: none
  std::vector<std::string> choices = {};      // the only values there are; empty: any
  std::vector<std::string> suggestions = {};  // values that completions offer where there are others too
  Offer offer = Offer::nothing;
  long long least = 0, most = 0;           // of an integer
  std::vector<std::string> excludes = {};  // flags that contradict it
  bool place = false;                      // says where the work is: a command that goes on from here needs it again
  bool request = false;   // says what is asked of a profile: a command that profiles again needs it again
  bool one_call = false;  // says what one call is for: no configuration file can set it
  std::string help;       // one sentence without a full stop
};

struct CommandSpec {
  std::string name;                          // "profile"
  std::string argument = {};                 // "[KERNEL]", "PATH...", "A B"
  int min_arguments = 0, max_arguments = 0;  // max -1: any number
  Offer offer = Offer::nothing;              // kernels: where none is given, the repository's only one is meant
  bool has_document = true;                  // takes --json; false: what it prints is a script or a page
  std::vector<std::string> words = {};       // words that the first argument may be
  std::string summary;                       // one line
  std::string description;                   // a paragraph
  std::vector<std::string> flags = {};       // names of flags it takes; those of every command are added
  std::vector<std::string> examples = {};
};

const std::vector<Flag>& all_flags();
const std::vector<CommandSpec>& all_commands();
const Flag* find_flag(std::string_view name);
const CommandSpec* find_command(std::string_view name);
bool takes(const CommandSpec& command, std::string_view flag);

}  // namespace hone::cli
