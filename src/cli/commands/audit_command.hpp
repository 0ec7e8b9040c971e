// `hone audit PATH...`: prints the facts read from source, as a table for people or as the JSON document.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "render/terminal/style.hpp"

namespace hone::cli {

struct AuditOptions {
  std::vector<std::string> paths;
  bool json = false;             // the document hone.audit/1 on `out`, nothing else there
  bool verbose = false;          // the table lists loops, reductions and hints of each kernel too
  std::vector<long long> sizes;  // row lengths to show masked lanes for; empty: the usual ones
  render::Style style = {};
};

// Returns the exit code: 0 when every path was audited, even if a file has syntax errors (they are reported); otherwise
// that of the error, which is printed to `err`.
int run_audit(const AuditOptions& options, base::FileSystem& files, std::ostream& out, std::ostream& err);

// On the machine's files.
int run_audit(const AuditOptions& options, std::ostream& out, std::ostream& err);

}  // namespace hone::cli
