#include "repository/liger/checkout.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace hone::repository::liger {

namespace {

bool below(const std::string& path, const std::string& folder) { return base::starts_with(path, folder + "/"); }

std::string output_of(base::Processes& processes, const std::string& root, std::vector<std::string> words) {
  base::Command command;
  command.arguments = {"git", "-C", root, "--no-optional-locks"};
  command.arguments.insert(command.arguments.end(), words.begin(), words.end());
  command.deadline_ms = 20'000;
  auto outcome = processes.run(command);
  return outcome && outcome->exit_status == 0 ? outcome->output : "";
}

}  // namespace

GitState git_state(base::Processes& processes, const std::string& root) {
  GitState state;
  state.commit = base::trim(output_of(processes, root, {"rev-parse", "HEAD"}));
  if (state.commit.empty()) return state;
  state.branch = base::trim(output_of(processes, root, {"rev-parse", "--abbrev-ref", "HEAD"}));
  for (const std::string& line :
       base::split(output_of(processes, root, {"status", "--porcelain", "--untracked-files=no"}), '\n'))
    if (line.size() > 3) state.changed.push_back(line.substr(3));
  return state;
}

std::string import_route(const python::PythonEnvironment& environment, const std::string& root) {
  const std::string own = base::join(root, kImportRoot);
  if (environment.installed.empty()) return "import path of hone's own (liger_kernel is not installed in this python)";
  if (below(environment.installed, own)) return "pip install -e (an import of liger_kernel finds this checkout)";
  return "import path of hone's own, put before the other installation at " + environment.installed;
}

std::vector<PreflightCheck> checkout_checks(const python::PythonEnvironment& environment, const GitState& git,
                                            const std::string& root, const std::string& device) {
  std::vector<PreflightCheck> checks = python::environment_checks(environment, device == "cpu");
  const auto add = [&](std::string name, std::string found, std::string remedy, bool passed, bool required) {
    checks.push_back({std::move(name), std::move(found), passed ? "" : std::move(remedy), passed, required});
  };
  const std::string own = base::join(root, kImportRoot);
  const bool imported = below(environment.imported, own);
  if (environment.problem.empty())
    add("liger_kernel of this checkout",
        imported ? import_route(environment, root)
                 : "an import finds " + (environment.imported.empty() ? "none" : environment.imported),
        "name the root of a Liger checkout with --repo", imported, true);
  if (!environment.installed.empty() && !below(environment.installed, own))
    add("another liger_kernel is installed", environment.installed,
        "hone puts the checkout first; for your own runs: pip install -e " + root, false, false);
  add("git commit",
      git.commit.empty() ? "no git repository"
                         : git.commit.substr(0, 12) + (git.branch.empty() ? "" : " on " + git.branch),
      "without git a change can not be committed, and reports name no commit", !git.commit.empty(), false);
  if (!git.commit.empty())
    add("clean work tree",
        git.changed.empty()
            ? "no tracked file differs from the commit"
            : fmt::format("{} changed: {}", git.changed.size(), base::join_text(git.changed, ", ").substr(0, 200)),
        "commit or stash; the operator's file as it stands is the original", git.changed.empty(), false);
  return checks;
}

}  // namespace hone::repository::liger
