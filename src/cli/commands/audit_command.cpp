#include "cli/commands/audit_command.hpp"

#include "cli/print_error.hpp"
#include "diagnose/source_advice/advice.hpp"
#include "model/source_facts.hpp"
#include "render/terminal/audit_table.hpp"
#include "source/audit.hpp"

namespace hone::cli {

int run_audit(const AuditOptions& options, base::FileSystem& files, std::ostream& out, std::ostream& err) {
  auto audit = source::audit_paths(files, options.paths);
  if (!audit) return print_error(audit.error(), options.json, out, err);
  diagnose::advise(*audit, options.sizes);
  if (options.json) {
    out << model::to_json(*audit) << '\n';
  } else {
    out << render::audit_table(*audit, {options.verbose, options.style.width});
  }
  for (const model::SourceProblem& problem : audit->problems) {
    const std::string place = problem.line > 0 ? ":" + std::to_string(problem.line) : "";
    err << render::printable(problem.file + place + ": " + problem.what) << '\n';
  }
  // Only problems: nothing was audited. Whether the text was written is looked at once for all commands, in application.cpp.
  return audit->kernels.empty() ? base::exit_code(base::ErrorKind::usage) : 0;
}

int run_audit(const AuditOptions& options, std::ostream& out, std::ostream& err) {
  base::SystemFiles files;
  return run_audit(options, files, out, err);
}

}  // namespace hone::cli
