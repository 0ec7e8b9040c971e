// The ports of a stage, put together once for a command.
#pragma once

#include <memory>

#include "base/file_lock.hpp"
#include "cli/command.hpp"
#include "cli/documents.hpp"
#include "cli/terminal.hpp"
#include "render/terminal/terminal.hpp"
#include "stages/workspace.hpp"

namespace hone::cli {

class StageContext {
 public:
  explicit StageContext(const CommandContext& context);

  // Keeps others out of the command's workspace for as long as this lives: two runs would write into one journal.
  base::Result<void> claim_workspace(const CommandContext& context);

  // Names the stage in the progress: "optimize", and within `hone run` its place, "2/3".
  void begin(const CommandContext& context, const std::string& name, const char* place);

  const stages::Ports& ports() const { return ports_; }
  TerminalProgress& progress() { return progress_; }

 private:
  std::unique_ptr<base::FileLock> lock_;
  TerminalProgress progress_;
  RenderedDocuments documents_;
  TerminalInteraction interaction_;
  stages::Ports ports_;
};

// Refuses flags that ask for something else than the profile was taken for: optimize and finalize work on its request.
base::Result<void> check_flags(const Typed& typed, const model::Request& asked, const model::Request& profiled);

// Opens the workspace of the command's kernel, where one stands, and takes back an installation that a killed run left unverified; `recovered`
// tells whether there was one.
base::Result<stages::Workspace> open_workspace(const CommandContext& context, const stages::Ports& ports,
                                               bool* recovered = nullptr);

}  // namespace hone::cli
