// The commit of an applied winner in the checkout it belongs to, on a branch of its own, and its pull request where asked.
#pragma once

#include <string>

#include "base/process.hpp"
#include "base/result.hpp"
#include "model/report.hpp"

namespace hone::cli {

struct CommitRequest {
  std::string root;         // of the checkout
  bool push = false;        // also push and open a pull request, which needs gh
  std::string description;  // path of pr.md, the pull request's text
};

// Whether there is what a commit needs, gh included where it is asked for; changes nothing.
base::Result<void> check_commit(base::Processes& processes, const CommitRequest& request);

// Commits the report's changed files and nothing else; says branch and commit. Errors: no git repository, the branch exists, what
// git or gh said. The work tree keeps the change either way.
base::Result<std::string> commit_change(base::Processes& processes, const model::Report& report,
                                        const CommitRequest& request);

// Title and body by the form the repository uses.
std::string commit_title(const model::Report& report);
std::string commit_body(const model::Report& report);

}  // namespace hone::cli
