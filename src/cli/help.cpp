#include "cli/help.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "model/version.hpp"

namespace hone::cli {

namespace {

std::string spelled(const Flag& flag) {
  std::string text = flag.letter ? fmt::format("-{}, {}", flag.letter, flag.name) : flag.name;
  if (!flag.value_name.empty()) text += " " + flag.value_name;
  return text;
}

std::string sentence(const Flag& flag) {
  std::string text = flag.help;
  if (!flag.choices.empty()) text += " (" + base::join_text(flag.choices, ", ") + ")";
  if (!flag.standard.empty()) text += " [" + flag.standard + "]";
  return text;
}

// Wraps `text` to lines of at most `width`, later lines indented.
std::string wrapped(const std::string& text, std::size_t width, const std::string& indent) {
  std::string out, line;
  for (const std::string& word : base::split(text, ' ')) {
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      out += line + "\n" + indent;
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return out + line;
}

// Text that roff takes literally.
std::string roff(const std::string& text) {
  std::string out;
  for (char c : text) out += c == '\\' ? std::string("\\e") : c == '-' ? std::string("\\-") : std::string(1, c);
  return !out.empty() && (out[0] == '.' || out[0] == '\'') ? "\\&" + out : out;
}

constexpr const char* kExitCodes[] = {"0    done; also \"already at the limit: nothing to gain\", which is said",
                                      "1    internal error",
                                      "2    usage",
                                      "3    pre-flight failed",
                                      "4    the measurement can not be trusted here",
                                      "5    a gate failed; everything restored",
                                      "130  interrupted; everything restored"};

}  // namespace

std::string program_help() {
  std::string text = fmt::format(
      "hone {}: makes an existing kernel faster, with evidence: profile, optimize, finalize.\n\nusage: hone COMMAND "
      "[ARGUMENTS] [FLAGS]\n\ncommands\n",
      model::hone_version());
  for (const CommandSpec& command : all_commands())
    text += fmt::format("  {:<24}{}\n", command.argument.empty() ? command.name : command.name + " " + command.argument,
                        command.summary);
  text += "\n'hone COMMAND --help' shows the flags of a command.\n\nexit codes\n";
  for (const char* line : kExitCodes) text += fmt::format("  {}\n", line);
  return text;
}

std::string command_help(const CommandSpec& command) {
  std::string text = fmt::format("hone {}: {}\n\nusage: hone {}{}{} [FLAGS]\n\n{}\n\nflags\n", command.name,
                                 command.summary, command.name, command.argument.empty() ? "" : " ", command.argument,
                                 wrapped(command.description, 100, ""));
  for (const std::string& name : command.flags) {
    const Flag& flag = *find_flag(name);
    text += fmt::format("  {:<24}{}\n", spelled(flag), wrapped(sentence(flag), 80, std::string(26, ' ')));
  }
  if (!command.examples.empty()) text += "\nexamples\n";
  for (const std::string& example : command.examples) text += "  " + example + "\n";
  return text;
}

std::string manual_page() {
  std::string text = fmt::format(
      ".TH HONE 1 \"\" \"hone {}\" \"User Commands\"\n.SH NAME\nhone \\- makes an existing kernel faster, with "
      "evidence\n.SH SYNOPSIS\n.B hone\n.I COMMAND\n[ARGUMENTS] [FLAGS]\n.SH COMMANDS\n",
      model::hone_version());
  for (const CommandSpec& command : all_commands()) {
    text += fmt::format(".TP\n.B {} {}\n{}\n", command.name, command.argument, roff(command.description));
    if (!command.flags.empty()) text += "Flags: " + roff(base::join_text(command.flags, ", ")) + "\n";
  }
  text += ".SH FLAGS\n";
  for (const Flag& flag : all_flags())
    text += fmt::format(".TP\n.B {}\n{}\n", roff(spelled(flag)), roff(sentence(flag)));
  text += ".SH EXIT STATUS\n";
  for (const char* line : kExitCodes) text += fmt::format(".br\n{}\n", roff(line));
  return text;
}

base::Result<std::string> completion_script(const std::string& shell) {
  std::vector<std::string> names;
  for (const CommandSpec& command : all_commands()) names.push_back(command.name);
  const std::string words = base::join_text(names, " ");
  if (shell == "bash") {
    std::string text =
        "_hone() {\n  local current=\"${COMP_WORDS[COMP_CWORD]}\"\n  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    "
        "COMPREPLY=($(compgen -W \"" +
        words + "\" -- \"$current\")); return\n  fi\n  case \"${COMP_WORDS[1]}\" in\n";
    for (const CommandSpec& command : all_commands())
      text += fmt::format("    {}) COMPREPLY=($(compgen -W \"{}\" -- \"$current\") $(compgen -f -- \"$current\"));;\n",
                          command.name, base::join_text(command.flags, " "));
    return text + "  esac\n}\ncomplete -F _hone hone\n";
  }
  if (shell == "zsh") {
    std::string text = "#compdef hone\n_hone() {\n  if (( CURRENT == 2 )); then\n    compadd " + words +
                       "\n    return\n  fi\n  case \"$words[2]\" in\n";
    for (const CommandSpec& command : all_commands())
      text += fmt::format("    {}) compadd -- {}; _files;;\n", command.name, base::join_text(command.flags, " "));
    return text + "  esac\n}\ncompdef _hone hone\n";
  }
  if (shell == "fish") {
    std::string text = "complete -c hone -n __fish_use_subcommand -f -a '" + words + "'\n";
    for (const CommandSpec& command : all_commands())
      for (const std::string& name : command.flags) {
        const Flag& flag = *find_flag(name);
        std::string help = flag.help;
        std::replace(help.begin(), help.end(), '\'', '"');
        text += fmt::format("complete -c hone -n '__fish_seen_subcommand_from {}' -l {} -d '{}'\n", command.name,
                            flag.name.substr(2), help);
      }
    return text;
  }
  return base::Error{base::ErrorKind::usage, "a shell: bash, zsh or fish", "'" + shell + "'", "hone completions",
                     "choose one of them"};
}

}  // namespace hone::cli
