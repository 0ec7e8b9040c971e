// A checkout as git and python see it: its commit, how its package is imported, and the pre-flight checks made of both.
#pragma once

#include <string>
#include <vector>

#include "base/process.hpp"
#include "repository/python/environment.hpp"

namespace hone::repository::liger {

// What is imported of a checkout, from where.
inline constexpr const char *kPackage = "liger_kernel", *kImportRoot = "src";

struct GitState {
  std::string commit, branch;        // empty: no git repository, or no git
  std::vector<std::string> changed;  // paths of a dirty work tree, untracked ones left out
};
GitState git_state(base::Processes& processes, const std::string& root);

// How liger_kernel gets into python here: "import path of hone's own", "pip install -e", or another installation that hides it.
std::string import_route(const python::PythonEnvironment& environment, const std::string& root);

// Python and its packages, liger_kernel, git. `device`: as asked.
std::vector<PreflightCheck> checkout_checks(const python::PythonEnvironment& environment, const GitState& git,
                                            const std::string& root, const std::string& device);

}  // namespace hone::repository::liger
