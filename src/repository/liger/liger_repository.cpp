#include "repository/liger/liger_repository.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/regular_file.hpp"
#include "base/text.hpp"
#include "diagnose/source_advice/advice.hpp"
#include "repository/liger/operators.hpp"
#include "repository/liger/records.hpp"
#include "repository/python/python_session.hpp"
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

// The option of every operation that bounds the time of the checkout's own benchmark script.
constexpr const char* kBenchmarkSeconds = "benchmark_seconds";
constexpr std::int64_t kBenchmark_s = 75;

// "src/liger_kernel/ops/experimental/embedding.py" -> "liger_kernel.ops.experimental.embedding".
std::string module_of(std::string relative) {
  if (base::starts_with(relative, "src/")) relative.erase(0, 4);
  if (relative.size() > 3) relative.erase(relative.size() - 3);
  std::replace(relative.begin(), relative.end(), '/', '.');
  return relative;
}

model::Identity identity_of(const model::AuditedOp& op, const std::string& relative, const GitState& git) {
  model::Identity identity;
  const model::Preflight& preflight = op.preflight;
  const std::string owner = kernel_owner(op);
  identity.kernel = op.op;
  identity.repository = "liger";
  identity.source_file = {relative, true,
                          owner.empty() ? (git.commit.empty() ? "" : "at commit " + git.commit.substr(0, 12)) : owner};
  identity.benchmark_script = {preflight.benchmark_script, preflight.benchmark_exists,
                               preflight.benchmark_exists ? "" : "the checkout has none"};
  identity.test_file = {preflight.test_file, preflight.test_exists,
                        preflight.test_exists ? "" : "the checkout has none"};
  identity.tier = op.tier;
  identity.tier_description = op.tier_reason;
  return identity;
}

// The operation for the engine, without its text.
python::OperatorSource source_of(const model::AuditedOp& op, const std::string& root, const GitState& git) {
  python::OperatorSource source;
  source.description = find_operator(op.op);
  source.audited = op;
  source.hash_scheme = "hone.liger/1";
  source.provider = "liger";
  source.place = "the checkout";
  source.root = root;
  source.import_root = kImportRoot;
  source.package = kPackage;
  source.path = base::join(root, op.files.front().path);
  source.relative = shown(source.path, root);
  source.module = module_of(source.relative);
  source.identity = identity_of(op, source.relative, git);
  if (op.preflight.test_exists) source.test_file = op.preflight.test_file;
  source.judges = {op.preflight.test_file, "test/utils.py", "test/conftest.py", op.preflight.benchmark_script};
  source.style_configuration = "pyproject.toml";
  source.more_options = {kBenchmarkSeconds};
  if (!source.description) source.more_options.push_back(kTokens);
  source.problems = source_problems(op, root);
  return source;
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

base::Result<std::unique_ptr<LigerRepository>> LigerRepository::open_checkout(python::Context context,
                                                                              std::string root) {
  if (!operators()) return operators().error();
  while (root.size() > 1 && root.back() == '/') root.pop_back();
  if (!source::checkout_at(context.files, root))
    return usage("the root of a Liger-Kernel checkout, with src/liger_kernel/ops below it",
                 context.files.exists(root) ? "another folder" : "nothing of that name", root,
                 "name the folder that 'git clone' made; without --repo the built-in kernels are used");
  root = context.files.canonical(root);
  HONE_TRY(audit, source::audit_paths(context.files, {root}));
  diagnose::advise(*audit);
  return std::unique_ptr<LigerRepository>(new LigerRepository(std::move(context), std::move(root), std::move(*audit)));
}

std::vector<KernelEntry> LigerRepository::list() const {
  std::vector<KernelEntry> entries;
  for (const model::AuditedOp& op : audit_.kernels) {
    const auto description = find_operator(op.op);
    std::string text = op.files.empty() ? "" : shown(op.files.front().path, root_);
    if (const std::string owner = kernel_owner(op); !owner.empty())
      text += "; " + owner;
    else
      text += fmt::format("; {} kernels, {} launches", op.jit_kernels.size(), op.launches.size());
    if (!description) text += "; read and tested, not measured: hone does not know how to build its inputs";
    entries.push_back({op.op, text, op.tier, description ? description->modes() : std::vector<std::string>{},
                       description ? std::vector<std::string>{"bf16", "fp32", "fp16"} : std::vector<std::string>{}});
  }
  return entries;
}

base::Result<const model::AuditedOp*> LigerRepository::find(const std::string& kernel) const {
  std::vector<std::string> names;
  for (const model::AuditedOp& op : audit_.kernels) {
    if (op.op == kernel) return &op;
    names.push_back(op.op);
  }
  for (const model::SourceProblem& problem : audit_.problems)
    if (base::file_name(problem.file) == kernel + ".py")
      return base::Error{base::ErrorKind::preflight, "the source of " + kernel, problem.what,
                         shown(problem.file, root_),
                         "check that it is the operation's Python, as 'git status' shows it"};
  const auto near = base::nearest(kernel, names);
  return usage("an operation of this checkout", "'" + kernel + "'", "KERNEL",
               (near.empty() ? "choose one of: " + base::join_text(names, ", ")
                             : "did you mean " + base::join_text(near, " or ") + "?") +
                   " ('hone list --repo " + root_ + "' shows them all)");
}

const python::PythonEnvironment& LigerRepository::environment() {
  if (!environment_) environment_ = python::inspect_python(context_, base::join(root_, kImportRoot), kPackage);
  return *environment_;
}

const GitState& LigerRepository::git() {
  if (!git_) git_ = git_state(context_.processes, root_);
  return *git_;
}

std::vector<PreflightCheck> LigerRepository::preflight(const model::Request& request) {
  std::vector<PreflightCheck> checks;
  auto op = find(request.kernel);
  if (!op && op.error().kind == base::ErrorKind::preflight)
    return {{"operation's source", op.error().where + ": " + op.error().found, op.error().remedy, false, true}};
  if (!op) return {{"operation", "not found", op.error().remedy, false, true}};
  const std::string file = (*op)->files.empty() ? "" : (*op)->files.front().path;
  checks.push_back({"operation's file", shown(file, root_), "", true, true});
  // Every operation launches something or has an autograd function: a file without either is broken, or is none.
  if ((*op)->jit_kernels.empty() && (*op)->launches.empty() && (*op)->indirect_launches.empty() &&
      (*op)->autograd_functions.empty())
    checks.push_back({"operation's source", "no kernel, no launch and no autograd function could be read from it",
                      "check that " + shown(file, root_) + " is the operation's Python, as 'git status' shows it",
                      false, true});
  for (const std::string& problem : source_problems(**op, root_))
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
    checks.push_back({"inputs", "hone does not know how to build inputs for " + request.kernel,
                      "its source is profiled; to have it measured, describe it (docs/operators.md)", false, false});
  for (PreflightCheck& check : checkout_checks(environment(), git(), root_, context_.device))
    checks.push_back(std::move(check));
  return checks;
}

base::Result<std::unique_ptr<Session>> LigerRepository::open(const model::Request& request) {
  HONE_TRY(op, find(request.kernel));
  if (environment().stopped)
    return base::Error{base::ErrorKind::interrupted, "python to say what it has", "stopped by the user",
                       context_.python, "give the command again"};
  if ((*op)->files.empty()) return usage("a file of the operation", "none", (*op)->op, "name another operation");
  python::OperatorSource source = source_of(**op, root_, git());
  HONE_TRY(text, base::read_regular(context_.files, source.path));
  source.text = std::move(*text);
  std::int64_t longest_s = kBenchmark_s;
  if (const auto given = request.options.find(kBenchmarkSeconds); given != request.options.end()) {
    HONE_TRY(seconds, python::parse_size(given->second, std::string("--option ") + kBenchmarkSeconds));
    longest_s = *seconds;
  }
  return python::PythonSession::open(
      context_, std::move(source), environment(), request,
      std::make_unique<CheckoutRecords>(context_, root_, **op, environment(), git(), longest_s));
}

}  // namespace hone::repository::liger
