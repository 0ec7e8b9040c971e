#include "repository/liger/environment.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace hone::repository::liger {

namespace {

std::string text(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

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

PythonEnvironment parse_environment(const std::string& json) {
  PythonEnvironment environment;
  const auto document = nlohmann::json::parse(json, nullptr, false);
  if (!document.is_object()) {
    environment.problem = "python3 answered what can not be read: " + json.substr(0, 200);
    return environment;
  }
  environment.python = text(document, "python");
  environment.executable = text(document, "executable");
  environment.torch = text(document, "torch");
  environment.triton = text(document, "triton");
  environment.pytest = text(document, "pytest");
  environment.transformers = text(document, "transformers");
  environment.cuda = text(document, "cuda");
  environment.cuda_error = text(document, "cuda_error");
  environment.installed = text(document, "installed");
  environment.imported = text(document, "imported");
  if (const auto count = document.find("cuda_devices"); count != document.end() && count->is_number())
    environment.cuda_devices = count->get<int>();
  if (const auto names = document.find("device_names"); names != document.end() && names->is_array())
    for (const auto& name : *names)
      if (name.is_string()) environment.device_names.push_back(name.get<std::string>());
  return environment;
}

PythonEnvironment inspect_python(base::Processes& processes, const std::string& python, const std::string& scripts,
                                 const std::string& source) {
  base::Command command;
  command.arguments = {python, base::join(scripts, "hone_inspect.py"), source};
  command.environment = {{"PYTHONDONTWRITEBYTECODE", "1"}};
  command.deadline_ms = 120'000;
  PythonEnvironment environment;
  auto outcome = processes.run(command);
  if (!outcome) {
    environment.problem = outcome.error().found;
    environment.stopped = outcome.error().kind == base::ErrorKind::interrupted;
  } else if (outcome->exit_status != 0 || outcome->timed_out) {
    const auto lines = base::split(base::trim(outcome->error), '\n');
    environment.problem = outcome->timed_out
                              ? "no answer within 120 s"
                              : "exit status " + std::to_string(outcome->exit_status) + ": " + lines.back();
  } else {
    return parse_environment(outcome->output);
  }
  return environment;
}

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

std::string import_route(const PythonEnvironment& environment, const std::string& root) {
  const std::string own = base::join(root, "src");
  if (environment.installed.empty()) return "import path of hone's own (liger_kernel is not installed in this python)";
  if (below(environment.installed, own)) return "pip install -e (an import of liger_kernel finds this checkout)";
  return "import path of hone's own, put before the other installation at " + environment.installed;
}

std::vector<PreflightCheck> environment_checks(const PythonEnvironment& environment, const GitState& git,
                                               const std::string& root, const std::string& device) {
  std::vector<PreflightCheck> checks;
  const bool interpreted = device == "cpu";
  auto add = [&](std::string name, std::string found, std::string remedy, bool passed, bool required) {
    checks.push_back({std::move(name), std::move(found), passed ? "" : std::move(remedy), passed, required});
  };
  const bool python = environment.problem.empty();
  add("python3", python ? environment.python + " at " + environment.executable : environment.problem,
      "install python3 and put it on PATH, or name one with HONE_PYTHON", python, false);
  add("torch", environment.torch.empty() ? "not installed in this python" : environment.torch, "pip install torch",
      !environment.torch.empty(), false);
  add("triton", environment.triton.empty() ? "not installed in this python" : environment.triton, "pip install triton",
      !environment.triton.empty(), false);
  add("pytest", environment.pytest.empty() ? "not installed in this python" : environment.pytest,
      "pip install pytest: the operator's own tests are a gate", !environment.pytest.empty(), false);
  const bool gpu = environment.cuda_devices > 0;
  std::string found = gpu ? base::join_text(environment.device_names, ", ") : "none that torch can use";
  if (!environment.cuda_error.empty()) found += " (" + environment.cuda_error + ")";
  if (!interpreted)
    add("GPU and CUDA", found,
        "run on a machine with an NVIDIA GPU, its driver, and a torch built for CUDA; without one there is the profile "
        "from source",
        gpu, false);
  const bool imported = below(environment.imported, base::join(root, "src"));
  if (python)
    add("liger_kernel of this checkout",
        imported ? import_route(environment, root)
                 : "an import finds " + (environment.imported.empty() ? "none" : environment.imported),
        "name the root of a Liger checkout with --repo", imported, true);
  if (!environment.installed.empty() && !below(environment.installed, base::join(root, "src")))
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
