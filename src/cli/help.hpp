// Help texts, the manual page and completions, made from the tables of flags.hpp.
#pragma once

#include <string>

#include "base/result.hpp"
#include "cli/flags.hpp"

namespace hone::cli {

std::string program_help();
std::string command_help(const CommandSpec& command);
std::string manual_page();                                              // roff
base::Result<std::string> completion_script(const std::string& shell);  // bash, zsh or fish

}  // namespace hone::cli
