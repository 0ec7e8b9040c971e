// What the typed flags mean: a request for the stages and how to talk.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "cli/parse.hpp"
#include "model/profile.hpp"

namespace hone::cli {

struct Talk {
  bool json = false;   // one document on standard output, all else on standard error
  bool color = false;  // of the stream people read
  bool verbose = false;
  bool interactive = false;  // a person can be asked
};

struct Meant {
  model::Request request;  // kernel empty where a command has none
  Talk talk;
  std::string device, workspace, settings_directory, repository_directory;
  std::string command_line;  // as typed, quoted where a shell would need it
  bool autonomous = false, fresh = false;
  int max_variants = 8;
  std::string target_metric, proposer, variant;
};

// `terminal_in`, `terminal_out`: whether standard input and the stream for people are terminals.
base::Result<Meant> interpret(const Typed& typed, const std::vector<std::string>& words, bool terminal_in,
                              bool terminal_out);

}  // namespace hone::cli
