// How good the sweep's search is, by simulation from timings of a whole space that were recorded before.
//
//   search [FILE...]   default: every results/cpu/search_*.csv
//   search --write     also writes the table to results/cpu/search.md
//
// A recording has one line for each configuration of one pass at one size:
//   kernel,pass,x_value,shipped,ratio,deviation,settings
//   rms_norm,forward,4096,0,0.913,0.006,BLOCK_ROW=4 num_threads=2
// shipped is 1 for the settings in force (exactly one a size); ratio is time over theirs; deviation is that of log(ratio) in one
// screening; settings are NAME=VALUE, separated by blanks. Only distinct machine codes stand in it.
//
// Each search is repeated with fresh noise of that deviation; its three best at each size then meet in finals, which are taken to
// be right. Regret is what they leave against the best of all. Beside it stands random choice with as many timings.
// Exit 0 when every size ends within 2 % of the best on average and at most 35 % were timed, 4 when not, 1 without recordings.
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
#include "stages/optimize/search.hpp"
#include "stages/optimize/settings_function.hpp"
#include "stages/optimize/sweep_space.hpp"

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
  double log_ratio = 0, deviation = 0;
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
    if (fields.size() != 7) fail(where + ": expected 7 fields");
    const double ratio = std::strtod(fields[4].c_str(), nullptr), deviation = std::strtod(fields[5].c_str(), nullptr);
    if (!(ratio > 0) || !(deviation >= 0)) fail(where + ": ratio must be above 0 and deviation at least 0");
    Recording& recording = recordings[fields[0] + " " + fields[1]];
    auto size = std::find_if(recording.sizes.begin(), recording.sizes.end(),
                             [&](const auto& s) { return s.x_value == fields[2]; });
    if (size == recording.sizes.end()) {
      stages::SizeSpace added;
      added.x_value = fields[2];
      const auto x = stages::parse_size(fields[2]);
      if (!x) fail(where + ": the size is no whole number");
      added.x = *x;
      recording.sizes.push_back(added);
      recording.truth.emplace_back();
      size = recording.sizes.end() - 1;
    }
    const model::Settings settings = settings_of(fields[6], where);
    size->distinct.push_back(settings);
    if (fields[3] == "1") size->shipped = settings;
    recording.truth[static_cast<std::size_t>(size - recording.sizes.begin())][settings] = {std::log(ratio), deviation};
  }
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

// What finals over the best screened leave at each size.
void add_regret(Regret& regret, const Recording& recording, const std::vector<model::Settings>& points,
                const std::vector<stages::Screened>& screened) {
  for (std::size_t t = 0; t < recording.sizes.size(); ++t) {
    std::vector<std::pair<double, const Timed*>> order;
    for (const stages::Screened& s : screened) {
      if (s.task == t) order.emplace_back(s.estimate.log_ratio, &recording.truth[t].at(points[s.point]));
    }
    std::sort(order.begin(), order.end());
    double found = 0, best = 0;  // log of 1: the shipped settings are always there
    for (std::size_t i = 0; i < std::min(order.size(), kFinalists); ++i)
      found = std::min(found, order[i].second->log_ratio);
    for (const auto& [settings, timed] : recording.truth[t]) best = std::min(best, timed.log_ratio);
    const double pct = 100 * (std::exp(found - best) - 1);
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
      return stages::Estimate{timed.log_ratio + timed.deviation * std::normal_distribution<double>()(random),
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
