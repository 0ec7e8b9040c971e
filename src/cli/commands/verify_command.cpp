// hone verify KERNEL...: the verification matrix with the settings in force. Zero cases run is a failure. A case that does not end
// is the last that is run: each of the others could cost its whole deadline too.
#include <array>
#include <functional>
#include <map>
#include <ostream>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/terminal.hpp"
#include "model/json_value.hpp"
#include "render/table.hpp"
#include "repository/native/native_repository.hpp"

namespace hone::cli {

namespace {

// What the verified kernels were held against, and the cases.
struct Verified {
  std::string reference;
  std::vector<repository::launch::CaseResult> cases;
};

using Progress = std::function<bool(int, int, const repository::launch::CaseResult&)>;

base::Result<Verified> verify(const CommandContext& context, repository::launch::LaunchSession& session,
                              const Progress& each) {
  if (const std::string why = session.unmeasurable(); !why.empty())
    return base::Error{base::ErrorKind::preflight, "a device that runs the kernel", why, context.meant.device,
                       "choose another --device"};
  const auto extent =
      context.typed.has("--short") ? repository::launch::Extent::smoke : repository::launch::Extent::full;
  HONE_TRY(cases, session.verify(extent, context.meant.request.dtype.empty(), each));
  return Verified{session.reference_words(), std::move(*cases)};
}

base::Result<Verified> verify_native(const CommandContext& context, TerminalProgress& progress, const Progress& each) {
  HONE_TRY(device, open_device(context.machine, context.meant.device));
  for (const std::string& kernel : context.typed.arguments) HONE_PROPAGATE(repository::native::find_operation(kernel));
  repository::native::NativeRepository repository({**device, context.machine.files, context.machine.clock},
                                                  context.meant.settings_directory);
  Verified all;
  for (const std::string& kernel : context.typed.arguments) {
    progress.step("verify " + kernel);
    model::Request request;
    request.kernel = kernel;
    request.dtype = context.meant.request.dtype;
    request.seed = context.meant.request.seed;
    HONE_TRY(session, repository.open_to_verify(request));
    HONE_TRY(verified, verify(context, **session, each));
    all.reference = verified->reference;
    all.cases.insert(all.cases.end(), verified->cases.begin(), verified->cases.end());
    if (!all.cases.empty() && all.cases.back().hung) break;
  }
  return all;
}

base::Result<Verified> verify_manifest(const CommandContext& context, TerminalProgress& progress,
                                       const Progress& each) {
  for (const std::string& kernel : context.typed.arguments) {
    Meant meant = context.meant;
    meant.request.kernel = kernel;
    HONE_PROPAGATE(check_kernel(context.machine, meant));
  }
  if (!names_manifest(context.machine, context.meant))
    return base::Error{base::ErrorKind::usage, "a manifest, or no --repo for the built-in kernels", "a checkout",
                       context.meant.repository_directory, "its operations are verified by its own tests"};
  HONE_TRY(opened, open_repository(context.machine, context.meant));
  HONE_TRY(session, opened->repository->open(context.meant.request));
  progress.step("verify " + context.meant.request.kernel);
  return verify(context, dynamic_cast<repository::launch::LaunchSession&>(**session), each);
}

model::Json json_of(const repository::launch::CaseResult& result) {
  return model::Json::object({{"kernel", result.kernel},
                              {"mode", result.mode},
                              {"dtype", result.dtype},
                              {"shape", result.shape},
                              {"label", result.label},
                              {"error", result.error},
                              {"bound", result.bound},
                              {"passed", result.passed},
                              {"failure", result.failure}});
}

// What went wrong, each once: one compile error fails every case of its program.
class Failures {
 public:
  void add(const repository::launch::CaseResult& result) {
    const std::string subject = result.kernel + " " + result.mode;
    for (auto& [first, others] : all_)
      if (first->failure == result.failure && first->kernel + " " + first->mode == subject) {
        ++others;
        return;
      }
    all_.emplace_back(&result, 0);
  }
  void print(std::ostream& out) const {
    for (const auto& [first, others] : all_)
      out << fmt::format("FAILED {} {} {}{}: {}\n", first->kernel, first->mode, first->label,
                         others == 0 ? "" : fmt::format(" and {} more case{}", others, others == 1 ? "" : "s"),
                         first->failure);
  }

 private:
  std::vector<std::pair<const repository::launch::CaseResult*, int>> all_;
};

void print_table(const CommandContext& context, const std::vector<repository::launch::CaseResult>& cases) {
  Failures failures;
  std::map<std::array<std::string, 3>, std::array<double, 3>> sums;  // passed, failed, largest error
  for (const auto& result : cases) {
    auto& row = sums[{result.kernel, result.mode, result.dtype}];
    row[result.passed ? 0 : 1] += 1;
    if (result.passed) row[2] = std::max(row[2], result.error);
    if (!result.passed) failures.add(result);
  }
  failures.print(context.out);
  render::Table table({{"kernel"},
                       {"mode"},
                       {"dtype"},
                       {"passed", render::Align::right},
                       {"failed", render::Align::right},
                       {"largest error / bound", render::Align::right}});
  for (const auto& [name, row] : sums)
    table.add_row({name[0], name[1], name[2], fmt::format("{}", row[0]), fmt::format("{}", row[1]),
                   fmt::format("{:.3f}", row[2])},
                  row[1] > 0 ? render::Ink::bad : render::Ink::plain);
  context.out << table.terminal(context.style());
}

base::Error endless(const repository::launch::CaseResult& result, int done, int total) {
  return {base::ErrorKind::gate, "every case of " + result.kernel + " to end", result.failure,
          fmt::format("{}, {}, case {} of {}", result.mode, result.label, done, total),
          "look for a loop or a barrier that never ends at that size; the cases after it were not run, since each may "
          "take as long"};
}

}  // namespace

int run_verify(const CommandContext& context) {
  TerminalProgress progress(context.notes, context.machine.clock, context.meant.talk.live, context.meant.talk.verbose);
  int done = 0, total = 0;
  const Progress each = [&](int so_far, int of_all, const repository::launch::CaseResult& result) {
    done = so_far, total = of_all;
    if (result.hung)
      progress.advance_last(done, total, result.label);  // after a deadline that says nothing about other cases
    else
      progress.advance(done, total, result.label);
    return !interrupted();
  };
  auto verified = context.meant.repository_directory.empty() ? verify_native(context, progress, each)
                                                             : verify_manifest(context, progress, each);
  progress.finish();
  if (!verified) return fail(context, verified.error());
  const std::vector<repository::launch::CaseResult>& cases = verified->cases;

  int passed = 0, failed = 0;
  for (const auto& result : cases) ++(result.passed ? passed : failed);
  const int code = failed > 0 || passed == 0 ? base::exit_code(base::ErrorKind::gate) : 0;
  if (context.meant.talk.json) {
    using model::Json;
    context.out << Json::object({{"schema", "hone.verify/1"},
                                 {"reference", verified->reference},
                                 {"cases", Json::list(cases, [](const auto& result) { return json_of(result); })},
                                 {"passed", passed},
                                 {"failed", failed},
                                 {"not_run", total - done}})
                       .dump_plain(2)
                << "\n";
  } else {
    print_table(context, cases);
    context.out << fmt::format("{} passed, {} failed{}; {}\n", passed, failed,
                               done < total ? fmt::format(", {} not run", total - done) : "", verified->reference);
  }
  if (!cases.empty() && cases.back().hung) context.err << base::describe(endless(cases.back(), done, total)) << "\n";
  return code;
}

}  // namespace hone::cli
