#include "repository/liger/liger_repository.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "repository/liger/liger_session.hpp"
#include "repository/liger/operators.hpp"
#include "repository/liger/scripts.hpp"
#include "source/audit.hpp"
#include "source/checkout.hpp"

namespace hone::repository::liger {

namespace {

base::Error usage(std::string expected, std::string found, std::string where, std::string remedy) {
  return {base::ErrorKind::usage, std::move(expected), std::move(found), std::move(where), std::move(remedy)};
}

std::string shown(const std::string& path, const std::string& root) {
  return base::starts_with(path, root + "/") ? path.substr(root.size() + 1) : path;
}

}  // namespace

std::string kernel_owner(const model::AuditedOp& op) {
  if (!op.launches.empty()) return "";
  std::set<std::string> files;
  for (const model::IndirectLaunch& launch : op.indirect_launches) files.insert(base::file_name(launch.callee_file));
  if (files.empty()) return "no Triton kernel is launched from it";
  return "no kernel of its own: it runs those of " + base::join_text({files.begin(), files.end()}, ", ");
}

std::vector<std::string> source_problems(const model::AuditedOp& op, const std::string& root) {
  std::vector<std::string> problems;
  for (const model::SourceProblem& problem : op.problems)
    problems.push_back(fmt::format("{}:{}: {}", shown(problem.file, root), problem.line, problem.what));
  return problems;
}

base::Result<std::unique_ptr<LigerRepository>> LigerRepository::open_checkout(LigerContext context) {
  while (context.root.size() > 1 && context.root.back() == '/') context.root.pop_back();
  if (!source::checkout_at(context.files, context.root))
    return usage("the root of a Liger-Kernel checkout, with src/liger_kernel/ops below it",
                 context.files.exists(context.root) ? "another folder" : "nothing of that name", context.root,
                 "name the folder that 'git clone' made; without --repo the built-in kernels are used");
  context.root = context.files.canonical(context.root);
  auto audit = source::audit_paths(context.files, {context.root});
  if (!audit) return audit.error();
  return std::unique_ptr<LigerRepository>(new LigerRepository(std::move(context), std::move(*audit)));
}

std::vector<KernelEntry> LigerRepository::list() const {
  std::vector<KernelEntry> entries;
  for (const model::AuditedOp& op : audit_.kernels) {
    const OperatorFacts* facts = find_operator(op.op);
    std::string description = op.files.empty() ? "" : shown(op.files.front().path, context_.root);
    if (const std::string owner = kernel_owner(op); !owner.empty())
      description += "; " + owner;
    else
      description += fmt::format("; {} kernels, {} launches", op.jit_kernels.size(), op.launches.size());
    if (!facts) description += "; read and tested, not measured: hone does not know how to build its inputs";
    entries.push_back({op.op, description, op.tier, facts ? facts->modes : std::vector<std::string>{},
                       facts ? std::vector<std::string>{"bf16", "fp32", "fp16"} : std::vector<std::string>{}});
  }
  return entries;
}

base::Result<const model::AuditedOp*> LigerRepository::find(const std::string& kernel) const {
  std::vector<std::string> names;
  for (const model::AuditedOp& op : audit_.kernels) {
    if (op.op == kernel) return &op;
    names.push_back(op.op);
  }
  const auto near = base::nearest(kernel, names);
  return usage("an operation of this checkout", "'" + kernel + "'", "KERNEL",
               (near.empty() ? "choose one of: " + base::join_text(names, ", ")
                             : "did you mean " + base::join_text(near, " or ") + "?") +
                   " ('hone list --repo " + context_.root + "' shows them all)");
}

const PythonEnvironment& LigerRepository::environment() {
  if (!environment_) {
    const std::string folder = base::join(context_.scratch, "worker");
    if (auto unpacked = unpack_scripts(context_.files, folder); !unpacked) {
      environment_ = PythonEnvironment{};
      environment_->problem = "the worker's scripts could not be written: " + unpacked.error().found;
    } else {
      environment_ = inspect_python(context_.processes, context_.python, folder, base::join(context_.root, "src"));
    }
  }
  return *environment_;
}

std::vector<PreflightCheck> LigerRepository::preflight(const model::Request& request) {
  std::vector<PreflightCheck> checks;
  auto op = find(request.kernel);
  if (!op) return {{"operation", "not found", op.error().remedy, false, true}};
  const std::string file = (*op)->files.empty() ? "" : (*op)->files.front().path;
  checks.push_back({"operation's file", shown(file, context_.root), "", true, true});
  // Every operation launches something or has an autograd function: a file without either is broken, or is none.
  if ((*op)->jit_kernels.empty() && (*op)->launches.empty() && (*op)->indirect_launches.empty() &&
      (*op)->autograd_functions.empty())
    checks.push_back(
        {"operation's source", "no kernel, no launch and no autograd function could be read from it",
         "check that " + shown(file, context_.root) + " is the operation's Python, as 'git status' shows it", false,
         true});
  for (const std::string& problem : source_problems(**op, context_.root))
    checks.push_back({"operation's source", problem,
                      "python can not import it as it stands; correct it before anything is measured", false, false});
  const model::Preflight& found = (*op)->preflight;
  checks.push_back(
      {"benchmark script", found.benchmark_exists ? found.benchmark_script : "no " + found.benchmark_script,
       found.benchmark_exists ? ""
                              : "without it there is no baseline of the repository's own; hone's protocol stands alone",
       found.benchmark_exists, false});
  checks.push_back({"test file", found.test_exists ? found.test_file : "no " + found.test_file,
                    found.test_exists ? ""
                                      : "write " + found.test_file +
                                            ": a variant can not be installed without the operation's own tests",
                    found.test_exists, false});
  if (const std::string owner = kernel_owner(**op); !owner.empty())
    checks.push_back({"kernels", owner, "profile the operation that owns them", false, false});
  if (!find_operator(request.kernel))
    checks.push_back(
        {"inputs", "hone does not know how to build inputs for " + request.kernel,
         "its source is profiled; to have it measured, add its adapter (docs/liger.md names the two tables)", false,
         false});
  if (!git_) git_ = git_state(context_.processes, context_.root);
  for (PreflightCheck& check : environment_checks(environment(), *git_, context_.root, context_.device))
    checks.push_back(std::move(check));
  return checks;
}

base::Result<std::unique_ptr<Session>> LigerRepository::open(const model::Request& request) {
  auto op = find(request.kernel);
  if (!op) return op.error();
  if (!git_) git_ = git_state(context_.processes, context_.root);
  if (environment().stopped)
    return base::Error{base::ErrorKind::interrupted, "python to say what it has", "stopped by the user",
                       context_.python, "give the command again"};
  return LigerSession::open(context_, **op, environment(), *git_, request);
}

}  // namespace hone::repository::liger
