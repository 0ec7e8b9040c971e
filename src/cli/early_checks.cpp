#include "cli/early_checks.hpp"

#include <unistd.h>

#include "base/text.hpp"
#include "cli/commit.hpp"
#include "stages/optimize/target_metric.hpp"

namespace hone::cli {

namespace {

base::Error no_proposer(const std::string& found) {
  return {base::ErrorKind::usage, "a program for --proposer", found, "--proposer",
          "correct its name, or give its path; docs and examples/proposer show what it must do"};
}

}  // namespace

base::Result<void> check_proposer(base::Processes& processes, base::FileSystem& files, const std::string& command) {
  const std::string trimmed = base::trim(command);
  if (trimmed.empty()) return no_proposer("nothing but spaces");
  if (trimmed.find_first_of("'\"\\$`;&|<>(){}*?~#\n=") != std::string::npos) return {};
  const std::string word = trimmed.substr(0, trimmed.find_first_of(" \t"));
  if (word.find('/') == std::string::npos) {
    if (processes.find(word)) return {};
    return no_proposer("'" + word + "', which is not on PATH");
  }
  if (!files.exists(word)) return no_proposer("'" + word + "', which does not exist");
  if (files.is_directory(word)) return no_proposer("'" + word + "', which is a folder");
  if (::access(files.absolute(word).c_str(), X_OK) != 0)
    return no_proposer("'" + word + "', which is not executable (chmod +x makes it so)");
  return {};
}

base::Result<void> check_flags_alone(const CommandContext& context) {
  if (context.typed.has("--proposer")) {
    auto there = check_proposer(context.machine.processes, context.machine.files, context.meant.proposer);
    if (!there) return there;
  }
  const bool push = context.typed.has("--push");
  if (!push && !context.typed.has("--commit")) return {};
  if (context.meant.repository_directory.empty())
    return base::Error{base::ErrorKind::usage, "--repo with --commit or --push",
                       "the built-in kernels, whose settings are no files of a repository", "command line",
                       "leave them out"};
  return check_commit(context.machine.processes, {repository_folder(context.machine, context.meant), push, ""});
}

base::Result<void> check_against(const CommandContext& context, const repository::Described& session) {
  if (!context.typed.has("--target-metric")) return {};
  auto target =
      stages::parse_target_metric(context.meant.target_metric, session.modes(), session.x_name(), session.sizes());
  return target ? base::Result<void>() : base::Result<void>(target.error());
}

}  // namespace hone::cli
