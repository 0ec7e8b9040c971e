#include "cli/application.hpp"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "cli/commands/audit_command.hpp"
#include "cli/command.hpp"
#include "cli/commands/counters_command.hpp"
#include "cli/help.hpp"
#include "cli/print_error.hpp"
#include "model/version.hpp"

namespace hone::cli {

namespace {

int report(const base::Error& error, bool json) { return print_error(error, json, std::cout, std::cerr); }

int run_completions(const CommandContext& context) {
  auto script = completion_script(context.typed.arguments.front());
  if (!script) return fail(context, script.error());
  context.out << *script;
  return 0;
}

int run_man(const CommandContext& context) {
  context.out << manual_page();
  return 0;
}

int run_counters_file(const CommandContext& context) {
  CountersOptions options;
  options.file = context.typed.arguments.front();
  options.ceilings_file = context.typed.text("--ceilings");
  options.svg_folder = context.typed.text("--svg");
  options.json = context.meant.talk.json;
  options.color = context.meant.talk.color;
  return run_counters(options, context.out, context.err);
}

base::Result<std::vector<long long>> row_lengths(const std::vector<std::string>& texts) {
  std::vector<long long> sizes;
  for (const std::string& text : texts) {
    char* end = nullptr;
    const long long value = std::strtoll(text.c_str(), &end, 10);
    if (end == text.c_str() || *end != 0 || value < 1 || value > (1LL << 40))
      return base::Error{base::ErrorKind::usage, "row lengths as whole numbers of at least 1", "'" + text + "'",
                         "--sizes", "give sizes like --sizes 4096,5120"};
    sizes.push_back(value);
  }
  return sizes;
}

int run_audit_of_paths(const CommandContext& context) {
  auto sizes = row_lengths(context.typed.list("--sizes"));
  if (!sizes) return fail(context, sizes.error());
  return run_audit({context.typed.arguments, context.meant.talk.json, context.meant.talk.verbose, *sizes}, context.out,
                   context.err);
}

int run_version(const CommandContext& context) {
  if (context.meant.talk.json)
    context.out << nlohmann::json{{"schema", "hone.version/1"},
                                  {"version", model::hone_version()},
                                  {"commit", model::hone_commit()}}
                       .dump(2)
                << "\n";
  else
    context.out << "hone " << model::hone_version() << " (" << model::hone_commit() << ")\n";
  return 0;
}

const std::map<std::string, std::function<int(const CommandContext&)>>& handlers() {
  static const std::map<std::string, std::function<int(const CommandContext&)>> all = {
      {"doctor", run_doctor},     {"list", run_list},
      {"profile", run_profile},   {"bench", run_bench},
      {"optimize", run_optimize}, {"finalize", run_finalize},
      {"run", run_all},           {"audit", run_audit_of_paths},
      {"compare", run_compare},   {"counters", run_counters_file},
      {"history", run_history},   {"verify", run_verify},
      {"man", run_man},           {"completions", run_completions},
      {"version", run_version},
  };
  return all;
}

int dispatch(const std::vector<std::string>& words) {
  if (words.size() == 2 && words.front() == kGpuTrialsWord) return serve_gpu_trials(words.back());
  if (!words.empty() && words.front() == kCounterPassWord) return run_counter_pass({words.begin() + 1, words.end()});
  if (!words.empty() && words.front() == kManifestCounterPassWord)
    return run_manifest_counter_pass({words.begin() + 1, words.end()});
  const bool json = std::find(words.begin(), words.end(), "--json") != words.end();
  auto typed = parse(words);
  if (!typed) return report(typed.error(), json);
  if (typed->help) {
    std::cout << (typed->command ? command_help(*typed->command) : program_help());
    return 0;
  }
  const bool people_read_err = json;
  auto meant =
      interpret(*typed, words, isatty(STDIN_FILENO) != 0, isatty(people_read_err ? STDERR_FILENO : STDOUT_FILENO) != 0);
  if (!meant) return report(meant.error(), json);
  // The first signal is a flag that commands look at between steps. Those of one step that change nothing just end.
  static const std::set<std::string> kOneStep = {"audit", "counters",    "history", "list",
                                                 "man",   "completions", "version"};
  if (!kOneStep.count(typed->command->name)) watch_signals();
  ignore_broken_pipes();
  Machine machine;
  return handlers().at(typed->command->name)(CommandContext{*typed, *meant, machine, std::cout, std::cerr});
}

}  // namespace

int fail(const CommandContext& context, const base::Error& error) { return report(error, context.meant.talk.json); }

int run(int argc, char** argv) {
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  try {
    const int code = dispatch(words);
    std::cout.flush();
    if (!std::cout) {
      std::cerr << base::describe({base::ErrorKind::preflight, "standard output that takes what is written",
                                   "an error while writing", "standard output",
                                   "check the disk or the program that reads it"})
                << "\n";
      return 3;
    }
    return code;
  } catch (const std::bad_alloc&) {
    return report({base::ErrorKind::preflight, "enough memory", "an allocation failed", "hone",
                   "use smaller --sizes or free memory"},
                  false);
  } catch (const std::exception& broken) {
    return report({base::ErrorKind::internal, "no exception to reach the program's end", broken.what(), "hone",
                   "report this with the command line"},
                  false);
  }
}

}  // namespace hone::cli
