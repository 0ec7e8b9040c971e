#include "cli/early_checks.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/text.hpp"
#include "cli/commit.hpp"
#include "repository/native/settings_store.hpp"
#include "stages/optimize/target_metric.hpp"

namespace hone::cli {

namespace {

base::Error no_proposer(const std::string& found) {
  return {base::ErrorKind::usage, "a program for --proposer", found, "--proposer",
          "correct its name, or give its path; docs and examples/proposer show what it must do"};
}

base::Error no_folder(const std::string& flag, const std::string& found, const std::string& path) {
  return {base::ErrorKind::preflight, "a folder for " + flag + ", or a path where one can be made", found, path,
          "choose another path, or move what stands there away"};
}

// The path itself where it is there, otherwise the nearest of the folders above it that is.
std::string nearest_existing(base::FileSystem& files, const std::string& path) {
  std::error_code failed;
  for (std::string at = files.absolute(path);; at = base::parent(at)) {
    const auto status = std::filesystem::symlink_status(at, failed);  // also a link that leads nowhere
    if (std::filesystem::exists(status) || at == base::parent(at)) return at;
  }
}

base::Result<void> check_folder(base::FileSystem& files, const std::string& flag, const std::string& path) {
  const std::string there = nearest_existing(files, path);
  if (files.is_directory(there)) return {};
  return no_folder(flag, files.exists(there) ? "a file, not a directory" : "a symbolic link that leads nowhere", there);
}

// Whether a file can be written there: some file systems tell it only when it is tried.
base::Result<void> check_writable(base::FileSystem& files, const std::string& flag, const std::string& path) {
  HONE_PROPAGATE(check_folder(files, flag, path));
  std::string probe = base::join(nearest_existing(files, path), ".hone-XXXXXX");
  if (::mkdtemp(probe.data()) == nullptr)
    return no_folder(flag, std::string("a folder that can not be written: ") + std::strerror(errno), path);
  ::rmdir(probe.c_str());
  return {};
}

}  // namespace

base::Result<void> check_folders(const Typed& typed, base::FileSystem& files) {
  for (const Flag& flag : all_flags())
    if (flag.kind == FlagKind::path && flag.offer == Offer::folders && typed.has(flag.name))
      HONE_PROPAGATE(check_folder(files, flag.name, typed.text(flag.name)));
  return {};
}

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
  const std::string& command = context.typed.command->name;
  if (context.meant.repository_directory.empty() && (command == "run" || command == "finalize")) {
    const std::string& named = context.meant.settings_directory;
    HONE_PROPAGATE(check_writable(context.machine.files, "--settings",
                                  named.empty() ? repository::native::SettingsStore::default_directory() : named));
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
