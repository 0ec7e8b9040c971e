#include "cli/manual.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/environment.hpp"
#include "cli/flags.hpp"
#include "cli/help.hpp"
#include "model/version.hpp"

namespace hone::cli {

namespace {

struct Entry {
  const char *name, *help;
};

constexpr Entry kFiles[] = {
    {"optimization/KERNEL/",
     "The workspace of a kernel below the folder of --workspace: profile, variants with notes, "
     "comparison, report, raw samples, and the journal from which a run that was killed goes on."},
    {"optimization/history.sqlite3", "Every measurement kept there, for 'hone history'."},
    {"hone.toml",
     "A kernel of your own (docs/manifest.md), the project's defaults of flags in its table [defaults] "
     "(docs/configuration.md), or both. The defaults hold in its folder and below."},
    {"~/.config/hone/config.toml",
     "The user's defaults of flags. The project's stand before them, the command line "
     "before both; 'hone doctor' says which files are in force."},
    {"~/.local/share/hone/settings/", "Settings of built-in kernels that finalize has installed."},
    {"~/.cache/hone/", "Compiled programs, at most 512 MiB; may be removed at any time."},
};

// Text that roff takes literally.
std::string roff(const std::string& text) {
  std::string out;
  for (char c : text) out += c == '\\' ? std::string("\\e") : c == '-' ? std::string("\\-") : std::string(1, c);
  return !out.empty() && (out[0] == '.' || out[0] == '\'') ? "\\&" + out : out;
}

std::string section(const std::string& title) { return ".SH " + title + "\n"; }

std::string item(const std::string& term, const std::string& text) {
  return ".TP\n.B " + roff(term) + "\n" + roff(text) + "\n";
}

}  // namespace

std::string manual_page() {
  std::string text = fmt::format(
      ".TH HONE 1 \"\" \"hone {}\" \"User Commands\"\n.SH NAME\nhone \\- makes an existing kernel faster, with "
      "evidence\n.SH SYNOPSIS\n.B hone\n.I COMMAND\n[ARGUMENTS] [FLAGS]\n",
      model::hone_version());
  text += section("DESCRIPTION") +
          roff(
              "hone moves a kernel of a GPU or CPU through three stages: profile says what limits it and how much is "
              "left, optimize tries variants behind gates, finalize applies the winner with the full verification "
              "and a report. 'hone run' is all three.") +
          "\n";
  text += section("COMMANDS");
  for (const CommandSpec& command : all_commands()) {
    text += item(command.argument.empty() ? command.name : command.name + " " + command.argument, command.description);
    text += ".br\nFlags: " + roff(base::join_text(command.flags, ", ")) + "\n";
  }
  text += section("FLAGS");
  for (const Flag& flag : all_flags()) text += item(spelled(flag), sentence(flag) + ".");
  text += section("EXIT STATUS");
  for (const ExitCode& code : exit_codes()) text += item(std::to_string(code.code), code.meaning + ".");
  text += ".PP\n" +
          roff(
              "A reader that closes the pipe, such as head, ends the output silently; the status is that of "
              "the command.") +
          "\n";
  text += section("ENVIRONMENT");
  for (const Variable& variable : environment_variables()) text += item(variable.name, variable.help + ".");
  text += section("FILES");
  for (const Entry& file : kFiles) text += item(file.name, file.help);
  text += section("EXAMPLES");
  for (const CommandSpec& command : all_commands())
    for (const std::string& example : command.examples) text += ".PP\n.EX\n" + roff(example) + "\n.EE\n";
  return text;
}

}  // namespace hone::cli
