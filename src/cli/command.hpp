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
  std::ostream& out;    // the result: text, or the one JSON document
  std::ostream& notes;  // progress and notes; nowhere with --quiet
  std::ostream& err;    // errors, and what makes a result doubtful

  const render::Style& style() const { return meant.talk.style; }
  // Where people read the result: beside a document, on the error stream.
  std::ostream& people() const { return meant.talk.json ? notes : out; }
};

// Prints the error (as a document too with --json) with commands that can be pasted, and returns its exit code.
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
int run_explain(const CommandContext& context);
int run_schema(const CommandContext& context);

}  // namespace hone::cli
