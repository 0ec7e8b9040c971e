#include "cli/help.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "model/version.hpp"
#include "render/terminal/style.hpp"

namespace hone::cli {

namespace {

constexpr std::size_t kMostText = 110;  // longer lines are hard to read, however wide the terminal

render::Style plain(std::size_t width) { return {false, std::min(width, kMostText)}; }

// An indented name with its text beside it, or below it where the name is long.
std::string entry(const std::string& name, const std::string& text, std::size_t width) {
  constexpr std::size_t kColumn = 26;
  const std::string label = "  " + name;
  if (label.size() + 2 <= kColumn) return render::labelled(label, text, plain(width), kColumn);
  return label + "\n" + render::labelled("", text, plain(width), kColumn);
}

std::string paragraph(const std::string& text, std::size_t width) {
  return render::labelled("", text, plain(width), 0);
}

}  // namespace

std::string spelled(const Flag& flag) {
  std::string text = flag.letter ? fmt::format("-{}, {}", flag.letter, flag.name) : flag.name;
  if (!flag.value_name.empty()) text += " " + flag.value_name;
  return text;
}

std::string sentence(const Flag& flag) {
  std::string text = flag.help;
  if (!flag.choices.empty()) text += " (" + base::join_text(flag.choices, ", ") + ")";
  if (flag.kind == FlagKind::integer) text += fmt::format(" ({} to {})", flag.least, flag.most);
  if (!flag.standard.empty()) text += " [" + flag.standard + "]";
  return text;
}

const std::vector<ExitCode>& exit_codes() {
  static const std::vector<ExitCode> codes = {
      {0, "done; also \"already at the limit: nothing to gain\", which is said"},
      {1, "internal error"},
      {2, "usage: the command line, a configuration file or a file named there asks for what there is not"},
      {3, "pre-flight failed: something the work needs is missing here"},
      {4, "the measurement can not be trusted here, or can not resolve it"},
      {5, "a gate failed; everything restored"},
      {130, "interrupted; everything restored"},
  };
  return codes;
}

std::string program_help(std::size_t width) {
  std::string text =
      paragraph(fmt::format("hone {}: makes an existing kernel faster, with evidence: profile, optimize, finalize.",
                            model::hone_version()),
                width) +
      "\nusage: hone COMMAND [ARGUMENTS] [FLAGS]\n\ncommands\n";
  for (const CommandSpec& command : all_commands())
    text +=
        entry(command.argument.empty() ? command.name : command.name + " " + command.argument, command.summary, width);
  text += "\n" + paragraph(
                     "'hone COMMAND --help' shows the flags of a command, 'hone man | man -l -' everything. A "
                     "reader that closes the pipe ends the output silently.",
                     width);
  text += "\nexit codes\n";
  for (const ExitCode& code : exit_codes()) text += entry(std::to_string(code.code), code.meaning, width);
  return text;
}

std::string command_help(const CommandSpec& command, std::size_t width) {
  std::string text = paragraph("hone " + command.name + ": " + command.summary, width) +
                     fmt::format("\nusage: hone {}{}{} [FLAGS]\n\n", command.name, command.argument.empty() ? "" : " ",
                                 command.argument) +
                     paragraph(command.description, width);
  if (command.offer == Offer::kernels)
    text += paragraph("Without KERNEL, the only kernel of the repository is meant.", width);
  if (!command.words.empty()) text += paragraph("First word: " + base::join_text(command.words, ", ") + ".", width);
  text += "\nflags\n";
  for (const std::string& name : command.flags) {
    const Flag& flag = *find_flag(name);
    text += entry(spelled(flag), sentence(flag), width);
  }
  if (!command.examples.empty()) text += "\nexamples\n";
  for (const std::string& example : command.examples) text += "  " + example + "\n";
  return text;
}

}  // namespace hone::cli
