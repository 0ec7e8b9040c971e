#include "cli/print_error.hpp"

#include <algorithm>
#include <ostream>
#include <string>

#include <fmt/format.h>

#include "model/json_value.hpp"

namespace hone::cli {

namespace {

const char* kind_word(base::ErrorKind kind) {
  switch (kind) {
    case base::ErrorKind::internal: return "internal";
    case base::ErrorKind::usage: return "usage";
    case base::ErrorKind::preflight: return "preflight";
    case base::ErrorKind::untrusted: return "untrusted";
    case base::ErrorKind::gate: return "gate";
    case base::ErrorKind::interrupted: return "interrupted";
  }
  return "internal";
}

// Characters, not bytes: what a message quotes from files and the command line may have any length.
constexpr std::size_t kLongestWord = 400, kLongestText = 4000;

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

// Head and tail of a text of more than `longest` characters, with the count of those between them.
std::string shortened(const std::string& text, std::size_t longest) {
  const auto characters = static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
  if (characters <= longest) return text;
  const std::size_t head = longest / 2, tail = longest / 4;
  std::string shown_head, shown_tail;
  std::size_t count = 0;
  for (const char byte : text) {
    count += begins_character(byte) ? 1 : 0;
    if (count <= head) shown_head += byte;
    if (count > characters - tail) shown_tail += byte;
  }
  return fmt::format("{}...({} characters left out)...{}", shown_head, characters - head - tail, shown_tail);
}

// Each long word, and after that the text as a whole.
std::string within_a_screen(const std::string& text) {
  constexpr const char* kSpace = " \n\t";
  std::string words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(kSpace, at), text.size());
    const std::size_t next = std::min(text.find_first_not_of(kSpace, end), text.size());
    words += shortened(text.substr(at, end - at), kLongestWord) + text.substr(end, next - end);
    at = next;
  }
  return shortened(words, kLongestText);
}

}  // namespace

int print_error(const base::Error& whole, bool json, std::ostream& out, std::ostream& err) {
  const base::Error error{whole.kind, within_a_screen(whole.expected), within_a_screen(whole.found),
                          within_a_screen(whole.where), within_a_screen(whole.remedy)};
  err << base::describe(error) << "\n";
  if (json)
    out << model::Json::object({{"schema", "hone.error/1"},
                                {"kind", kind_word(error.kind)},
                                {"expected", error.expected},
                                {"found", error.found},
                                {"where", error.where},
                                {"to_do", error.remedy},
                                {"exit_code", base::exit_code(error.kind)}})
               .dump_plain(2)
        << "\n";
  return base::exit_code(error.kind);
}

}  // namespace hone::cli
