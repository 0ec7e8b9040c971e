#include "base/error.hpp"

namespace hone::base {

namespace {

const char* headline(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::internal: return "internal error";
    case ErrorKind::usage: return "usage";
    case ErrorKind::preflight: return "pre-flight failed";
    case ErrorKind::untrusted: return "measurement not trustworthy";
    case ErrorKind::gate: return "gate failed";
    case ErrorKind::interrupted: return "interrupted";
  }
  return "error";
}

void append(std::string& text, const char* label, const std::string& value) {
  if (value.empty()) return;
  text += std::string("\n  ") + label;
  for (const char c : value) text += c == '\n' ? "\n            " : std::string(1, c);
}

}  // namespace

std::string describe(const Error& error) {
  std::string text = std::string("hone: ") + headline(error.kind);
  append(text, "expected  ", error.expected);
  append(text, "found     ", error.found);
  append(text, "where     ", error.where);
  append(text, "to do     ", error.remedy);
  return text;
}

int exit_code(ErrorKind kind) { return static_cast<int>(kind); }

}  // namespace hone::base
