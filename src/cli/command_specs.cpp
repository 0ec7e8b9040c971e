// The table of commands; that of flags stands in flags.cpp.
#include "cli/flags.hpp"

namespace hone::cli {

namespace {

using Names = std::vector<std::string>;

Names joined(Names names, const Names& more) {
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

// What every command takes.
Names everywhere() { return {"--quiet", "--verbose", "--color", "--no-color", "--no-config", "--version", "--help"}; }

Names stage_flags(const Names& more) {
  return joined({"--repo", "--dtype", "--sizes", "--option", "--goal", "--scope", "--target-gpu", "--workspace",
                 "--settings", "--seed", "--quick", "--autonomous", "--device"},
                more);
}

std::vector<CommandSpec> specs() {
  return {
      {.name = "doctor",
       .summary = "what this machine has for hone, what is missing, and how to get it",
       .description = "Shows devices with their measured ceilings, compilers, profilers, Python packages and the "
                      "configuration files in force; for each missing part what you lose without it and how to get it.",
       .flags = {"--quick", "--device"},
       .examples = {"hone doctor", "hone doctor --json"}},
      {.name = "list",
       .summary = "the kernels of the repository in use",
       .description = "Lists every kernel with its tier, passes and dtypes.",
       .flags = {"--names", "--repo", "--device"},
       .examples = {"hone list", "hone list --repo hone.toml"}},
      {.name = "audit",
       .argument = "PATH...",
       .min_arguments = 1,
       .max_arguments = -1,
       .offer = Offer::files,
       .summary = "static audit of Triton, CUDA or C++ source; needs no GPU and no Python",
       .description = "Reads files, a folder or a whole Liger checkout and states facts with their lines: kernels, "
                      "launches, settings, tier, opportunities.",
       .flags = {"--sizes"},
       .examples = {"hone audit src/liger_kernel/ops/rms_norm.py", "hone audit row_softmax.cpp",
                    "hone audit ~/Liger-Kernel --json"}},
      {.name = "profile",
       .argument = "[KERNEL]",
       .max_arguments = 1,
       .offer = Offer::kernels,
       .summary = "stage 1: what limits a kernel, how much is left, what to do first",
       .description = "Measures a kernel against its baseline and the device's ceilings and writes profile.md and "
                      "profile.json.",
       .flags = stage_flags({}),
       .examples = {"hone profile rms_norm", "hone profile swiglu --dtype bf16 --sizes 4k,8k --autonomous"}},
      {.name = "optimize",
       .argument = "[KERNEL]",
       .max_arguments = 1,
       .offer = Offer::kernels,
       .summary = "stage 2: parameter sweep, then variants by diagnosis, each behind gates",
       .description = "Reads the profile of the workspace and tries variants; writes notes for each and comparison.md.",
       .flags = stage_flags({"--max-variants", "--target-metric", "--proposer"}),
       .examples = {"hone optimize rms_norm --autonomous"}},
      {.name = "finalize",
       .argument = "[KERNEL]",
       .max_arguments = 1,
       .offer = Offer::kernels,
       .summary = "stage 3: apply the winner behind the full verification, report",
       .description = "Applies the chosen variant, verifies it, compares original, optimized and baseline anew, and "
                      "writes report.md and pr.md.",
       .flags = stage_flags({"--variant", "--commit", "--push"}),
       .examples = {"hone finalize rms_norm", "hone finalize rms_norm --variant 2"}},
      {.name = "run",
       .argument = "[KERNEL]",
       .max_arguments = 1,
       .offer = Offer::kernels,
       .summary = "all stages, with a checkpoint after each",
       .description = "Profile, optimize and finalize one kernel, asking after each stage; without a terminal to ask "
                      "at, --autonomous is needed. What every stage is asked for is checked before the first measures. "
                      "A run that was stopped before its report goes on where it was; --fresh begins anew.",
       .flags = stage_flags({"--max-variants", "--target-metric", "--proposer", "--fresh", "--commit", "--push"}),
       .examples = {"hone run rms_norm --autonomous", "hone run --repo examples/manifest --autonomous"}},
      {.name = "bench",
       .argument = "[KERNEL...]",
       .max_arguments = -1,
       .offer = Offer::kernels,
       .summary = "time, bandwidth and share of the ceiling of kernels, beside other providers",
       .description = "Times every pass of the kernels at each size, interleaved with the providers named.",
       .flags = {"--repo", "--dtype", "--sizes", "--option", "--provider", "--workspace", "--settings", "--seed",
                 "--quick", "--device"},
       .examples = {"hone bench rms_norm swiglu", "hone bench rms_norm --dtype bf16 --json",
                    "hone bench --repo examples/manifest"}},
      {.name = "verify",
       .argument = "[KERNEL...]",
       .max_arguments = -1,
       .offer = Offer::kernels,
       .summary = "built-in kernels or a manifest's against double precision over shapes and dtypes",
       .description = "Runs odd, prime, single, empty, strided and large shapes with poisoned outputs and guard bands. "
                      "Exit code 5 where any case failed or none ran.",
       .flags = {"--repo", "--dtype", "--settings", "--seed", "--short", "--device"},
       .examples = {"hone verify rms_norm", "hone verify swiglu --dtype bf16 --json", "hone verify --repo hone.toml"}},
      {.name = "compare",
       .argument = "A B",
       .min_arguments = 2,
       .max_arguments = 2,
       .offer = Offer::files,
       .summary = "paired comparison of two variants, source files or commits",
       .description = "Compares two forms of one profiled kernel in one session. Each is FOLDER/vN; v0 or vN with "
                      "--kernel; a variant file (.json); another file, taken as the text of the kernel's main source; "
                      "or, with --repo and --kernel, a commit of the checkout, whose text of the operation's file is "
                      "taken. What is not in that file is as it stands now. The ratio is time of B over time of A.",
       .flags = stage_flags({"--kernel"}),
       .examples = {"hone compare optimization/rms_norm/v0 optimization/rms_norm/v1",
                    "hone compare old/rms_norm.hpp v0 --kernel rms_norm",
                    "hone compare v0.5.0 main --kernel rms_norm --repo ~/Liger-Kernel"}},
      {.name = "counters",
       .argument = "FILE",
       .min_arguments = 1,
       .max_arguments = 1,
       .offer = Offer::files,
       .summary = "a recorded Nsight Compute CSV: summary, class and evidence",
       .description = "Reads the details or the raw page, merges launches of one kernel, and classifies each.",
       .flags = {"--ceilings", "--svg"},
       .examples = {"hone counters capture.csv --ceilings profile.json", "hone counters capture.csv --svg pictures"}},
      {.name = "history",
       .argument = "[WHAT]",
       .max_arguments = 3,
       .words = {"list", "show", "compare", "regressions"},
       .summary = "measurements kept so far: list, show ID, compare ID ID, regressions",
       .description = "Reads what profile, optimize, finalize, bench and compare have left in the workspace's "
                      "history.sqlite3. Two runs that were measured apart are never a verdict: a regression is "
                      "suspected, and the command that settles it is printed.",
       .flags = {"--kernel", "--workspace"},
       .examples = {"hone history", "hone history show 3", "hone history compare 3 7",
                    "hone history regressions --kernel rms_norm"}},
      {.name = "explain",
       .argument = "[WORD]",
       .max_arguments = -1,
       .summary = "what a class, metric, strategy, verdict or other word means, with sources",
       .description = "Says what a word of a profile, comparison or report means, how hone decides or measures it, and "
                      "what to do. Names of Nsight Compute's metrics work as well. Without a word: the list.",
       .examples = {"hone explain latency-bound", "hone explain tail wave", "hone explain 'Achieved Occupancy'"}},
      {.name = "schema",
       .argument = "[NAME]",
       .max_arguments = 1,
       .summary = "the JSON Schema of a document, such as profile or compare",
       .description = "Prints the JSON Schema (draft 2020-12) of a document that hone writes to a file or prints with "
                      "--json. Without a name: the list.",
       .examples = {"hone schema", "hone schema profile"}},
      {.name = "completions",
       .argument = "SHELL",
       .min_arguments = 1,
       .max_arguments = 1,
       .has_document = false,
       .words = {"bash", "zsh", "fish"},
       .summary = "shell completions for bash, zsh or fish",
       .description = "Prints a completion script: commands, flags, their values, kernels and files.",
       .examples = {"hone completions bash >~/.local/share/bash-completion/completions/hone",
                    "hone completions fish >~/.config/fish/completions/hone.fish",
                    "hone completions zsh >~/.zfunc/_hone"}},
      {.name = "man",
       .has_document = false,
       .summary = "the manual page as roff",
       .description = "Prints the manual page.",
       .examples = {"hone man | man -l -"}},
      {.name = "version",
       .summary = "version and commit",
       .description = "Prints the version of the program and the commit it was built from.",
       .examples = {"hone version"}},
  };
}

}  // namespace

const std::vector<CommandSpec>& all_commands() {
  static const std::vector<CommandSpec> commands = [] {
    std::vector<CommandSpec> made = specs();
    for (CommandSpec& command : made) {
      if (command.has_document) command.flags.push_back("--json");
      command.flags = joined(std::move(command.flags), everywhere());
    }
    return made;
  }();
  return commands;
}

}  // namespace hone::cli
