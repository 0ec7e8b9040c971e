// How good the sweep's search is, by simulation from timings of a whole space that were recorded before.
//
//   search [FILE...]   default: every results/cpu/search_*.csv
//   search --write     also writes the table to results/cpu/search.md
//   search --record KERNEL...   times every configuration of the sweep of these kernels here, into results/cpu/search_KERNEL.csv;
//                      a stopped recording goes on where it was
//
// A recording has one line for each configuration of one pass at one size:
//   kernel,pass,x_value,shipped,first,second,deviation,settings
//   rms_norm,forward,4096,0,0.913,0.917,0.016,BLOCK_ROW=4 num_threads=2
// shipped is 1 for the settings in force (exactly one a size). first and second are time over theirs, each the median of three
// screenings, taken in turns over the whole recording; deviation is that of log(ratio) between single screenings; settings are
// NAME=VALUE, separated by blanks. Only distinct machine codes stand in it.
//
// An exhaustive search that times everything picks the best of `first`. The simulated one sees `first` with the noise of single
// screenings, for the part it asks for; its three best at each size meet in finals, which show `first`. Both picks are judged
// by `second`, which neither has seen: otherwise the luckiest of many noisy figures would pass for the best configuration. So
// regret, the time of the search's pick over that of the exhaustive one, may be below 0. Beside it stands random choice with
// as many timings.
// Exit 0 when every pass ends within 2 % on average and at most 35 % were timed, 4 when not, 1 without recordings.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/text.hpp"
#include "cli/composition.hpp"
#include "model/version.hpp"
#include "stages/optimize/search.hpp"
#include "stages/optimize/sweep_space.hpp"
#include "stages/trial/lab.hpp"
#include "stages/trial/settings_function.hpp"

namespace {

using namespace hone;

constexpr int kRepeats = 20;
constexpr std::size_t kFinalists = 3;
constexpr double kLargestRegretPct = 2, kLargestShare = 0.35;

[[noreturn]] void fail(const std::string& message) {
  fmt::print(stderr, "search: {}\n", message);
  std::exit(1);
}

struct Timed {
  double first = 0, second = 0, deviation = 0;  // logarithms, and the deviation of one screening
};

// One pass of one kernel: its space and the truth about it.
struct Recording {
  std::vector<stages::SizeSpace> sizes;
  std::vector<std::map<model::Settings, Timed>> truth;  // by size
};

model::Settings settings_of(const std::string& text, const std::string& where) {
  model::Settings settings;
  for (const std::string& item : base::split(base::trim(text), ' ')) {
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos) fail(where + ": settings are NAME=VALUE, found '" + item + "'");
    settings[item.substr(0, equals)] = std::strtoll(item.c_str() + equals + 1, nullptr, 10);
  }
  return settings;
}

void read(const std::string& path, base::FileSystem& files, std::map<std::string, Recording>& recordings) {
  auto text = files.read(path);
  if (!text) fail(path + ": " + text.error().found);
  int number = 0;
  for (const std::string& line : base::split(*text, '\n')) {
    ++number;
    if (line.empty() || line.front() == '#' || base::starts_with(line, "kernel,")) continue;
    const std::string where = fmt::format("{}:{}", path, number);
    const std::vector<std::string> fields = base::split(line, ',');
    if (fields.size() != 8) fail(where + ": expected 8 fields");
    const double first = std::strtod(fields[4].c_str(), nullptr), second = std::strtod(fields[5].c_str(), nullptr);
    const double deviation = std::strtod(fields[6].c_str(), nullptr);
    if (!(first > 0) || !(second > 0) || !(deviation >= 0))
      fail(where + ": ratios must be above 0, the deviation at least 0");
    Recording& recording = recordings[fields[0] + " " + fields[1]];
    auto size = std::find_if(recording.sizes.begin(), recording.sizes.end(),
                             [&](const auto& s) { return s.x_value == fields[2]; });
    if (size == recording.sizes.end()) {
      stages::SizeSpace added;
      added.x_value = fields[2];
      const auto x = stages::parse_size(fields[2]);
      if (!x) fail(where + ": the size is no integer");
      added.x = *x;
      recording.sizes.push_back(added);
      recording.truth.emplace_back();
      size = recording.sizes.end() - 1;
    }
    const model::Settings settings = settings_of(fields[7], where);
    size->distinct.push_back(settings);
    if (fields[3] == "1") size->shipped = settings;
    recording.truth[static_cast<std::size_t>(size - recording.sizes.begin())][settings] = {std::log(first),
                                                                                           std::log(second), deviation};
  }
}

// What a stage needs and a recording does not.
class NoDocuments final : public stages::DocumentWriter {
  base::Result<void> write_profile(const stages::Workspace&, const model::Profile&) override { return {}; }
  base::Result<void> write_notes(const stages::Workspace&, const model::Profile&, const model::Notes&) override {
    return {};
  }
  base::Result<void> write_comparison(const stages::Workspace&, const model::ComparisonDocument&) override {
    return {};
  }
  base::Result<std::vector<std::string>> write_plots(const stages::Workspace&, const model::Report&) override {
    return std::vector<std::string>{};
  }
  base::Result<void> write_report(const stages::Workspace&, const model::Report&) override { return {}; }
};

class Nobody final : public stages::Interaction {
  bool available() const override { return false; }
  stages::Reply ask(const stages::Question&) override { return {}; }
};

class Lines final : public stages::Progress {
  void expect(const std::vector<stages::Work>&) override {}
  void step(const std::string& title) override { fmt::print(stderr, "{}\n", title); }
  void advance(int done, int total, const std::string& detail) override {
    if (done % 20 == 0) fmt::print(stderr, "  {} of {} {}\n", done, total, detail);
  }
  void message(const std::string& text) override { fmt::print(stderr, "{}\n", text); }
};

constexpr std::size_t kRounds = 6;  // screenings of each configuration, spread over the recording

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// One lab for each round: a lab never measures the same thing twice.
std::string record_pass(std::vector<stages::Lab>& rounds, const std::string& kernel, const std::string& pass,
                        const model::Variant& shipped) {
  auto space = stages::distinct_configurations(rounds.front(), shipped, pass, {});
  if (!space) fail(base::describe(space.error()));
  std::vector<std::map<model::Settings, std::vector<double>>> values(space->sizes.size());
  int done = 0;
  for (stages::Lab& lab : rounds) {
    for (std::size_t i = 0; i < space->sizes.size(); ++i) {
      const stages::SizeSpace& size = space->sizes[i];
      for (const model::Settings& settings : size.distinct) {
        lab.ports().progress.advance(++done, static_cast<int>(kRounds * space->distinct_pairs()), kernel + " " + pass);
        if (settings == size.shipped) continue;
        auto timed = lab.screen({size.x_value, pass}, size.shipped, settings);
        if (!timed) fail(base::describe(timed.error()));
        if (timed->usable) values[i][settings].push_back(timed->log_ratio);
      }
    }
  }
  std::string lines;
  for (std::size_t i = 0; i < space->sizes.size(); ++i) {
    const std::string head = kernel + "," + pass + "," + space->sizes[i].x_value;
    lines += fmt::format("{},1,1,1,0,{}\n", head, stages::settings_text(space->sizes[i].shipped));
    for (const auto& [settings, logs] : values[i]) {
      if (logs.size() < kRounds) continue;  // it does not run reliably: no figure for it
      std::vector<double> first, second, distances;
      for (std::size_t r = 0; r < logs.size(); ++r) (r % 2 == 0 ? first : second).push_back(logs[r]);
      for (const double log : logs) distances.push_back(std::abs(log - median_of(logs)));
      // 1.4826 times the median distance from the median is a normal distribution's deviation.
      lines += fmt::format("{},0,{:.5f},{:.5f},{:.5f},{}\n", head, std::exp(median_of(first)),
                           std::exp(median_of(second)), 1.4826 * median_of(distances), stages::settings_text(settings));
    }
  }
  return lines;
}

void record(const std::string& kernel) {
  cli::Machine machine;
  cli::Meant meant;
  meant.device = "auto";
  auto opened = cli::open_repository(machine, meant);
  if (!opened) fail(base::describe(opened.error()));
  model::Request request;
  request.kernel = kernel;
  auto session = opened->repository->open(request);
  if (!session) fail(base::describe(session.error()));
  model::Profile profile;
  profile.kernel = kernel;
  profile.request = request;
  stages::OptimizeOptions options;
  NoDocuments documents;
  Nobody nobody;
  Lines lines;
  const std::atomic<bool> stop{false};
  const stages::Ports ports{machine.files, machine.processes, documents, nobody, lines, stop};
  auto workspace = stages::Workspace::open(machine.files, "build/search_recording", kernel);
  if (!workspace) fail(base::describe(workspace.error()));
  std::vector<stages::Lab> rounds;
  rounds.reserve(kRounds);
  for (std::size_t round = 0; round < kRounds; ++round) {
    const std::string path = workspace->at(fmt::format("round_{}.jsonl", round + 1));
    auto journal = stages::Journal::open(machine.files, machine.clock, path, (*session)->source_hash());
    if (!journal) fail(base::describe(journal.error()));
    rounds.emplace_back(**session, **session, **session, **session, profile, options, ports, *workspace,
                        std::move(*journal));
  }
  const model::DeviceInfo device = (*session)->device();
  std::string text =
      fmt::format("# {}, {}; {}; hone {}; {}\nkernel,pass,x_value,shipped,first,second,deviation,settings\n",
                  device.name, device.architecture, device.compiler, model::hone_commit(), machine.clock.utc());
  for (const std::string& mode : (*session)->modes()) {
    if (mode != "full") text += record_pass(rounds, kernel, mode, (*session)->original());
  }
  const std::string path = "results/cpu/search_" + kernel + ".csv";
  if (auto written = machine.files.write_atomically(path, text); !written) fail(base::describe(written.error()));
  fmt::print("{}\n", path);
}

struct Regret {
  double mean_pct = 0, worst_pct = 0;  // over sizes and repeats
  int beyond = 0, cells = 0;           // sizes and repeats that end more than 2 % from the best
};

struct Row {
  std::string name;
  std::size_t sizes = 0, pairs = 0;
  double share = 0, seconds = 0;
  Regret search, random;
};

// What finals over the best screened leave at each size, against what an exhaustive search picks.
void add_regret(Regret& regret, const Recording& recording, const std::vector<model::Settings>& points,
                const std::vector<stages::Screened>& screened) {
  for (std::size_t t = 0; t < recording.sizes.size(); ++t) {
    std::vector<std::pair<double, const Timed*>> order;
    for (const stages::Screened& s : screened) {
      if (s.task == t) order.emplace_back(s.estimate.log_ratio, &recording.truth[t].at(points[s.point]));
    }
    std::sort(order.begin(), order.end());
    Timed found, best;  // the shipped settings are always there
    for (std::size_t i = 0; i < std::min(order.size(), kFinalists); ++i) {
      if (order[i].second->first < found.first) found = *order[i].second;
    }
    for (const auto& [settings, timed] : recording.truth[t]) {
      if (timed.first < best.first) best = timed;
    }
    const double pct = 100 * (std::exp(found.second - best.second) - 1);
    regret.mean_pct += pct;
    regret.worst_pct = std::max(regret.worst_pct, pct);
    regret.beyond += pct > kLargestRegretPct ? 1 : 0;
    ++regret.cells;
  }
}

std::vector<stages::Screened> random_choice(const stages::SearchSpace& space, std::size_t budget,
                                            const stages::Measure& measure, std::mt19937_64& random) {
  std::vector<stages::Screened> pairs, screened;
  for (std::size_t t = 0; t < space.tasks.size(); ++t) {
    for (const std::size_t p : space.tasks[t].points) {
      if (p == space.tasks[t].incumbent)
        screened.push_back({t, p, {}});
      else
        pairs.push_back({t, p, {}});
    }
  }
  std::shuffle(pairs.begin(), pairs.end(), random);
  for (const stages::Screened& pair : pairs) {
    if (screened.size() >= budget) break;
    screened.push_back({pair.task, pair.point, *measure(pair.task, pair.point)});
  }
  return screened;
}

Row simulate(const std::string& name, const Recording& recording) {
  Row row;
  row.name = name, row.sizes = recording.sizes.size();
  std::vector<model::Settings> points;
  const stages::SearchSpace space = stages::search_space(recording.sizes, points);
  for (const stages::SearchTask& task : space.tasks) row.pairs += task.points.size();
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    std::mt19937_64 random(static_cast<std::uint64_t>(repeat) + 1);
    const stages::Measure measure = [&](std::size_t task, std::size_t point) -> base::Result<stages::Estimate> {
      const Timed& timed = recording.truth[task].at(points[point]);
      return stages::Estimate{timed.first + timed.deviation * std::normal_distribution<double>()(random),
                              std::max(timed.deviation, 0.002), true};
    };
    const auto start = std::chrono::steady_clock::now();
    const auto outcome = stages::search(space, {}, measure);
    row.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / kRepeats;
    if (!outcome) fail(outcome.error().found);
    row.share = std::max(row.share, static_cast<double>(outcome->screened.size()) / static_cast<double>(row.pairs));
    add_regret(row.search, recording, points, outcome->screened);
    add_regret(row.random, recording, points, random_choice(space, outcome->screened.size(), measure, random));
  }
  row.search.mean_pct /= row.search.cells;
  row.random.mean_pct /= row.random.cells;
  return row;
}

std::string table_of(const std::vector<Row>& rows) {
  std::string table =
      "| pass | sizes | configurations | timed at most | regret, mean | regret, worst | beyond 2 % | random: mean | "
      "random: beyond 2 % | search alone |\n|---|---|---|---|---|---|---|---|---|---|\n";
  for (const Row& r : rows) {
    table +=
        fmt::format("| {} | {} | {} | {:.0f} % | {:.2f} % | {:.2f} % | {} of {} | {:.2f} % | {} of {} | {:.3f} s |\n",
                    r.name, r.sizes, r.pairs, 100 * r.share, r.search.mean_pct, r.search.worst_pct, r.search.beyond,
                    r.search.cells, r.random.mean_pct, r.random.beyond, r.random.cells, r.seconds);
  }
  return table;
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 2 && std::string(arguments[1]) == "--record") {
    for (int i = 2; i < count; ++i) record(arguments[i]);
    return 0;
  }
  base::SystemFiles files;
  std::vector<std::string> paths;
  bool write = false;
  for (int i = 1; i < count; ++i) {
    if (std::string(arguments[i]) == "--write")
      write = true;
    else
      paths.push_back(arguments[i]);
  }
  if (paths.empty() && files.is_directory("results/cpu")) {
    const auto names = files.list("results/cpu");
    if (!names) fail(names.error().found);
    for (const std::string& name : *names) {
      if (base::starts_with(name, "search_") && name.size() > 4 && name.substr(name.size() - 4) == ".csv")
        paths.push_back("results/cpu/" + name);
    }
  }
  if (paths.empty()) fail("no recordings: results/cpu/search_*.csv, or name files");
  std::map<std::string, Recording> recordings;
  for (const std::string& path : paths) read(path, files, recordings);
  std::vector<Row> rows;
  bool good = true;
  for (auto& [name, recording] : recordings) {
    // search_space() wants ascending sizes, and every size its shipped settings.
    for (const stages::SizeSpace& size : recording.sizes) {
      if (size.shipped.empty()) fail(name + " at " + size.x_value + ": no line has shipped = 1");
    }
    std::vector<std::size_t> order(recording.sizes.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return recording.sizes[a].x < recording.sizes[b].x; });
    Recording sorted;
    for (const std::size_t i : order)
      sorted.sizes.push_back(recording.sizes[i]), sorted.truth.push_back(recording.truth[i]);
    rows.push_back(simulate(name, sorted));
    good = good && rows.back().search.mean_pct <= kLargestRegretPct && rows.back().share <= kLargestShare;
  }
  const std::string table = table_of(rows);
  fmt::print("{}", table);
  if (write) {
    const std::string head = fmt::format(
        "# The sweep's search, simulated from recorded timings\n\nMade by `./dev bench search --write` from {}. {} "
        "repeats with the recorded noise.\n\n",
        base::join_text(paths, ", "), kRepeats);
    if (auto written = files.write_atomically("results/cpu/search.md", head + table); !written)
      fail(written.error().found);
  }
  return good ? 0 : 4;
}
