// What a command can refuse before it measures anything: what is asked of its later stages, too.
#pragma once

#include "base/result.hpp"
#include "cli/command.hpp"
#include "repository/described.hpp"

namespace hone::cli {

// Flags that name a folder, given or set by a configuration file: each is one, or can still become one.
base::Result<void> check_folders(const Typed& typed, base::FileSystem& files);

// Flags that need neither a device nor a workspace: --proposer, --commit and --push; and whether finalize will be able to write
// settings of a built-in kernel.
base::Result<void> check_flags_alone(const CommandContext& context);

// Flags that speak of the kernel's passes and sizes: --target-metric.
base::Result<void> check_against(const CommandContext& context, const repository::Described& session);

// Whether a program that --proposer's first word names is there; a command in a shell's own syntax is for the shell to judge.
base::Result<void> check_proposer(base::Processes& processes, base::FileSystem& files, const std::string& command);

}  // namespace hone::cli
