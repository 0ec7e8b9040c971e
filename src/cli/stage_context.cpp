#include "cli/stage_context.hpp"

#include <poll.h>
#include <unistd.h>

#include <iostream>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "stages/finalize/finalize.hpp"

namespace hone::cli {

namespace {

// Ctrl-C does not end a read: the system goes on with it.
bool answer_or_interrupt() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  while (!interrupted())
    if (::poll(&input, 1, 100) > 0) return !interrupted();
  return false;
}

bool is_run(const CommandContext& context) {
  return context.typed.command != nullptr && context.typed.command->name == "run";
}

}  // namespace

StageContext::StageContext(const CommandContext& context)
    : progress_(context.notes, context.machine.clock, context.meant.talk.live, context.meant.talk.verbose,
                context.style().width),
      documents_(context.machine.lasting, context.people(), is_run(context) ? context.people() : context.notes,
                 context.style(), [this] { progress_.finish(); }),
      interaction_(std::cin, context.err, context.meant.talk.interactive, answer_or_interrupt, context.style()),
      ports_{context.machine.files, context.machine.processes, documents_, interaction_, progress_, interrupted(),
             &unverified()} {}

void StageContext::begin(const CommandContext& context, const std::string& name, const char* place) {
  progress_.stage(name + (is_run(context) ? std::string(" ") + place : ""));
}

base::Result<void> StageContext::claim_workspace(const CommandContext& context) {
  base::FileSystem& files = context.machine.files;
  HONE_TRY(lock,
           base::FileLock::claim(files.absolute(base::join(context.meant.workspace, context.meant.request.kernel))));
  lock_ = std::move(*lock);
  return {};
}

base::Result<void> check_flags(const Typed& typed, const model::Request& asked, const model::Request& profiled) {
  // One command for all stages has taken the profile for its own flags.
  if (typed.command != nullptr && typed.command->name == "run") return {};
  const auto differ = [&](const char* flag, const std::string& wanted, const std::string& had) -> base::Result<void> {
    if (!typed.given(flag) || wanted == had) return {};
    return base::Error{base::ErrorKind::usage, fmt::format("{} {}, as the profile was taken for", flag, had),
                       fmt::format("{} {}", flag, wanted), "command line",
                       "leave it out, or profile again with it: 'hone profile " + profiled.kernel + "'"};
  };
  const auto joined = [](const std::vector<std::string>& values) {  // whatever their order
    const std::set<std::string> distinct(values.begin(), values.end());
    return base::join_text({distinct.begin(), distinct.end()}, ",");
  };
  for (const auto& checked :
       {differ("--dtype", asked.dtype, profiled.dtype), differ("--sizes", joined(asked.sizes), joined(profiled.sizes)),
        differ("--goal", asked.goal, profiled.goal), differ("--scope", asked.scope, profiled.scope),
        differ("--target-gpu", asked.target_gpu, profiled.target_gpu),
        differ("--seed", std::to_string(asked.seed), std::to_string(profiled.seed)),
        differ("--quick", asked.quick ? "given" : "not given", profiled.quick ? "given" : "not given")})
    if (!checked) return checked;
  for (const auto& [name, value] : asked.options) {
    const auto had = profiled.options.find(name);
    const std::string before = name + "=" + (had == profiled.options.end() ? "(not given)" : had->second);
    if (auto checked = differ("--option", name + "=" + value, before); !checked) return checked;
  }
  return {};
}

base::Result<stages::Workspace> open_workspace(const CommandContext& context, const stages::Ports& ports,
                                               bool* recovered_one) {
  const Meant& meant = context.meant;
  const std::string folder = base::join(meant.workspace, meant.request.kernel);
  // A name that does not exist is the user's mistake: nothing is made for it. What a folder stands for has been profiled.
  if (const bool there = ports.files.exists(folder); !there || meant.repository_directory.empty()) {
    HONE_PROPAGATE(check_kernel(context.machine, meant));
    if (!there)
      return base::Error{base::ErrorKind::preflight, "profile.json in the workspace", "no such folder", folder,
                         "'hone profile " + meant.request.kernel + "' makes it"};
  }
  HONE_TRY(workspace, stages::Workspace::open(ports.files, meant.workspace, meant.request.kernel));
  HONE_TRY(recovered, stages::recover_installation(*workspace, context.machine.clock));
  if (*recovered) ports.progress.message("note: " + **recovered);
  if (recovered_one != nullptr) *recovered_one = recovered->has_value();
  return workspace;
}

}  // namespace hone::cli
