// What every command is given, and the list of commands.
#pragma once

#include <iosfwd>

#include "base/error.hpp"
#include "cli/composition.hpp"
#include "cli/options.hpp"
#include "cli/parse.hpp"

namespace hone::cli {

struct CommandContext {
  const Typed& typed;
  const Meant& meant;
  Machine& machine;
  std::ostream& out;  // the result: text, or the one JSON document
  std::ostream& err;  // progress, notes and errors
};

// Prints the error (as a document too with --json) and returns its exit code.
int fail(const CommandContext& context, const base::Error& error);

int run_doctor(const CommandContext& context);
int run_list(const CommandContext& context);
int run_profile(const CommandContext& context);
int run_optimize(const CommandContext& context);
int run_finalize(const CommandContext& context);
int run_all(const CommandContext& context);
int run_bench(const CommandContext& context);
int run_verify(const CommandContext& context);
int run_compare(const CommandContext& context);
int run_history(const CommandContext& context);

}  // namespace hone::cli
