// Defaults of flags from files: the project's hone.toml and the user's config.toml. docs/configuration.md describes them.
#pragma once

#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "cli/parse.hpp"

namespace hone::cli {

struct ConfigurationPlaces {
  std::string current_folder;  // absolute
  std::string repository;      // of --repo as typed; empty: none
  std::string user_file;       // empty: none
  std::string home;            // what "~/" in a path stands for
};

struct FlagDefaults {
  std::vector<std::string> files;  // that set something for any command, the one that wins first
  FlagValues values;               // of the command; a boolean that is off is not in it
};

// The defaults of one command. The project's file is the nearest hone.toml with a table [defaults], from the repository of --repo
// upwards, else from the current folder upwards; its values stand before the user's. Usage errors name file, line and column.
base::Result<FlagDefaults> read_configuration(base::FileSystem& files, const CommandSpec& command,
                                              const ConfigurationPlaces& places);

// $XDG_CONFIG_HOME/hone/config.toml, else ~/.config/hone/config.toml; empty where there is neither variable.
std::string user_configuration_file();

// Takes the defaults for flags that the command line neither sets nor contradicts.
void take_defaults(Typed& typed, const FlagValues& defaults);

}  // namespace hone::cli
