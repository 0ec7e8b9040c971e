// hone verify KERNEL...: the verification matrix with the settings in force. Zero cases run is a failure.
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/terminal.hpp"
#include "repository/native/verify_all.hpp"

namespace hone::cli {

int run_verify(const CommandContext& context) {
  auto device = open_device(context.machine, context.meant.device);
  if (!device) return fail(context, device.error());
  repository::native::NativeContext native{**device, context.machine.files, context.machine.clock,
                                           context.meant.settings_directory};
  for (const std::string& kernel : context.typed.arguments)
    if (auto known = repository::native::find_operation(kernel); !known) return fail(context, known.error());

  TerminalProgress progress(context.err, context.machine.clock, context.meant.talk.interactive,
                            context.meant.talk.verbose);
  std::vector<repository::native::CaseResult> cases;
  for (const std::string& kernel : context.typed.arguments) {
    progress.step("verify " + kernel);
    repository::native::VerifyRequest request{kernel, context.meant.request.dtype, context.typed.has("--short"),
                                              context.meant.request.seed};
    auto results = repository::native::verify_all(
        native, request, [&](int done, int total, const repository::native::CaseResult& result) {
          progress.advance(done, total, result.label);
          return !interrupted();
        });
    if (!results) return fail(context, results.error());
    cases.insert(cases.end(), results->begin(), results->end());
  }
  progress.finish();

  int passed = 0, failed = 0;
  for (const auto& result : cases) ++(result.passed ? passed : failed);
  const int code = failed > 0 || passed == 0 ? base::exit_code(base::ErrorKind::gate) : 0;
  if (context.meant.talk.json) {
    nlohmann::json document = {
        {"schema", "hone.verify/1"}, {"cases", nlohmann::json::array()}, {"passed", passed}, {"failed", failed}};
    for (const auto& result : cases)
      document["cases"].push_back({{"kernel", result.kernel},
                                   {"mode", result.mode},
                                   {"dtype", result.dtype},
                                   {"shape", result.shape},
                                   {"label", result.label},
                                   {"error", result.error},
                                   {"bound", result.bound},
                                   {"passed", result.passed},
                                   {"failure", result.failure}});
    context.out << document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
    return code;
  }
  std::map<std::string, std::array<double, 3>> table;  // kernel mode dtype -> passed, failed, largest error
  for (const auto& result : cases) {
    auto& row = table[fmt::format("{:<16}{:<10}{:<6}", result.kernel, result.mode, result.dtype)];
    row[result.passed ? 0 : 1] += 1;
    if (result.passed) row[2] = std::max(row[2], result.error);
    if (!result.passed)
      context.out << fmt::format("FAILED {} {} {}: {}\n", result.kernel, result.mode, result.label, result.failure);
  }
  context.out << fmt::format("{:<16}{:<10}{:<6}{:>8}{:>8}{:>24}\n", "kernel", "mode", "dtype", "passed", "failed",
                             "largest error / bound");
  for (const auto& [name, row] : table)
    context.out << fmt::format("{}{:>8}{:>8}{:>24.3f}\n", name, row[0], row[1], row[2]);
  context.out << fmt::format("{} passed, {} failed\n", passed, failed);
  return code;
}

}  // namespace hone::cli
