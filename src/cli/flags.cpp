#include "cli/flags.hpp"

#include <algorithm>

namespace hone::cli {

const std::vector<Flag>& all_flags() {
  static const std::vector<Flag> flags = {
      {"--repo",
       0,
       FlagKind::text,
       "PATH",
       "",
       {},
       "Where the kernels live: a Liger checkout, or your own kernel's manifest (a *.toml file, or a folder that holds "
       "hone.toml); without it the built-in kernels"},
      {"--device", 0, FlagKind::text, "DEVICE", "auto", {}, "The device that runs kernels: auto, cpu or cuda:N"},
      {"--dtype",
       0,
       FlagKind::text,
       "TYPE",
       "",
       {"fp32", "fp16", "bf16"},
       "Element type of the tensors; without it fp32 on a CPU, bf16 on a GPU"},
      {"--sizes",
       0,
       FlagKind::list,
       "N,N,...",
       "",
       {},
       "Sizes to work on, values of the kernel's x axis; without it the kernel's own"},
      {"--option",
       0,
       FlagKind::pair,
       "NAME=VALUE",
       "",
       {},
       "An option of the kernel such as casting_mode=gemma; may be repeated"},
      {"--goal",
       0,
       FlagKind::text,
       "GOAL",
       "balanced",
       {"speed", "memory", "balanced"},
       "What a variant is chosen for"},
      {"--scope", 0, FlagKind::text, "SCOPE", "general", {"general", "forward", "backward"}, "Which passes to work on"},
      {"--target-gpu",
       0,
       FlagKind::text,
       "ARCH",
       "auto",
       {"ampere", "ada", "hopper", "blackwell", "auto"},
       "The architecture the result is meant for; a mismatch is recorded and work goes on"},
      {"--workspace",
       0,
       FlagKind::text,
       "DIR",
       "optimization",
       {},
       "Where profiles, variants and reports are written, a folder for each kernel"},
      {"--settings",
       0,
       FlagKind::text,
       "DIR",
       "",
       {},
       "Where installed settings of built-in kernels are kept; without it $HONE_SETTINGS_DIR or the user's data "
       "folder"},
      {"--seed", 0, FlagKind::integer, "N", "0", {}, "Seed of inputs, orders and bootstraps"},
      {"--quick", 0, FlagKind::boolean, "", "", {}, "Fewer sizes and samples, the same protocol"},
      {"--autonomous", 0, FlagKind::boolean, "", "", {}, "Ask nothing: accept at every checkpoint"},
      {"--fresh",
       0,
       FlagKind::boolean,
       "",
       "",
       {},
       "Measure everything anew, also where an earlier run was stopped before its report"},
      {"--json",
       0,
       FlagKind::boolean,
       "",
       "",
       {},
       "One JSON document on standard output; all else goes to standard error"},
      {"--no-color", 0, FlagKind::boolean, "", "", {}, "No colours, also where the output is a terminal"},
      {"--verbose", 'v', FlagKind::boolean, "", "", {}, "Say more about what is being done"},
      {"--max-variants", 0, FlagKind::integer, "N", "8", {}, "Most variants to try, the parameter sweep included"},
      {"--target-metric",
       0,
       FlagKind::text,
       "TEXT",
       "",
       {},
       "Stop when it is met, such as \"forward < 0.3 ms @ hidden_size=4096\""},
      {"--proposer", 0, FlagKind::text, "CMD", "", {}, "A program that proposes source variants"},
      {"--variant", 0, FlagKind::text, "N", "", {}, "The variant to finalize instead of the winner"},
      {"--commit",
       0,
       FlagKind::boolean,
       "",
       "",
       {},
       "Commit an applied winner in the checkout, on a branch of its own"},
      {"--push", 0, FlagKind::boolean, "", "", {}, "Commit, push and open a pull request; needs gh"},
      {"--provider", 0, FlagKind::list, "NAME,...", "native,eager", {}, "Implementations to measure side by side"},
      {"--ceilings",
       0,
       FlagKind::text,
       "FILE",
       "",
       {},
       "Ceilings to judge against: a saved profile or a JSON file of them"},
      {"--svg",
       0,
       FlagKind::text,
       "DIR",
       "",
       {},
       "Also write pictures into this folder: the roofline, and the stalls of each kernel"},
      {"--kernel", 0, FlagKind::text, "NAME", "", {}, "The kernel that is meant, where the arguments do not name it"},
      {"--short", 0, FlagKind::boolean, "", "", {}, "The small form of the matrix"},
      {"--help", 'h', FlagKind::boolean, "", "", {}, "Show this help and exit"},
  };
  return flags;
}

namespace {

std::vector<std::string> with_common(std::vector<std::string> more) {
  std::vector<std::string> names = {"--device", "--json", "--no-color", "--verbose", "--help"};
  names.insert(names.begin(), more.begin(), more.end());
  return names;
}

std::vector<std::string> stage_flags(std::vector<std::string> more) {
  std::vector<std::string> names = {"--repo",       "--dtype",     "--sizes",    "--option", "--goal",  "--scope",
                                    "--target-gpu", "--workspace", "--settings", "--seed",   "--quick", "--autonomous"};
  names.insert(names.end(), more.begin(), more.end());
  return with_common(names);
}

}  // namespace

const std::vector<CommandSpec>& all_commands() {
  static const std::vector<CommandSpec> commands = {
      {"doctor",
       "",
       0,
       0,
       "what this machine has for hone, what is missing, and how to get it",
       "Shows devices with their measured ceilings, compilers, profilers and Python packages; for each missing part "
       "what it costs and how to get it.",
       with_common({"--quick"}),
       {"hone doctor", "hone doctor --json"}},
      {"list",
       "",
       0,
       0,
       "the kernels of the repository in use",
       "Lists every kernel with its tier, passes and dtypes.",
       with_common({"--repo"}),
       {"hone list", "hone list --repo hone.toml"}},
      {"audit",
       "PATH...",
       1,
       -1,
       "static audit of Triton or CUDA source; needs no GPU and no Python",
       "Reads files, a folder or a whole Liger checkout and states facts with their lines: kernels, launches, "
       "settings, tier, opportunities.",
       {"--sizes", "--json", "--no-color", "--verbose", "--help"},
       {"hone audit src/liger_kernel/ops/rms_norm.py", "hone audit ~/Liger-Kernel --json"}},
      {"profile",
       "KERNEL",
       1,
       1,
       "stage 1: what limits a kernel, how much is left, what to do first",
       "Measures a kernel against its baseline and the device's ceilings and writes profile.md and profile.json.",
       stage_flags({}),
       {"hone profile rms_norm", "hone profile swiglu --dtype bf16 --sizes 4096,8192 --autonomous"}},
      {"optimize",
       "KERNEL",
       1,
       1,
       "stage 2: parameter sweep, then variants by diagnosis, each behind gates",
       "Reads the profile of the workspace and tries variants; writes notes for each and comparison.md.",
       stage_flags({"--max-variants", "--target-metric", "--proposer"}),
       {"hone optimize rms_norm --autonomous"}},
      {"finalize",
       "KERNEL",
       1,
       1,
       "stage 3: apply the winner behind the full verification, report",
       "Applies the chosen variant, verifies it, compares original, optimized and baseline anew, and writes report.md "
       "and pr.md.",
       stage_flags({"--variant", "--commit", "--push"}),
       {"hone finalize rms_norm", "hone finalize rms_norm --variant 2"}},
      {"run",
       "KERNEL",
       1,
       1,
       "all stages, with a checkpoint after each",
       "Profile, optimize and finalize one kernel, asking after each stage; without a terminal to ask at, --autonomous "
       "is needed. A run that was stopped before its report goes on where it was; --fresh begins anew.",
       stage_flags({"--max-variants", "--target-metric", "--proposer", "--fresh", "--commit", "--push"}),
       {"hone run rms_norm --autonomous", "hone run row_softmax --repo examples/manifest --autonomous"}},
      {"bench",
       "KERNEL...",
       1,
       -1,
       "built-in kernels: time, bandwidth and share of the ceiling, beside other providers",
       "Times every pass of the kernels at each size, interleaved with the providers named.",
       with_common({"--dtype", "--sizes", "--option", "--provider", "--workspace", "--settings", "--seed", "--quick"}),
       {"hone bench rms_norm swiglu", "hone bench rms_norm --dtype bf16 --json"}},
      {"verify",
       "KERNEL...",
       1,
       -1,
       "built-in kernels or a manifest's against double precision over shapes and dtypes",
       "Runs odd, prime, single, empty, strided and large shapes with poisoned outputs and guard bands. Exit code 5 "
       "where any case failed or none ran.",
       with_common({"--repo", "--dtype", "--settings", "--seed", "--short"}),
       {"hone verify rms_norm", "hone verify swiglu --dtype bf16 --json", "hone verify row_softmax --repo hone.toml"}},
      {"compare",
       "A B",
       2,
       2,
       "paired comparison of two variants, source files or commits",
       "Compares two forms of one profiled kernel in one session. Each is FOLDER/vN; v0 or vN with --kernel; a variant "
       "file "
       "(.json); another file, taken as the text of the kernel's main source; or, with --repo and --kernel, a commit "
       "of the "
       "checkout, whose text of the operation's file is taken. What is not in that file is as it stands now. The ratio "
       "is "
       "time of B over time of A.",
       stage_flags({"--kernel"}),
       {"hone compare optimization/rms_norm/v0 optimization/rms_norm/v1",
        "hone compare old/rms_norm.hpp v0 --kernel rms_norm",
        "hone compare v0.5.0 main --kernel rms_norm --repo ~/Liger-Kernel"}},
      {"counters",
       "FILE",
       1,
       1,
       "a recorded Nsight Compute CSV: summary, class and evidence",
       "Reads the details or the raw page, merges launches of one kernel, and classifies each.",
       {"--ceilings", "--svg", "--json", "--no-color", "--help"},
       {"hone counters capture.csv --ceilings profile.json", "hone counters capture.csv --svg pictures"}},
      {"history",
       "[WHAT]",
       0,
       3,
       "measurements kept so far: list, show ID, compare ID ID, regressions",
       "Reads what profile, optimize, finalize, bench and compare have left in the workspace's history.sqlite3. Two "
       "runs "
       "that were measured apart are never a verdict: a regression is suspected, and the command that settles it is "
       "printed.",
       {"--kernel", "--workspace", "--json", "--no-color", "--help"},
       {"hone history", "hone history show 3", "hone history compare 3 7",
        "hone history regressions --kernel rms_norm"}},
      {"completions",
       "SHELL",
       1,
       1,
       "shell completions for bash, zsh or fish",
       "Prints a completion script.",
       {"--help"},
       {"hone completions bash"}},
      {"man", "", 0, 0, "the manual page as roff", "Prints the manual page.", {"--help"}, {"hone man | man -l -"}},
      {"version",
       "",
       0,
       0,
       "version and commit",
       "Prints the version of the program and the commit it was built from.",
       {"--json", "--help"},
       {"hone version"}},
  };
  return commands;
}

const Flag* find_flag(std::string_view name) {
  for (const Flag& flag : all_flags())
    if (flag.name == name) return &flag;
  return nullptr;
}

const CommandSpec* find_command(std::string_view name) {
  for (const CommandSpec& command : all_commands())
    if (command.name == name) return &command;
  return nullptr;
}

}  // namespace hone::cli
