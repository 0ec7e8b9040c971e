#include "cli/application.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <set>

#include "cli/command.hpp"
#include "cli/commands/audit_command.hpp"
#include "cli/commands/counters_command.hpp"
#include "cli/completions.hpp"
#include "cli/configuration_file.hpp"
#include "cli/early_checks.hpp"
#include "cli/environment.hpp"
#include "cli/help.hpp"
#include "cli/manual.hpp"
#include "cli/print_error.hpp"
#include "cli/suggested_commands.hpp"
#include "model/json_value.hpp"
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
  options.style = context.style();
  return run_counters(options, context.out, context.err);
}

int run_audit_of_paths(const CommandContext& context) {
  std::vector<long long> sizes;
  for (const std::string& text : context.typed.list("--sizes")) sizes.push_back(std::stoll(text));  // checked by parse
  return run_audit(
      {context.typed.arguments, context.meant.talk.json, context.meant.talk.verbose, sizes, context.style()},
      context.out, context.err);
}

int print_version(bool json, std::ostream& out) {
  if (json)
    out << model::Json::object(
               {{"schema", "hone.version/1"}, {"version", model::hone_version()}, {"commit", model::hone_commit()}})
               .dump_plain(2)
        << "\n";
  else
    out << "hone " << model::hone_version() << " (" << model::hone_commit() << ")\n";
  return 0;
}

int run_version(const CommandContext& context) { return print_version(context.meant.talk.json, context.out); }

const std::map<std::string, std::function<int(const CommandContext&)>>& handlers() {
  static const std::map<std::string, std::function<int(const CommandContext&)>> all = {
      {"doctor", run_doctor},     {"list", run_list},
      {"profile", run_profile},   {"bench", run_bench},
      {"optimize", run_optimize}, {"finalize", run_finalize},
      {"run", run_all},           {"audit", run_audit_of_paths},
      {"compare", run_compare},   {"counters", run_counters_file},
      {"history", run_history},   {"verify", run_verify},
      {"man", run_man},           {"completions", run_completions},
      {"version", run_version},   {"explain", run_explain},
      {"schema", run_schema},
  };
  return all;
}

// Values of configuration files for what the command line leaves open; gives the files that are in force.
base::Result<std::vector<std::string>> configure(Typed& typed, base::FileSystem& files) {
  if (typed.has("--no-config")) return std::vector<std::string>{};
  HONE_TRY(defaults, read_configuration(files, *typed.command,
                                        {files.absolute("."), typed.given("--repo") ? typed.text("--repo") : "",
                                         user_configuration_file(), variable("HOME")}));
  take_defaults(typed, defaults->values);
  return defaults->files;
}

// Where no kernel is named, the repository's only one is meant.
base::Result<void> name_kernel(Machine& machine, Typed& typed, Meant& meant) {
  if (typed.command->offer != Offer::kernels || !typed.arguments.empty()) return {};
  HONE_TRY(only, only_kernel(machine, meant));
  typed.arguments = {*only};
  meant.request.kernel = *only;
  return {};
}

int carry_out(Typed& typed, const std::vector<std::string>& words) {
  Machine machine;
  std::vector<std::string> configuration;
  // What only prints what the program holds works with any file.
  static const std::set<std::string> kNeedsNothing = {"man", "completions", "version", "explain", "schema"};
  if (!kNeedsNothing.count(typed.command->name)) {
    auto files = configure(typed, machine.files);
    if (!files) return report(files.error(), typed.has("--json"));
    configuration = std::move(*files);
  }
  Meant meant = interpret(typed, words, Surroundings::of_process());
  meant.configuration = std::move(configuration);
  machine.quiet = meant.talk.quiet;
  if (meant.talk.verbose)
    for (const std::string& file : meant.configuration) std::cerr << "configuration: " << file << "\n";
  if (auto folders = check_folders(typed, machine.files); !folders) return report(folders.error(), meant.talk.json);
  std::ostream nowhere(nullptr);
  const CommandContext context{typed, meant, machine, std::cout, meant.talk.quiet ? nowhere : std::cerr, std::cerr};
  if (auto named = name_kernel(machine, typed, meant); !named) return fail(context, named.error());
  // The first signal is a flag that commands look at between steps. Those of one step that change nothing just end.
  static const std::set<std::string> kOneStep = {"audit",       "counters", "history", "list",  "man",
                                                 "completions", "version",  "explain", "schema"};
  if (!kOneStep.count(typed.command->name)) watch_signals();
  return handlers().at(typed.command->name)(context);
}

int dispatch(const std::vector<std::string>& words) {
  if (words.size() == 2 && words.front() == kGpuTrialsWord) return serve_gpu_trials(words.back());
  if (!words.empty() && words.front() == kCounterPassWord) return run_counter_pass({words.begin() + 1, words.end()});
  ignore_broken_pipes();
  auto typed = parse(words);
  if (!typed) return report(typed.error(), std::find(words.begin(), words.end(), "--json") != words.end());
  if (typed->version) return print_version(typed->has("--json"), std::cout);
  if (typed->help) {
    const std::size_t width = interpret(*typed, words, Surroundings::of_process()).talk.style.width;
    std::cout << (typed->command ? command_help(*typed->command, width) : program_help(width));
    return 0;
  }
  return carry_out(*typed, words);
}

// A reader that has closed its end, as head does when it has its lines.
bool reader_is_gone() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&output, 1, 0) > 0 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

int fail(const CommandContext& context, const base::Error& error) {
  return report(completed(error, context.typed, context.meant.request.kernel), context.meant.talk.json);
}

int run(int argc, char** argv) {
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  try {
    const int code = dispatch(words);
    std::cout.flush();
    if (!std::cout && !reader_is_gone()) {
      std::cerr << base::describe({base::ErrorKind::preflight, "standard output that takes what is written",
                                   "an error while writing", "standard output",
                                   "check the disk or the program that reads it"})
                << "\n";
      return base::exit_code(base::ErrorKind::preflight);
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
