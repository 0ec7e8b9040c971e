#include "cli/suggested_commands.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace hone::cli {

namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

std::string word_at(const std::string& text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_word(text[end])) ++end;
  while (end > at && text[end - 1] == '.') --end;  // of a sentence
  return text.substr(at, end - at);
}

// Commands that go on with the work of this one. 'hone doctor' and the like look at the machine, not at the work.
bool goes_on(const CommandSpec& command) {
  return command.offer == Offer::kernels || command.name == "list" || command.name == "history";
}

std::string typed_again(const Typed& typed, const Flag& flag) {
  std::string text;
  const std::vector<std::string>& values = typed.values.at(flag.name);
  if (flag.kind == FlagKind::boolean) return " " + flag.name + (values.empty() ? "" : "=" + values.front());
  if (flag.kind == FlagKind::list || flag.kind == FlagKind::sizes)
    return " " + flag.name + " " + quoted(base::join_text(values, ","));
  if (flag.kind == FlagKind::pair) {
    for (const std::string& value : values) text += " " + flag.name + " " + quoted(value);
    return text;
  }
  return " " + flag.name + " " + quoted(values.back());
}

std::string carried(const Typed& typed, const CommandSpec& next, const std::string& already) {
  const bool profiles = next.name == "profile" || next.name == "run";
  std::string text;
  for (const std::string& name : next.flags) {
    const Flag& flag = *find_flag(name);
    const bool needed = flag.place || (flag.request && profiles);
    if (needed && typed.given(name) && already.find(name) == std::string::npos) text += typed_again(typed, flag);
  }
  return text;
}

}  // namespace

std::string carried_flags(const Typed& typed, const CommandSpec& next) { return carried(typed, next, ""); }

std::string suggested(const Typed& typed, const std::string& command, const std::string& kernel) {
  return "hone " + command + " " + quoted(kernel) + carried_flags(typed, *find_command(command));
}

std::string completed(const std::string& text, const Typed& typed, const std::string& kernel) {
  constexpr std::string_view kHone = "hone ";
  std::string made;
  std::size_t done = 0;
  for (std::size_t at = text.find(kHone); at != std::string::npos; at = text.find(kHone, at + 1)) {
    if (at < done || (at > 0 && is_word(text[at - 1]))) continue;
    const std::string name = word_at(text, at + kHone.size());
    const CommandSpec* next = find_command(name);
    std::size_t end = at + kHone.size() + name.size();
    if (next == nullptr || !goes_on(*next)) continue;
    made += text.substr(done, end - done);
    if (next->offer == Offer::kernels) {
      const std::string argument = end < text.size() && text[end] == ' ' ? word_at(text, end + 1) : "";
      if (!argument.empty() && argument.front() != '-') {
        made += " " + (argument == "KERNEL" && !kernel.empty() ? kernel : argument);
        end += 1 + argument.size();
      } else if (!kernel.empty()) {
        made += " " + kernel;
      }
    }
    // Up to the quote the text is the command's own; without one, the command ends here.
    const std::size_t closing = text.find_first_of("'\n", end);
    const bool between_quotes = at > 0 && text[at - 1] == '\'' && closing != std::string::npos;
    const std::string rest = text.substr(end, closing - end);
    if (between_quotes) made += rest, end = closing;
    made += carried(typed, *next, rest);
    done = end;
  }
  return made + text.substr(done);
}

base::Error completed(base::Error error, const Typed& typed, const std::string& kernel) {
  error.remedy = completed(error.remedy, typed, kernel);
  return error;
}

}  // namespace hone::cli
