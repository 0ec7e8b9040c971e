#include "cli/print_error.hpp"

#include <nlohmann/json.hpp>
#include <ostream>

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

}  // namespace

int print_error(const base::Error& error, bool json, std::ostream& out, std::ostream& err) {
  err << base::describe(error) << "\n";
  if (json)
    out << nlohmann::json{{"schema", "hone.error/1"},
                          {"kind", kind_word(error.kind)},
                          {"expected", error.expected},
                          {"found", error.found},
                          {"where", error.where},
                          {"to_do", error.remedy},
                          {"exit_code", base::exit_code(error.kind)}}
               .dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
        << "\n";
  return base::exit_code(error.kind);
}

}  // namespace hone::cli
