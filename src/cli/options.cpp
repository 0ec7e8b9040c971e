#include "cli/options.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "cli/environment.hpp"

namespace hone::cli {

namespace {

constexpr int kLeastColumns = 60, kMostColumns = 400;

// An integer that has passed its flag's range.
template <class Integer>
Integer integer(const std::string& text) {
  Integer value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

int columns_of(int descriptor) {
  winsize size = {};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// A user's COLUMNS stands before what the terminal says, as with ls.
std::size_t width(int terminal_columns) {
  const int wanted = integer<int>(variable("COLUMNS"));
  const int columns = wanted > 0 ? wanted : terminal_columns;
  return columns > 0 ? static_cast<std::size_t>(std::clamp(columns, kLeastColumns, kMostColumns))
                     : render::Style{}.width;
}

// A flag stands before the variables, and NO_COLOR before CLICOLOR_FORCE (no-color.org, bixense.com/clicolors).
bool colored(const Typed& typed, bool terminal) {
  if (typed.has("--no-color")) return false;
  const std::string when = typed.text("--color"), force = variable("CLICOLOR_FORCE");
  if (when != "auto") return when == "always";
  if (!variable("NO_COLOR").empty()) return false;
  if (!force.empty() && force != "0") return true;
  return terminal && variable("TERM") != "dumb";
}

}  // namespace

Surroundings Surroundings::of_process() {
  return {::isatty(STDIN_FILENO) != 0, ::isatty(STDOUT_FILENO) != 0, ::isatty(STDERR_FILENO) != 0,
          columns_of(STDOUT_FILENO), columns_of(STDERR_FILENO)};
}

std::string quoted(const std::string& word) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:@%+";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  // Double quotes where they keep every character as it is: messages put commands between single ones.
  if (word.find_first_of("\"$`\\!\n") == std::string::npos) return '"' + word + '"';
  std::string out = "'";
  for (char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

Meant interpret(const Typed& typed, const std::vector<std::string>& words, const Surroundings& surroundings) {
  Meant meant;
  model::Request& request = meant.request;
  if (!typed.arguments.empty()) request.kernel = typed.arguments.front();
  request.dtype = typed.text("--dtype");
  request.sizes = typed.list("--sizes");
  request.goal = typed.text("--goal");
  request.scope = typed.text("--scope");
  request.target_gpu = typed.text("--target-gpu");
  request.quick = typed.has("--quick");
  for (const std::string& pair : typed.list("--option"))
    request.options[pair.substr(0, pair.find('='))] = pair.substr(pair.find('=') + 1);
  request.seed = integer<std::uint64_t>(typed.text("--seed"));
  meant.max_variants = integer<int>(typed.text("--max-variants"));

  meant.device = typed.text("--device");
  meant.workspace = typed.text("--workspace");
  meant.settings_directory = typed.text("--settings");
  meant.repository_directory = typed.text("--repo");
  meant.target_metric = typed.text("--target-metric");
  meant.proposer = typed.text("--proposer");
  meant.variant = typed.text("--variant");
  meant.autonomous = typed.has("--autonomous");
  meant.fresh = typed.has("--fresh");

  Talk& talk = meant.talk;
  talk.json = typed.has("--json");
  talk.quiet = typed.has("--quiet");
  talk.verbose = typed.has("--verbose");
  const bool terminal = talk.json ? surroundings.notes_terminal : surroundings.result_terminal;
  talk.style = {colored(typed, terminal), width(talk.json ? surroundings.notes_columns : surroundings.result_columns)};
  talk.interactive = surroundings.reads_terminal && surroundings.result_terminal && !talk.json;
  talk.live = surroundings.notes_terminal && variable("TERM") != "dumb";
  meant.command_line = "hone";
  for (const std::string& word : words) meant.command_line += " " + quoted(word);
  return meant;
}

}  // namespace hone::cli
