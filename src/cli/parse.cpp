#include "cli/parse.hpp"

#include <algorithm>
#include <charconv>

#include <CLI/CLI.hpp>

#include "base/text.hpp"

namespace hone::cli {

namespace {

base::Error usage(std::string expected, std::string found, std::string remedy) {
  return {base::ErrorKind::usage, std::move(expected), std::move(found), "command line", std::move(remedy)};
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known, const std::string& otherwise) {
  std::vector<std::string> near = base::nearest(word, known);
  return near.empty() ? otherwise : "did you mean " + base::join_text(near, " or ") + "? " + otherwise;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const CommandSpec& command : all_commands()) names.push_back(command.name);
  return names;
}

base::Error empty_value(const std::string& flag, const CommandSpec& command) {
  return usage("a value for " + flag, "an empty one", "'hone " + command.name + " --help' lists the flags");
}

base::Result<void> check_value(const Flag& flag, const std::string& value, const CommandSpec& command) {
  const std::string see = "'hone " + command.name + " --help' lists the flags";
  if (value.empty()) return empty_value(flag.name, command);
  if (!flag.choices.empty() && std::find(flag.choices.begin(), flag.choices.end(), value) == flag.choices.end())
    return usage(flag.name + " to be one of " + base::join_text(flag.choices, ", "), "'" + value + "'",
                 did_you_mean(value, flag.choices, see));
  if (flag.kind == FlagKind::integer) {
    long long number = 0;
    auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || number < 0)
      return usage(flag.name + " to be a whole number, 0 or more", "'" + value + "'", see);
  }
  if (flag.kind == FlagKind::pair && (value.find('=') == std::string::npos || value.front() == '='))
    return usage(flag.name + " to be NAME=VALUE", "'" + value + "'",
                 "write it as " + flag.name + " casting_mode=gemma");
  return {};
}

// The flag a word was meant to be, for words the parser did not know.
base::Error unknown_word(const std::string& word, const CommandSpec& command) {
  std::vector<std::string> known = command.flags;
  const std::string see = "'hone " + command.name + " --help' lists the flags";
  if (find_flag(word.substr(0, word.find('='))) != nullptr)
    return usage("a flag that 'hone " + command.name + "' takes", "'" + word + "', which belongs to other commands",
                 see);
  return usage("a flag of 'hone " + command.name + "'", "'" + word + "'", did_you_mean(word, known, see));
}

}  // namespace

std::string Typed::text(const std::string& flag) const {
  auto it = values.find(flag);
  if (it != values.end() && !it->second.empty()) return it->second.back();
  const Flag* definition = find_flag(flag);
  return definition ? definition->standard : "";
}

std::vector<std::string> Typed::list(const std::string& flag) const {
  auto it = values.find(flag);
  if (it != values.end()) return it->second;
  const Flag* definition = find_flag(flag);
  return definition && !definition->standard.empty() ? base::split(definition->standard, ',')
                                                     : std::vector<std::string>();
}

base::Result<Typed> parse(const std::vector<std::string>& words) {
  Typed typed;
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    typed.help = true;
    if (words.size() > 1 && words[0] == "help") {
      typed.command = find_command(words[1]);
      if (!typed.command)
        return usage("a command", "'" + words[1] + "'",
                     did_you_mean(words[1], command_names(), "'hone --help' lists them"));
    }
    return typed;
  }
  const std::string& name = words[0] == "--version" ? std::string("version") : words[0];
  typed.command = find_command(name);
  if (!typed.command)
    return usage("a command", "'" + words[0] + "'",
                 did_you_mean(words[0], command_names(), "'hone --help' lists them"));

  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::map<std::string, std::vector<std::string>> raw;
  std::map<std::string, int> counts;
  std::vector<std::string> arguments;
  for (const std::string& flag_name : typed.command->flags) {
    const Flag& flag = *find_flag(flag_name);
    const std::string spelled = flag.letter ? std::string("-") + flag.letter + "," + flag.name : flag.name;
    if (flag.kind == FlagKind::boolean)
      app.add_flag(spelled, counts[flag.name]);
    else
      app.add_option(spelled, raw[flag.name])->expected(1)->take_all()->allow_extra_args(false);
  }
  for (const std::string& word : words) {
    if (word == "--") break;
    // CLI11 would take the next word as the value: "--workspace=$UNSET --json" is no workspace called --json.
    if (word.size() > 1 && word.back() == '=' && raw.count(word.substr(0, word.size() - 1)) != 0)
      return empty_value(word.substr(0, word.size() - 1), *typed.command);
  }
  std::vector<std::string> reversed(words.rbegin(), words.rend() - 1);
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return usage("flags and values of 'hone " + typed.command->name + "'", error.what(),
                 "'hone " + typed.command->name + " --help' shows them");
  }
  bool only_arguments = false;
  for (const std::string& word : app.remaining()) {
    if (word == "--")
      only_arguments = true;
    else if (!only_arguments && word.size() > 1 && word[0] == '-')
      return unknown_word(word, *typed.command);
    else
      arguments.push_back(word);
  }

  for (const auto& [flag, count] : counts)
    if (count > 0) typed.values[flag] = {};
  for (const auto& [flag_name, given] : raw) {
    const Flag& flag = *find_flag(flag_name);
    for (const std::string& value : given) {
      std::vector<std::string> parts =
          flag.kind == FlagKind::list ? base::split(value, ',') : std::vector<std::string>{value};
      for (const std::string& part : parts) {
        const std::string trimmed = flag.kind == FlagKind::list ? base::trim(part) : part;
        if (auto valid = check_value(flag, trimmed, *typed.command); !valid) return valid.error();
        typed.values[flag_name].push_back(trimmed);
      }
    }
  }
  typed.help = typed.has("--help");
  if (typed.help) return typed;

  const int given = static_cast<int>(arguments.size());
  const CommandSpec& command = *typed.command;
  if (given < command.min_arguments || (command.max_arguments >= 0 && given > command.max_arguments)) {
    const std::string expected = command.argument.empty() ? "no arguments" : command.argument;
    return usage("'hone " + command.name + "' with " + expected,
                 given == 0 ? "none" : "'" + base::join_text(arguments, " ") + "'",
                 command.examples.empty() ? "'hone --help'" : "for example: " + command.examples.front());
  }
  typed.arguments = std::move(arguments);
  return typed;
}

}  // namespace hone::cli
