// Stage 1: fills in the optimization profile of one kernel on one device. Every number is measured here or says where it is from.
#pragma once

#include <string>

#include "base/result.hpp"
#include "model/profile.hpp"
#include "repository/repository.hpp"
#include "stages/checkpoint.hpp"
#include "stages/ports.hpp"
#include "stages/workspace.hpp"

namespace hone::stages {

struct ProfileOptions : Asking {
  std::string workspace_root = "optimization";
  std::string command;  // as typed, for the head of the document
};

struct ProfileOutcome {
  model::Profile profile;
  std::string folder;
  Decision decision;
  std::string unmeasurable;  // why optimize can do nothing with it here; empty where it can
};

// Errors: usage (kernel, dtype, sizes), preflight (device, compiler, workspace), untrusted (samples that can not be used),
// interrupted. profile.json and profile.md are written last, together; an error before that leaves an older profile as it was.
base::Result<ProfileOutcome> profile(repository::Repository& repository, const model::Request& request,
                                     const ProfileOptions& options, const Ports& ports);

}  // namespace hone::stages
