// What the typed flags mean: a request for the stages and how to talk.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/parse.hpp"
#include "model/profile.hpp"
#include "render/terminal/style.hpp"

namespace hone::cli {

// The terminals around the program.
struct Surroundings {
  bool reads_terminal = false;                // standard input is one
  bool result_terminal = false;               // standard output is one
  bool notes_terminal = false;                // standard error is one
  int result_columns = 0, notes_columns = 0;  // widths of those terminals; 0: not known

  static Surroundings of_process();
};

struct Talk {
  bool json = false;   // one document on standard output, all else on standard error
  bool quiet = false;  // neither progress nor notes
  bool verbose = false;
  bool interactive = false;  // a person can be asked
  bool live = false;         // progress may redraw its line
  render::Style style;       // of the stream on which people read the result
};

struct Meant {
  model::Request request;  // kernel empty where a command has none
  Talk talk;
  std::string device, workspace, settings_directory, repository_directory;
  std::string command_line;  // as typed, quoted where a shell would need it
  bool autonomous = false, fresh = false;
  int max_variants = 8;
  std::string target_metric, proposer, variant;
  std::vector<std::string> configuration;  // files in force, the one that wins first
};

// Reads COLUMNS, TERM, NO_COLOR and CLICOLOR_FORCE too.
Meant interpret(const Typed& typed, const std::vector<std::string>& words, const Surroundings& surroundings);

// A word as a shell needs it to be typed.
std::string quoted(const std::string& word);

}  // namespace hone::cli
