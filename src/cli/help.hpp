// Help texts, made from the tables of flags.hpp.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/flags.hpp"

namespace hone::cli {

// `width`: columns of the terminal.
std::string program_help(std::size_t width);
std::string command_help(const CommandSpec& command, std::size_t width);

// "-v, --verbose", "--repo PATH".
std::string spelled(const Flag& flag);
// What a flag does, with its choices and its default.
std::string sentence(const Flag& flag);

struct ExitCode {
  int code = 0;
  std::string meaning;
};
const std::vector<ExitCode>& exit_codes();

}  // namespace hone::cli
