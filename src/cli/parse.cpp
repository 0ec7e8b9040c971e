#include "cli/parse.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/size_text.hpp"
#include "base/text.hpp"
#include "cli/options.hpp"

namespace hone::cli {

namespace {

constexpr const char* kCommandLine = "command line";

base::Error usage(std::string expected, std::string found, std::string remedy, std::string where = kCommandLine) {
  return {base::ErrorKind::usage, std::move(expected), std::move(found), std::move(where), std::move(remedy)};
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const CommandSpec& command : all_commands()) names.push_back(command.name);
  return names;
}

std::string help_of(const CommandSpec& command) { return "'hone " + command.name + " --help' lists the flags"; }

base::Error empty_value(const std::string& flag, const CommandSpec& command) {
  return usage("a value for " + flag, "an empty one", help_of(command));
}

// The flag a word was meant to be, for words the parser did not know.
base::Error unknown_word(const std::string& word, const CommandSpec& command) {
  if (find_flag(word.substr(0, word.find('='))) != nullptr)
    return usage("a flag that 'hone " + command.name + "' takes", "'" + word + "', which belongs to other commands",
                 help_of(command));
  return usage("a flag of 'hone " + command.name + "'", "'" + word + "'",
               did_you_mean(word, command.flags, help_of(command)));
}

// Flags in front of the command: the line as it would be right, where a command follows.
base::Error flags_first(const std::vector<std::string>& words) {
  std::size_t command = 0;
  while (command < words.size() && words[command].starts_with("-")) {
    const std::string& word = words[command++];
    const auto& flags = all_flags();
    const auto flag = std::find_if(flags.begin(), flags.end(), [&](const Flag& each) {
      return word == each.name || word == std::string{'-', each.letter};
    });
    if (flag != flags.end() && flag->kind != FlagKind::boolean) ++command;  // its value
  }
  const bool named = command < words.size();
  std::string line = "hone " + (named ? quoted(words[command]) : "COMMAND");
  for (std::size_t i = 0; i < words.size(); ++i)
    if (i != command) line += " " + quoted(words[i]);
  return usage("a command, with its flags behind it",
               "'" + words[0] + "'" + (named ? " before '" + words[command] + "'" : " and no command"),
               "flags follow the command: '" + line + "'; 'hone --help' lists the commands");
}

// The value of a list with a mark below one of its items; of a long one what stands around it.
std::string marked(const std::string& flag, const std::string& value, std::size_t at) {
  constexpr std::size_t kAround = 60;
  const std::size_t from = at > kAround ? at - kAround : 0;
  const std::string before = (from > 0 ? "..." : "") + value.substr(from, at - from);
  const std::string behind = value.substr(at, kAround) + (value.size() > at + kAround ? "..." : "");
  return fmt::format("{}, column {}\n{}{}\n{}^", flag, at + 1, before, behind, std::string(before.size(), ' '));
}

bool is_list(const Flag& flag) { return flag.kind == FlagKind::list || flag.kind == FlagKind::sizes; }

base::Result<std::vector<std::string>> read_values(const Flag& flag, const std::string& value,
                                                   const CommandSpec& command) {
  std::vector<std::string> values;
  std::size_t at = 0;
  for (const std::string& part : is_list(flag) ? base::split(value, ',') : std::vector<std::string>{value}) {
    const std::string item = is_list(flag) ? base::trim(part) : part;
    HONE_TRY(read, read_value(flag, item, flag.kind == FlagKind::sizes ? marked(flag.name, value, at) : kCommandLine,
                              help_of(command)));
    values.push_back(std::move(*read));
    at += part.size() + 1;
  }
  return values;
}

// The words of a command behind its name, told apart by the command line's library.
class Words {
 public:
  explicit Words(const CommandSpec& command) : command_(command) {
    app_.set_help_flag();
    app_.allow_extras();
    for (const std::string& name : command.flags) {
      const Flag& flag = *find_flag(name);
      const std::string spelled = flag.letter ? std::string("-") + flag.letter + "," + name : name;
      options_[name] = flag.kind == FlagKind::boolean
                           ? app_.add_flag(spelled)
                           : app_.add_option(spelled)->expected(1)->take_all()->allow_extra_args(false);
    }
  }

  base::Result<void> read(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      if (word == "--") break;
      // CLI11 would take the next word as the value: "--workspace=$UNSET --json" is no workspace called --json.
      if (word.size() > 1 && word.back() == '=' && options_.count(word.substr(0, word.size() - 1)) != 0)
        return empty_value(word.substr(0, word.size() - 1), command_);
    }
    try {
      app_.parse(std::vector<std::string>(words.rbegin(), words.rend() - 1));
    } catch (const CLI::ParseError& error) {
      return usage("flags and values of 'hone " + command_.name + "'", error.what(),
                   "'hone " + command_.name + " --help' shows them");
    }
    return {};
  }

  base::Result<std::vector<std::string>> arguments() const {
    std::vector<std::string> arguments;
    bool only_arguments = false;
    for (const std::string& word : app_.remaining()) {
      if (word == "--")
        only_arguments = true;
      else if (!only_arguments && word.size() > 1 && word[0] == '-')
        return unknown_word(word, command_);
      else
        arguments.push_back(word);
    }
    return arguments;
  }

  base::Result<FlagValues> values() const {
    FlagValues values;
    for (const auto& [name, option] : options_) {
      const Flag& flag = *find_flag(name);
      for (const std::string& value : option->results()) {
        if (flag.kind == FlagKind::boolean) {
          if (value != "true" && value != "false")
            return usage(name + ", " + name + "=true or " + name + "=false", "'" + name + "=" + value + "'",
                         help_of(command_));
          values[name] = value == "true" ? std::vector<std::string>{} : std::vector<std::string>{"false"};
          continue;
        }
        HONE_TRY(read, read_values(flag, value, command_));
        values[name].insert(values[name].end(), read->begin(), read->end());
      }
    }
    return values;
  }

 private:
  const CommandSpec& command_;
  CLI::App app_;
  std::map<std::string, CLI::Option*> options_;
};

bool is_on(const std::string& flag, const std::vector<std::string>& values) {
  return find_flag(flag)->kind != FlagKind::boolean || values.empty();
}

}  // namespace

std::optional<std::pair<std::string, std::string>> contradiction(const FlagValues& values) {
  for (const auto& [name, of_flag] : values)
    for (const std::string& other : find_flag(name)->excludes)
      if (const auto found = values.find(other);
          found != values.end() && is_on(name, of_flag) && is_on(other, found->second))
        return std::pair(name, other);
  return std::nullopt;
}

void add_uncontradicted(FlagValues& values, const FlagValues& more) {
  FlagValues added;
  for (const auto& [name, of_flag] : more) {
    const std::vector<std::string>& others = find_flag(name)->excludes;
    const bool contradicted = std::any_of(others.begin(), others.end(), [&](const std::string& other) {
      const auto found = values.find(other);
      return found != values.end() && is_on(other, found->second);
    });
    if (!contradicted) added.emplace(name, of_flag);
  }
  values.merge(added);
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known, const std::string& otherwise) {
  std::vector<std::string> near = base::nearest(word, known);
  return near.empty() ? otherwise : "did you mean " + base::join_text(near, " or ") + "? " + otherwise;
}

base::Result<std::string> read_value(const Flag& flag, const std::string& value, const std::string& where,
                                     const std::string& see) {
  if (value.empty()) return usage("a value for " + flag.name, "an empty one", see, where);
  if (!flag.choices.empty() && std::find(flag.choices.begin(), flag.choices.end(), value) == flag.choices.end())
    return usage(flag.name + " to be one of " + base::join_text(flag.choices, ", "), "'" + value + "'",
                 did_you_mean(value, flag.choices, see), where);
  if (flag.kind == FlagKind::integer) {
    long long number = 0;
    auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || number < flag.least || number > flag.most)
      return usage(fmt::format("{} to be an integer from {} to {}", flag.name, flag.least, flag.most),
                   "'" + value + "'", see, where);
  }
  if (flag.kind == FlagKind::sizes) {
    const auto size = base::size_of(value);
    if (!size)
      return usage(fmt::format("sizes as integers from 1 to {}m (2^40); k behind one stands for 1024, m for 1024 k",
                               base::kLargestSize >> 20),
                   "'" + value + "'", "give sizes like --sizes 512,4k,5120", where);
    return std::to_string(*size);
  }
  if (flag.kind == FlagKind::pair && (value.find('=') == std::string::npos || value.front() == '='))
    return usage(flag.name + " to be NAME=VALUE", "'" + value + "'", "write it as " + flag.name + " casting_mode=gemma",
                 where);
  return value;
}

const std::vector<std::string>* Typed::found(const std::string& flag) const {
  if (const auto typed = values.find(flag); typed != values.end()) return &typed->second;
  const auto configured = defaults.find(flag);
  return configured == defaults.end() ? nullptr : &configured->second;
}

bool Typed::has(const std::string& flag) const {
  const std::vector<std::string>* value = found(flag);
  return value != nullptr && is_on(flag, *value);
}

std::string Typed::text(const std::string& flag) const {
  if (const auto* value = found(flag); value != nullptr && !value->empty()) return value->back();
  const Flag* definition = find_flag(flag);
  return definition ? definition->standard : "";
}

std::vector<std::string> Typed::list(const std::string& flag) const {
  if (const auto* value = found(flag)) return *value;
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
  const bool version = words[0] == "--version" || words[0] == "-V";
  if (!version && words[0].starts_with("-")) return flags_first(words);
  typed.command = find_command(version ? "version" : words[0]);
  if (!typed.command)
    return usage("a command", "'" + words[0] + "'",
                 did_you_mean(words[0], command_names(), "'hone --help' lists them"));
  const CommandSpec& command = *typed.command;
  Words told(command);
  HONE_PROPAGATE(told.read(words));
  HONE_TRY(arguments, told.arguments());
  HONE_TRY(values, told.values());
  typed.values = std::move(*values);
  typed.help = typed.has("--help");
  typed.version = typed.has("--version");
  if (typed.help || typed.version) return typed;
  if (const auto both = contradiction(typed.values))
    return usage(both->first + " or " + both->second, "both", "leave one of them out");

  const int given = static_cast<int>(arguments->size());
  if (given < command.min_arguments || (command.max_arguments >= 0 && given > command.max_arguments)) {
    const std::string expected = command.argument.empty() ? "no arguments" : command.argument;
    return usage("'hone " + command.name + "' with " + expected,
                 given == 0 ? "none" : "'" + base::join_text(*arguments, " ") + "'",
                 command.examples.empty() ? "'hone --help'" : "for example: " + command.examples.front());
  }
  typed.arguments = std::move(*arguments);
  return typed;
}

}  // namespace hone::cli
