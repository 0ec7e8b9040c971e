#include "repository/python/environment.hpp"

#include "base/text.hpp"
#include "repository/python/answer_fields.hpp"
#include "repository/python/scripts.hpp"

namespace hone::repository::python {

PythonEnvironment parse_environment(const std::string& json) {
  PythonEnvironment environment;
  const Json document = answer_in(json);
  if (document.members() == nullptr) {
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
  environment.cuda_devices = static_cast<int>(integer(document, "cuda_devices"));
  environment.device_names = texts(document, "device_names");
  return environment;
}

PythonEnvironment inspect_python(const Context& context, const std::string& source, const std::string& package) {
  PythonEnvironment environment;
  if (auto unpacked = unpack(context.files, scripts(), context.scripts()); !unpacked) {
    environment.problem = "the worker's scripts could not be written: " + unpacked.error().found;
    return environment;
  }
  base::Command command;
  command.arguments = {context.python, base::join(context.scripts(), "hone_inspect.py"), source, package};
  command.environment = {{"PYTHONDONTWRITEBYTECODE", "1"}};
  command.deadline_ms = 120'000;
  auto outcome = context.processes.run(command);
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

std::string obstacle(const PythonEnvironment& environment, const std::string& device) {
  if (!environment.problem.empty()) return "python3 can not be asked: " + environment.problem;
  for (const auto& [name, version] : {std::pair{"torch", environment.torch}, std::pair{"triton", environment.triton}})
    if (version.empty()) return std::string(name) + " is not installed in " + environment.executable;
  if (device == "cpu")
    return "on the CPU Triton's interpreter runs kernels: outputs can be checked, times mean nothing";
  if (environment.cuda_devices == 0) return "there is no GPU that torch can use here";
  return "";
}

std::vector<PreflightCheck> environment_checks(const PythonEnvironment& environment, bool interpreted) {
  std::vector<PreflightCheck> checks;
  const auto add = [&](std::string name, std::string found, std::string remedy, bool passed) {
    checks.push_back({std::move(name), std::move(found), passed ? "" : std::move(remedy), passed, false});
  };
  const bool python = environment.problem.empty();
  add("python3", python ? environment.python + " at " + environment.executable : environment.problem,
      "install python3 and put it on PATH, or name one with HONE_PYTHON", python);
  const auto add_package = [&](const char* name, const std::string& version, const char* why) {
    add(name, version.empty() ? "not installed in this python" : version, "pip install " + std::string(name) + why,
        !version.empty());
  };
  add_package("torch", environment.torch, "");
  add_package("triton", environment.triton, "");
  add_package("pytest", environment.pytest, ": the operator's own tests are a gate");
  if (interpreted) return checks;
  const bool gpu = environment.cuda_devices > 0;
  std::string found = gpu ? base::join_text(environment.device_names, ", ") : "none that torch can use";
  if (!environment.cuda_error.empty()) found += " (" + environment.cuda_error + ")";
  add("GPU and CUDA", found,
      "run on a machine with an NVIDIA GPU, its driver, and a torch built for CUDA; without one there is the profile "
      "from source",
      gpu);
  return checks;
}

}  // namespace hone::repository::python
