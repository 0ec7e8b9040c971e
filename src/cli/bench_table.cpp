#include "cli/bench_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ostream>

#include <fmt/format.h>

#include "cli/composition.hpp"
#include "measure/paired_subject.hpp"
#include "measure/protocol.hpp"
#include "model/timing_fields.hpp"
#include "render/table.hpp"
#include "repository/native/native_repository.hpp"

namespace hone::cli {

namespace {

constexpr const char* kNative = "native";

// The problem of one size as the other providers must be given it; the name alone where the session would refuse it.
repository::liger::ProviderCase case_at(const repository::Described& session, const model::Request& request,
                                        const std::string& x, const std::string& mode) {
  repository::liger::ProviderCase asked;
  asked.kernel = request.kernel;
  asked.dtype = request.dtype;
  asked.mode = mode;
  asked.options = request.options;
  auto operation = repository::native::find_operation(request.kernel);
  if (!operation) return asked;
  auto dtype = repository::native::resolve_dtype(**operation, request.dtype, session.device());
  if (!dtype) return asked;
  const kernels::Problem problem =
      (*operation)
          ->problem_at(std::strtoll(x.c_str(), nullptr, 10), repository::native::target_of(session.device()), *dtype,
                       request.options);
  asked.rows = problem.rows;
  asked.columns = problem.columns;
  asked.depth = problem.depth;
  for (const auto& [name, value] : kernels::default_options(**operation))
    if (const auto given = asked.options.find(name); given != asked.options.end() && given->second != value)
      asked.not_default.insert(*given);
  return asked;
}

std::string shape_of(const repository::liger::ProviderCase& asked) {
  return asked.depth > 0 ? fmt::format("{} x {} x {}", asked.rows, asked.columns, asked.depth)
                         : fmt::format("{} x {}", asked.rows, asked.columns);
}

measure::Budget budget_of(const model::Request& request) {
  measure::Budget budget;
  budget.min_samples = 8;
  budget.max_samples = request.quick ? 12 : 40;
  budget.aim_ns = 2'000'000'000;
  return budget;
}

}  // namespace

bool of_python(const std::string& provider) { return provider == "liger" || provider == "torch"; }

base::Result<void> bench_kernel(const repository::Described& kernel, repository::Timed& timed,
                                const model::Request& request, const std::vector<std::string>& providers,
                                repository::liger::PythonProviders* python, stages::Progress& progress,
                                std::vector<BenchRow>& rows) {
  const std::string own = python != nullptr ? kNative : kernel.own_provider();
  const model::Variant original = kernel.original();
  const bool with_own = std::find(providers.begin(), providers.end(), own) != providers.end();
  progress.step(request.kernel);
  const int total = static_cast<int>(kernel.sizes().size() * kernel.modes().size());
  int done = 0;
  for (const std::string& x : kernel.sizes())
    for (const std::string& mode : kernel.modes()) {
      if (interrupted())
        return base::Error{base::ErrorKind::interrupted, "to finish the table", "an interrupt", "hone bench",
                           "run it again; nothing was written"};
      progress.advance(done++, total, mode + " at " + x);
      const repository::Cell cell{x, mode};
      const repository::PassFloor floor = timed.floor(cell);
      const repository::liger::ProviderCase asked = case_at(kernel, request, x, mode);
      std::vector<std::unique_ptr<measure::Subject>> owned, deciding;
      std::vector<measure::Subject*> others;  // nothing is decided on the others
      std::vector<std::size_t> row_of_subject, row_of_other;
      for (const std::string& provider : providers) {
        BenchRow row;
        row.kernel = request.kernel;
        row.mode = mode;
        row.dtype = request.dtype;
        row.shape = python != nullptr ? shape_of(asked) : kernel.x_name() + "=" + x;
        row.x_value = x;
        row.provider = provider;
        row.own = provider == own;
        const bool by_python = python != nullptr && of_python(provider);
        row.bytes = floor.bytes;
        row.flops = floor.flops;
        if (by_python) row.missing = python->absent(provider, asked);
        if (row.missing.empty()) {
          auto subject = by_python ? python->subject(provider, asked)
                         : row.own ? timed.subject(original, cell)
                                   : timed.provider_subject(provider, cell);
          if (subject) {
            const bool decides = row.own || !with_own;
            if (!decides) others.push_back(subject->get());
            (decides ? deciding : owned).push_back(std::move(*subject));
            (decides ? row_of_subject : row_of_other).push_back(rows.size());
          } else if (by_python && subject.error().kind != base::ErrorKind::interrupted) {
            row.missing = subject.error().found;
          } else {
            return subject.error();
          }
        }
        rows.push_back(std::move(row));
      }
      if (owned.empty() && deciding.empty()) continue;
      HONE_TRY(ceiling, timed.ceiling_subject(cell));
      const auto paired = measure::pair_with(deciding, ceiling->subject.get(), timed.clock());
      std::vector<measure::Subject*> subjects;
      for (const auto& subject : paired) subjects.push_back(subject.get());
      auto timings = measure::interleave(subjects, timed.clock(), budget_of(request), others);
      if (!timings && timings.error().kind != base::ErrorKind::untrusted) return timings.error();
      row_of_subject.insert(row_of_subject.end(), row_of_other.begin(), row_of_other.end());
      std::string untrusted;
      if (!timings) untrusted = timings.error().where + ": " + timings.error().found;
      const auto trouble_of = [&](std::size_t i) {
        return rows[row_of_subject[i]].provider + ": " + (*timings)[i].note;
      };
      for (std::size_t i = 0; timings && i < subjects.size(); ++i)
        if ((*timings)[i].kept_disturbed) untrusted = trouble_of(i);
      for (std::size_t i = 0; i < row_of_subject.size(); ++i) {
        BenchRow& row = rows[row_of_subject[i]];
        row.untrusted = untrusted;
        if (!timings) continue;
        if (row.untrusted.empty() && (*timings)[i].kept_disturbed) row.untrusted = trouble_of(i);
        row.device_ms = (*timings)[i].device_ms;
        row.wall_ms = (*timings)[i].wall_ms;
        row.few = (*timings)[i].few;
        if (row.device_ms.p50 > 0) row.share_of_ceiling = floor.floor_ms / row.device_ms.p50;
        if (i >= paired.size()) continue;
        const auto share = measure::share_of_ceiling(paired[i]->pairs(), 1e6 * floor.floor_ms, ceiling->expected_ns);
        if (share) row.share_of_ceiling = share->share_pct / 100, row.paired = share->paired;
      }
    }
  return {};
}

namespace {

// A kernel against each other provider: geometric mean of the ratios of medians, and the row where it does worst.
void print_ratios(std::ostream& out, const std::vector<BenchRow>& rows, const render::Style& style) {
  std::vector<std::string> others;
  for (const BenchRow& row : rows)
    if (!row.own && std::find(others.begin(), others.end(), row.provider) == others.end())
      others.push_back(row.provider);
  for (const std::string& other : others) {
    double sum = 0, worst = 0;
    int count = 0;
    const BenchRow *worst_row = nullptr, *held = nullptr;
    for (const BenchRow& row : rows) {
      if (row.provider != other || !(row.device_ms.p50 > 0) || !row.untrusted.empty()) continue;
      const auto own = std::find_if(rows.begin(), rows.end(), [&](const BenchRow& each) {
        return each.own && each.kernel == row.kernel && each.mode == row.mode && each.shape == row.shape &&
               each.device_ms.p50 > 0;
      });
      if (own == rows.end()) continue;
      held = &*own;
      const double ratio = row.device_ms.p50 / own->device_ms.p50;
      sum += std::log(ratio);
      ++count;
      if (!worst_row || ratio < worst) worst = ratio, worst_row = &row;
    }
    if (count > 0)
      out << render::labelled(
          "",
          fmt::format("{} against {}: {:.2f} x as fast (geometric mean of {} rows), least {:.2f} x in {} {} {}",
                      held->provider, other, std::exp(sum / count), count, worst, worst_row->kernel, worst_row->mode,
                      worst_row->shape),
          style, 0);
  }
}

std::string note_of(const BenchRow& row) {
  const std::string few = row.few ? fmt::format("{} samples", row.device_ms.samples) : "";
  if (row.untrusted.empty()) return few;
  return few.empty() ? "disturbed" : "disturbed, " + few;
}

// The rows of one kernel, whose name stands above them.
render::Table table_of(const std::vector<BenchRow>& rows, const std::string& kernel) {
  using render::Align;
  render::Table table({{"mode"},
                       {"dtype", Align::left, 2},
                       {"shape"},
                       {"provider"},
                       {"kernel ms", Align::right},
                       {"wall ms", Align::right, 3},
                       {"GB/s", Align::right, 1},
                       {"ceiling", Align::right},
                       {"note"}});
  for (const BenchRow& row : rows) {
    if (row.kernel != kernel) continue;
    std::vector<std::string> cells = {row.mode, row.dtype, row.shape, row.provider};
    if (row.missing.empty() && row.device_ms.p50 > 0) {
      cells.insert(cells.end(), {fmt::format("{:.4f}", row.device_ms.p50), fmt::format("{:.4f}", row.wall_ms.p50),
                                 fmt::format("{:.2f}", row.bytes / row.device_ms.p50 / 1e6),
                                 fmt::format("{:.1f} %", 100 * row.share_of_ceiling), note_of(row)});
    } else {
      cells.insert(cells.end(),
                   {"-", "-", "-", "-", row.missing.empty() ? "not measured, see below" : "absent: " + row.missing});
    }
    table.add_row(std::move(cells), row.own ? render::Ink::plain : render::Ink::dim);
  }
  return table;
}

}  // namespace

void print_bench(std::ostream& out, const std::vector<BenchRow>& rows, const model::Ceilings& ceilings,
                 const render::Style& style) {
  using render::Align;
  render::Table rates({{"ceiling"}, {"GB/s", Align::right}, {"p20", Align::right}, {"p80", Align::right}});
  const auto gigabytes = [](double rate) { return fmt::format("{:.2f}", rate / 1e9); };
  for (const auto& [name, ceiling] : ceilings.by_name)
    if (name.find("bytes_per_s") != std::string::npos)
      rates.add_row({name, gigabytes(ceiling.p50), gigabytes(ceiling.p20), gigabytes(ceiling.p80)});
  if (!rates.empty()) out << rates.terminal(style);
  std::string kernel;
  for (const BenchRow& row : rows) {
    if (row.kernel == kernel) continue;
    kernel = row.kernel;
    out << "\n" << style.paint(kernel, render::Ink::bold) << "\n" << table_of(rows, kernel).terminal(style);
  }
  out << "\n";
  for (const std::string& line :
       render::wrap("GB/s counts the minimum traffic of the pass (each input read once, each output written once); "
                    "ceiling is the share of the roofline bound, which the ceiling's own program gave between the "
                    "samples of the "
                    "kernel; other providers' shares use the ceilings above. Medians; all "
                    "providers of a row are interleaved in one session.",
                    style.width))
    out << line << "\n";
  print_ratios(out, rows, style);
}

std::string bench_json(const std::vector<BenchRow>& rows, const model::Ceilings& ceilings) {
  using model::Json;
  const auto row_of = [](const BenchRow& row) {
    Json item = Json::object({{"kernel", row.kernel},
                              {"mode", row.mode},
                              {"dtype", row.dtype},
                              {"shape", row.shape},
                              {"provider", row.provider},
                              {"bytes", row.bytes},
                              {"flops", row.flops}});
    if (!row.untrusted.empty()) item.add("untrusted", row.untrusted);
    if (row.missing.empty() && row.device_ms.p50 > 0) {
      item.add("device_ms", row.device_ms.p50);
      item.add("device_ms_p20", row.device_ms.p20);
      item.add("device_ms_p80", row.device_ms.p80);
      item.add("wall_ms", row.wall_ms.p50);
      item.add("share_of_ceiling", row.share_of_ceiling);
      if (row.paired.pairs > 0) item.add("paired", model::json_of(row.paired));
      item.add("samples", row.device_ms.samples);
    } else {
      for (const char* key : {"device_ms", "wall_ms", "share_of_ceiling"}) item.add(key, nullptr);
      if (!row.missing.empty()) item.add("absent", row.missing);
    }
    return item;
  };
  Json medians = Json::object();
  for (const auto& [name, ceiling] : ceilings.by_name) medians.add(name, ceiling.p50);
  return Json::object({{"schema", "hone.bench/1"}, {"rows", Json::list(rows, row_of)}, {"ceilings", medians}})
             .dump_plain(2) +
         "\n";
}

std::vector<std::string> untrusted_rows(const std::vector<BenchRow>& rows) {
  std::vector<std::string> lines;
  for (const BenchRow& row : rows) {
    if (row.untrusted.empty()) continue;
    const std::string line = fmt::format("{} {} {} {}: {}", row.kernel, row.mode, row.dtype, row.shape, row.untrusted);
    if (lines.empty() || lines.back() != line) lines.push_back(line);
  }
  return lines;
}

}  // namespace hone::cli
