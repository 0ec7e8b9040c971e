// hone profile KERNEL
#include <iostream>

#include "cli/command.hpp"
#include "cli/documents.hpp"
#include "cli/terminal.hpp"
#include "render/terminal.hpp"
#include "stages/profile/profile.hpp"

namespace hone::cli {

int run_profile(const CommandContext& context) {
  auto opened = open_repository(context.machine, context.meant);
  if (!opened) return fail(context, opened.error());
  RenderedDocuments documents(context.machine.files, context.machine.processes);
  TerminalInteraction interaction(std::cin, context.err, context.meant.talk.interactive);
  TerminalProgress progress(context.err, context.machine.clock, context.meant.talk.interactive, context.meant.talk.verbose);
  stages::Ports ports{context.machine.files, context.machine.processes, documents, interaction, progress, interrupted()};
  stages::ProfileOptions options{context.meant.workspace, context.meant.command_line, context.meant.autonomous};
  auto outcome = stages::profile(*opened->repository, context.meant.request, options, ports);
  progress.finish();
  if (!outcome) return fail(context, outcome.error());
  if (context.meant.talk.json) {
    context.out << model::to_json(outcome->profile) << "\n";
    return 0;
  }
  context.out << render::profile_summary(outcome->profile, render::Style{context.meant.talk.color}) << "\nprofile   " << outcome->folder << "/profile.md\n";
  if (outcome->decision.ended || outcome->decision.choice == stages::Choice::accept)
    context.out << "next      " << outcome->decision.next_command << "\n";
  return 0;
}

}  // namespace hone::cli
