// Stage 1: fills in the optimization profile of one kernel on one device. Every number is measured here or says where it is from.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/profile.hpp"
#include "repository/counted.hpp"
#include "repository/described.hpp"
#include "repository/preflight_check.hpp"
#include "repository/timed.hpp"
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

// `checks`: the repository's pre-flight of `request`, which `kernel` was opened with. Errors: preflight (a required check that did
// not pass, workspace), untrusted (samples that can not be used), interrupted. profile.json and profile.md are written last,
// together; an error before that leaves an older profile as it was.
base::Result<ProfileOutcome> profile(repository::Described& kernel, repository::Timed& timed,
                                     repository::Counted& counted,
                                     const std::vector<repository::PreflightCheck>& checks,
                                     const model::Request& request, const ProfileOptions& options, const Ports& ports);

}  // namespace hone::stages
