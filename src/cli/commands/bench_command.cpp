// hone bench KERNEL...: every pass at each size beside the other providers, interleaved in one run.
#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/terminal.hpp"
#include "measure/protocol.hpp"
#include "repository/native/native_repository.hpp"

namespace hone::cli {

namespace {

struct BenchRow {
  std::string kernel, mode, dtype, shape, provider, missing;  // missing: why this provider has no figures
  model::Quantiles device_ms, wall_ms;
  double bytes = 0, flops = 0, share_of_ceiling = 0;
};

// Providers that exist only where Python has them; a row says so for each kernel.
const char* absent(const std::string& provider) {
  if (provider == "liger") return "needs a CUDA device with python3, torch, triton and liger_kernel";
  if (provider == "torch") return "needs a CUDA device with python3 and torch";
  return nullptr;
}

base::Result<void> check_providers(const std::vector<std::string>& providers) {
  for (const std::string& provider : providers)
    if (provider != "native" && provider != "eager" && !absent(provider))
      return base::Error{base::ErrorKind::usage, "providers out of native, eager, liger, torch", "'" + provider + "'",
                         "--provider", "correct its name or leave it out"};
  return {};
}

std::string shape_of(repository::Session& session, const model::Request& request, const std::string& x) {
  auto operation = repository::native::find_operation(request.kernel);
  auto dtype = operation ? repository::native::resolve_dtype(**operation, request.dtype, session.device())
                         : base::Result<kernels::DType>(operation.error());
  if (!dtype) return x;
  kernels::Problem problem = (*operation)
                                 ->problem_at(std::strtoll(x.c_str(), nullptr, 10),
                                              repository::native::target_of(session.device()), *dtype, request.options);
  return problem.depth > 0 ? fmt::format("{} x {} x {}", problem.rows, problem.columns, problem.depth)
                           : fmt::format("{} x {}", problem.rows, problem.columns);
}

base::Result<void> bench_kernel(const CommandContext& context, repository::Session& session,
                                const model::Request& request, const std::vector<std::string>& providers,
                                TerminalProgress& progress, std::vector<BenchRow>& rows) {
  const model::Variant original = session.original();
  progress.step(request.kernel);
  const int total = static_cast<int>(session.sizes().size() * session.modes().size());
  int done = 0;
  for (const std::string& x : session.sizes())
    for (const std::string& mode : session.modes()) {
      if (interrupted())
        return base::Error{base::ErrorKind::interrupted, "to finish the table", "an interrupt", "hone bench",
                           "run it again; nothing was written"};
      progress.advance(done++, total, mode + " at " + x);
      const repository::Cell cell{x, mode};
      const repository::PassFloor floor = session.floor(cell);
      std::vector<std::unique_ptr<measure::Subject>> owned;
      std::vector<measure::Subject*> subjects;
      std::vector<std::size_t> row_of_subject;
      for (const std::string& provider : providers) {
        BenchRow row;
        row.kernel = request.kernel;
        row.mode = mode;
        row.dtype = request.dtype;
        row.shape = shape_of(session, request, x);
        row.provider = provider;
        row.bytes = floor.bytes;
        row.flops = floor.flops;
        if (const char* why = absent(provider)) {
          row.missing = why;
        } else {
          auto subject =
              provider == "native" ? session.subject(original, cell) : session.provider_subject(provider, cell);
          if (!subject) return subject.error();
          owned.push_back(std::move(*subject));
          subjects.push_back(owned.back().get());
          row_of_subject.push_back(rows.size());
        }
        rows.push_back(std::move(row));
      }
      if (subjects.empty()) continue;
      measure::Budget budget;
      budget.min_samples = 8;
      budget.max_samples = request.quick ? 12 : 40;
      budget.max_ns = 8'000'000'000;
      auto timings = measure::interleave(subjects, session.clock(), budget);
      if (!timings) return timings.error();
      for (std::size_t i = 0; i < subjects.size(); ++i) {
        BenchRow& row = rows[row_of_subject[i]];
        row.device_ms = (*timings)[i].device_ms;
        row.wall_ms = (*timings)[i].wall_ms;
        if (row.device_ms.p50 > 0) row.share_of_ceiling = floor.floor_ms / row.device_ms.p50;
      }
    }
  return {};
}

void print(std::ostream& out, const std::vector<BenchRow>& rows, const model::Ceilings& ceilings) {
  for (const auto& [name, ceiling] : ceilings.by_name)
    if (name.find("bytes_per_s") != std::string::npos)
      out << fmt::format("{:<28}{:8.2f} GB/s (p20 {:.2f}, p80 {:.2f})\n", name, ceiling.p50 / 1e9, ceiling.p20 / 1e9,
                         ceiling.p80 / 1e9);
  out << fmt::format("\n{:<20}{:<10}{:<6}{:<16}{:<9}{:>11}{:>11}{:>11}{:>10}\n", "kernel", "mode", "dtype", "shape",
                     "provider", "kernel ms", "wall ms", "GB/s", "ceiling");
  for (const BenchRow& row : rows) {
    out << fmt::format("{:<20}{:<10}{:<6}{:<16}{:<9}", row.kernel, row.mode, row.dtype, row.shape, row.provider);
    if (!row.missing.empty())
      out << "  absent: " << row.missing << "\n";
    else
      out << fmt::format("{:>11.4f}{:>11.4f}{:>11.2f}{:>8.1f} %\n", row.device_ms.p50, row.wall_ms.p50,
                         row.bytes / row.device_ms.p50 / 1e6, 100 * row.share_of_ceiling);
  }
  out << "\nGB/s counts the least traffic of the pass (each input read once, each output written once); ceiling is the "
         "share of the floor\n"
         "that the measured ceilings set for it. Medians; all providers of a row are interleaved in one session.\n";
}

std::string to_json(const std::vector<BenchRow>& rows, const model::Ceilings& ceilings) {
  nlohmann::json document = {
      {"schema", "hone.bench/1"}, {"rows", nlohmann::json::array()}, {"ceilings", nlohmann::json::object()}};
  for (const auto& [name, ceiling] : ceilings.by_name) document["ceilings"][name] = ceiling.p50;
  for (const BenchRow& row : rows) {
    nlohmann::json item = {{"kernel", row.kernel},     {"mode", row.mode},   {"dtype", row.dtype}, {"shape", row.shape},
                           {"provider", row.provider}, {"bytes", row.bytes}, {"flops", row.flops}};
    if (row.missing.empty()) {
      item["device_ms"] = row.device_ms.p50;
      item["device_ms_p20"] = row.device_ms.p20;
      item["device_ms_p80"] = row.device_ms.p80;
      item["wall_ms"] = row.wall_ms.p50;
      item["share_of_ceiling"] = row.share_of_ceiling;
      item["samples"] = row.device_ms.samples;
    } else {
      for (const char* key : {"device_ms", "wall_ms", "share_of_ceiling"}) item[key] = nullptr;
      item["absent"] = row.missing;
    }
    document["rows"].push_back(std::move(item));
  }
  return document.dump(2) + "\n";
}

}  // namespace

int run_bench(const CommandContext& context) {
  const std::vector<std::string> providers = context.typed.list("--provider");
  if (auto valid = check_providers(providers); !valid) return fail(context, valid.error());
  auto opened = open_repository(context.machine, context.meant);
  if (!opened) return fail(context, opened.error());
  TerminalProgress progress(context.err, context.machine.clock, context.meant.talk.interactive,
                            context.meant.talk.verbose);
  std::vector<BenchRow> rows;
  model::Ceilings ceilings;
  std::vector<std::unique_ptr<repository::Session>> sessions;
  for (const std::string& kernel : context.typed.arguments) {  // every name is checked before the first is timed
    model::Request request = context.meant.request;
    request.kernel = kernel;
    auto session = opened->repository->open(request);
    if (!session) return fail(context, session.error());
    sessions.push_back(std::move(*session));
  }
  for (auto& session : sessions) {
    model::Request request = context.meant.request;
    request.kernel = session->identity().kernel;
    request = session->resolved(request);
    progress.step("ceilings of " + session->device().name);
    auto measured = session->ceilings();
    if (!measured) return fail(context, measured.error());
    ceilings = *measured;
    if (auto done = bench_kernel(context, *session, request, providers, progress, rows); !done)
      return fail(context, done.error());
    session.reset();
  }
  progress.finish();
  if (context.meant.talk.json)
    context.out << to_json(rows, ceilings);
  else
    print(context.out, rows, ceilings);
  return 0;
}

}  // namespace hone::cli
