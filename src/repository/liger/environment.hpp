// What the machine and its python have for running a checkout, and the pre-flight checks made of it.
#pragma once

#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/process.hpp"
#include "base/result.hpp"
#include "repository/repository.hpp"

namespace hone::repository::liger {

struct PythonEnvironment {
  std::string problem;   // why nothing could be asked of python; empty where the rest is known
  bool stopped = false;  // the user stopped hone while python was asked: nothing is known of it
  std::string python, executable, torch, triton, pytest, transformers, cuda, cuda_error;
  std::string installed;  // the liger_kernel an `import` finds by itself; empty: none
  std::string imported;   // the one found with the checkout's own folder in front
  int cuda_devices = 0;
  std::vector<std::string> device_names;
};

// Runs hone_inspect.py of `scripts` with `python`; `source` is the checkout's import root. Never an error: what is wrong is in
// `problem`.
PythonEnvironment inspect_python(base::Processes& processes, const std::string& python, const std::string& scripts,
                                 const std::string& source);
PythonEnvironment parse_environment(const std::string& json);

struct GitState {
  std::string commit, branch;        // empty: no git repository, or no git
  std::vector<std::string> changed;  // paths of a dirty work tree, untracked ones left out
};
GitState git_state(base::Processes& processes, const std::string& root);

// How liger_kernel gets into python here: "import path of hone's own", "pip install -e", or another installation that hides it.
std::string import_route(const PythonEnvironment& environment, const std::string& root);

// The checks of the environment: python, torch, triton, GPU, liger_kernel, pytest, git. `device`: as asked.
std::vector<PreflightCheck> environment_checks(const PythonEnvironment& environment, const GitState& git,
                                               const std::string& root, const std::string& device);

}  // namespace hone::repository::liger
