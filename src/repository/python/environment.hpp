// What a machine's python has for running operators, and the pre-flight checks made of it.
#pragma once

#include <string>
#include <vector>

#include "base/process.hpp"
#include "repository/python/context.hpp"
#include "repository/repository.hpp"

namespace hone::repository::python {

struct PythonEnvironment {
  std::string problem;   // why nothing could be asked of python; empty where the rest is known
  bool stopped = false;  // the user stopped hone while python was asked: nothing is known of it
  std::string python, executable, torch, triton, pytest, transformers, cuda, cuda_error;
  std::string installed;  // the operator's package as an `import` finds it by itself; empty: none
  std::string imported;   // the one found with a given folder in front
  int cuda_devices = 0;
  std::vector<std::string> device_names;
};

// Asks the context's python by hone_inspect.py; `source` is the folder put in front of the import path. Never an error: what is
// wrong is in `problem`.
PythonEnvironment inspect_python(const Context& context, const std::string& source, const std::string& package);
PythonEnvironment parse_environment(const std::string& json);

// Why nothing can be timed with it on this device; empty where it can.
std::string obstacle(const PythonEnvironment& environment, const std::string& device);

// python3, torch, triton, pytest, and the GPU unless Triton's interpreter is asked for.
std::vector<PreflightCheck> environment_checks(const PythonEnvironment& environment, bool interpreted);

}  // namespace hone::repository::python
