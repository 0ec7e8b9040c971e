// The manifest's own test command, run on a copy of its folder with the changed files in place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/process.hpp"
#include "repository/launch/operation.hpp"
#include "repository/manifest/manifest.hpp"

namespace hone::repository::manifest {

// The number of tests that a test program's output speaks of: CTest, GoogleTest, pytest, unittest, TAP, Catch2, cargo.
// Nothing where it does not say.
std::optional<int> tests_in(const std::string& output);

// Exit status 0 passes, everything else and the time limit fail, and so does an output that says that no test was run. The
// folder itself is not touched. Errors: the folder can not be copied, an interrupt.
base::Result<launch::OwnTests> run_test_command(base::FileSystem& files, base::Processes* processes,
                                                const Manifest& manifest, const std::vector<FileChange>& changes);

}  // namespace hone::repository::manifest
