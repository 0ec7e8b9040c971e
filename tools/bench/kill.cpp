// Kills a full run of hone with SIGKILL at random instants and looks at what is left on the disk.
//
//   kill [KILLS]          default 200; needs build/hone
//   kill KILLS --write    also writes the table to results/cpu/kill.md
//   --kernel NAME (default rms_norm), --seed N, --folder DIR (default build/kill; emptied first), --hone FILE
//
// A campaign is one `hone run` of a kernel's forward pass at two small sizes, one variant, in a fresh workspace, killed and started again until it
// comes to its end. Instants are uniform over the time that a whole run takes. Every second campaign begins with installed
// settings that suit another machine (one thread, narrow vectors), so that a winner is there to be installed over them; the
// others begin without a settings file. After every kill:
//   - the settings in force are the old text or whole new ones that a session loads;
//   - every document of the workspace is whole, every journal line but the last one can be read;
//   - the snapshot is what it was;
//   - no measurement stands in the journal twice, so nothing that was finished is done again;
//   - of the configurations that the sweep had begun to time, all but the one in flight are in the journal; of the paired
//     comparisons whose samples are kept, all but one as well.
// After every end of a run: no temporary file is left, and the settings in force are what the report says.
// Ctrl-C ends it after the present run with the table of what was done. Exit 0 when all of it holds, 4 when not or when fewer
// kills were done than asked for, 1 when hone could not be run.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "cli/composition.hpp"
#include "model/version.hpp"
#include "repository/native/settings_store.hpp"
#include "stages/records.hpp"

namespace {

using namespace hone;

constexpr std::int64_t kLongestRunMs = 600'000;

std::atomic<bool> stop_asked{false};

[[noreturn]] void fail(const std::string& message) {
  fmt::print(stderr, "kill: {}\n", message);
  std::exit(1);
}

template <class T>
T value_or_fail(base::Result<T> result) {
  if (!result) fail(base::describe(result.error()));
  return *std::move(result);
}

struct Options {
  int kills = 200;
  std::uint64_t seed = 1;
  std::string kernel = "rms_norm", folder = "build/kill", hone = "build/hone";
  bool write = false;
};

struct Tally {
  int kills = 0, old_settings = 0, new_settings = 0, torn_lines = 0, temporary_files = 0, taken_back = 0;
  int lost_screenings = 0, lost_comparisons = 0;  // begun and not in the journal, over all kills
};

class Campaigns {
 public:
  explicit Campaigns(const Options& options)
      : kernel_(options.kernel), folder_(options.folder), hone_(options.hone), random_(options.seed) {
    (void)files_.remove_recursively(folder_);
    cli::Machine machine;
    cli::Meant meant;
    meant.device = "cpu";
    const auto opened = value_or_fail(cli::open_repository(machine, meant));
    model::Request request;
    request.kernel = kernel_;
    worse_ = value_or_fail(opened.repository->open(request))->original();
    worse_.id = "v1", worse_.strategy = "parameter-sweep", worse_.title = "measured on another machine";
    for (auto& [pass, function] : worse_.settings) {
      for (model::SettingsRule& rule : function.rules) {
        for (const auto& [knob, value] : {std::pair{"num_threads", 1}, {"VECTOR_BYTES", 32}, {"STREAMING_STORES", 0}})
          if (rule.settings.count(knob) > 0) rule.settings[knob] = value;
      }
    }
    device_name_ = opened.device->info().name;
    device_text_ = fmt::format("{}, {} cores, {}", device_name_, opened.device->info().sm_count,
                               opened.device->info().architecture);
  }

  // A run that nobody kills, with a cache that knows every program: how long it takes.
  double measure_whole_run() {
    for (int repeat = 0; repeat < 2; ++repeat) {
      begin(true);
      const base::Outcome outcome = run(kLongestRunMs);
      if (outcome.timed_out) fail("an undisturbed run did not end within ten minutes");
      if (outcome.exit_status != 0 && outcome.exit_status != 4) fail("an undisturbed run failed:\n" + outcome.error);
      whole_run_ms_ = static_cast<double>(outcome.wall_ns) / 1e6;
    }
    return whole_run_ms_;
  }

  void kill(int kills) {
    for (int campaign = 0; killed_ < kills && !stop_asked; ++campaign) {
      begin(campaign % 2 == 0);
      ++campaigns_;
      while (true) {
        const bool enough = killed_ >= kills || stop_asked;
        const double instant = std::uniform_real_distribution<double>(1, whole_run_ms_)(random_);
        const base::Outcome outcome = run(enough ? kLongestRunMs : static_cast<std::int64_t>(instant));
        if (outcome.timed_out && enough) fail("a resumed run did not end within ten minutes");
        if (outcome.timed_out) {
          ++killed_;
          inspect_after_kill(outcome, instant);
          if (killed_ % 20 == 0) fmt::print(stderr, "{} of {} kills\n", killed_, kills);
          continue;
        }
        inspect_after_end(outcome);
        break;
      }
    }
  }

  bool good() const { return complaints_.empty(); }
  int killed() const { return killed_; }
  std::string document() const;

 private:
  std::string workspace(const std::string& name = "") const {
    return base::join(folder_ + "/optimization/" + kernel_, name);
  }
  std::string settings_file() const { return folder_ + "/settings/" + kernel_ + ".json"; }
  std::string settings_text() {
    return files_.exists(settings_file()) ? value_or_fail(files_.read(settings_file())) : "";
  }

  void complain(const std::string& what) {
    complaints_.push_back(what);
    fmt::print(stderr, "kill: WRONG: {}\n", what);
  }

  void begin(bool with_settings) {
    (void)files_.remove_recursively(folder_ + "/optimization");
    (void)files_.remove_recursively(folder_ + "/settings");
    snapshot_.clear();
    old_settings_.clear();
    if (!with_settings) return;
    const repository::native::InstalledEntry entry{device_name_, "fp32", worse_, worse_.title, "", ""};
    const repository::native::SettingsStore store(files_, folder_ + "/settings");
    old_settings_ = value_or_fail(store.text_with(kernel_, entry));
    if (auto written = files_.write_atomically(settings_file(), old_settings_); !written)
      fail(base::describe(written.error()));
  }

  base::Outcome run(std::int64_t deadline_ms) {
    base::Command command;
    command.arguments = {hone_,
                         "run",
                         kernel_,
                         "--quick",
                         "--sizes",
                         "64,128",
                         "--scope",
                         "forward",
                         "--max-variants",
                         "1",
                         "--autonomous",
                         "--verbose",
                         "--workspace",
                         folder_ + "/optimization"};
    command.environment = {{"HONE_SETTINGS_DIR", folder_ + "/settings"}, {"HONE_CACHE_DIR", folder_ + "/cache"}};
    command.deadline_ms = deadline_ms;
    return value_or_fail(processes_.run(command));
  }

  // "sweep forward" and "14/32" of "[  2.0 s] optimize 2/3 · sweep forward 14/32 · about 5 s left · hidden_size=64".
  struct Step {
    std::string title, units;
  };
  static std::optional<Step> step_of(const std::string& line) {
    static const std::regex form(R"(\[ *[0-9.]+ s\] [a-z]+ \d/\d · (.*?)(?: (\d+/\d+))?(?: · .*)?)");
    std::smatch found;
    if (!std::regex_match(line, found, form)) return std::nullopt;
    return Step{found[1].str(), found[2].str()};
  }

  static std::string last_step(const std::string& log) {
    std::string title = "start";
    for (const std::string& line : base::split(log, '\n'))
      if (const auto step = step_of(line)) title = step->title;
    // Every variant is one stage of the work, whatever its number.
    if (title.size() > 1 && title[0] == 'v' && title[1] >= '0' && title[1] <= '9') title = "variant";
    if (base::starts_with(title, "apply ")) title = "apply and full gate";
    if (base::starts_with(title, "measure original")) title = "measure original, winner and eager";
    return title;
  }

  // Lines of the search that say which configuration is timed next.
  static int screenings_begun(const std::string& log) {
    int begun = 0;
    for (const std::string& line : base::split(log, '\n')) {
      const auto step = step_of(line);
      if (step && step->title == "sweep forward" && !step->units.empty()) ++begun;
    }
    return begun;
  }

  void inspect_after_kill(const base::Outcome& outcome, double instant) {
    Tally& tally = by_step_[last_step(outcome.error)];
    const std::string where =
        fmt::format("kill {} after {:.0f} ms, in '{}'", killed_, instant, last_step(outcome.error));
    ++tally.kills;
    if (outcome.error.find("production is as it was before") != std::string::npos) ++tally.taken_back;
    inspect_settings(where, tally);
    inspect_documents(where, tally);
    inspect_journal(where, outcome.error, tally);
  }

  void inspect_settings(const std::string& where, Tally& tally) {
    const std::string text = settings_text();
    if (text == old_settings_) {
      ++tally.old_settings;
      return;
    }
    ++tally.new_settings;
    const repository::native::SettingsStore store(files_, folder_ + "/settings");
    const auto entry = store.load(kernel_, device_name_, "fp32");
    if (!entry || !*entry) complain(where + ": the settings file is neither the old one nor a whole new one");
  }

  void inspect_documents(const std::string& where, Tally& tally) {
    if (!files_.is_directory(workspace())) return;
    for (const std::string& name : value_or_fail(files_.list(workspace()))) {
      const std::string path = workspace(name);
      if (files_.is_directory(path)) continue;
      if (base::starts_with(name, ".hone-")) {
        ++tally.temporary_files;
        continue;
      }
      const std::string text = value_or_fail(files_.read(path));
      const auto ends = [&](const std::string& tail) {
        return name.size() >= tail.size() && name.compare(name.size() - tail.size(), tail.size(), tail) == 0;
      };
      bool whole = true;
      if (base::starts_with(name, "original_")) {
        const auto [known, is_new] = snapshot_.emplace(name, text);
        if (!is_new && known->second != text) complain(where + ": " + name + " has changed");
        continue;
      }
      if (name == "profile.json")
        whole = model::parse_profile(text, path).ok();
      else if (name == "comparison.json")
        whole = model::parse_comparison(text, path).ok();
      else if (name == "report.json")
        whole = stages::parse_report_head(text).has_value();
      else if (ends("_settings.json"))
        whole = model::parse_variant(text, path).ok();
      else if (ends(".json"))
        whole = stages::parse_head(text).has_value();
      else if (ends(".md"))
        whole = !text.empty() && text.back() == '\n';
      if (!whole) complain(where + ": " + name + " is not whole");
    }
    for (const auto& [name, text] : snapshot_) {
      if (!files_.exists(workspace(name))) complain(where + ": " + name + " is gone");
    }
  }

  // The lines of a journal: the last one may be torn, each key is recorded once since the last "begin".
  std::map<std::string, std::set<std::string>> journal_keys(const std::string& where, const std::string& path,
                                                            Tally* tally) {
    std::map<std::string, std::set<std::string>> keys;
    if (!files_.exists(path)) return keys;
    const std::vector<std::string> lines = base::split(value_or_fail(files_.read(path)), '\n');
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].empty()) continue;
      const auto record = stages::parse_line(lines[i]);
      if (!record) {
        if (tally != nullptr) ++tally->torn_lines;
        continue;
      }
      if (record->event == "begin")
        keys.clear();
      else if (!keys[record->event].insert(record->key).second)
        complain(where + ": done twice: " + record->event + " " + record->key);
    }
    return keys;
  }

  void inspect_journal(const std::string& where, const std::string& log, Tally& tally) {
    auto keys = journal_keys(where, workspace("journal.jsonl"), &tally);
    const int lost = screenings_begun(log) - static_cast<int>(keys["screened"].size());
    if (lost > 1) complain(fmt::format("{}: {} configurations begun are not in the journal", where, lost));
    tally.lost_screenings += std::max(0, lost);
    if (!files_.is_directory(workspace("samples"))) return;
    int unrecorded = 0;
    std::set<std::string> seen;
    for (const std::string& name : value_or_fail(files_.list(workspace("samples")))) {
      for (const std::string& line : base::split(value_or_fail(files_.read(workspace("samples/" + name))), '\n')) {
        const auto record = stages::parse_line(line);
        if (!record || record->event != "samples" || record->key.empty()) continue;
        const bool fresh = seen.insert(record->key).second;
        if (fresh && keys["compared"].count(record->key) == 0) ++unrecorded;
      }
    }
    if (unrecorded > 1) complain(fmt::format("{}: {} comparisons have samples and no record", where, unrecorded));
    tally.lost_comparisons += unrecorded;
  }

  void inspect_after_end(const base::Outcome& outcome) {
    const std::string where = fmt::format("the end of campaign {}", campaigns_);
    if (outcome.exit_status != 0 && outcome.exit_status != 4 && outcome.exit_status != 5)
      complain(where + ": exit status " + std::to_string(outcome.exit_status) + "\n" + outcome.error);
    ++ends_[outcome.exit_status];
    Tally ignored;
    inspect_documents(where, ignored);
    if (ignored.temporary_files > 0) complain(where + ": temporary files are left in the workspace");
    if (files_.is_directory(folder_ + "/settings")) {
      for (const std::string& name : value_or_fail(files_.list(folder_ + "/settings")))
        if (name != kernel_ + ".json") complain(where + ": " + name + " is left beside the settings");
    }
    if (outcome.exit_status != 0) {
      if (settings_text() != old_settings_) complain(where + ": it failed and left new settings in force");
      return;
    }
    const auto report = stages::parse_report_head(value_or_fail(files_.read(workspace("report.json"))));
    if (!report) return complain(where + ": no report");
    const bool changed = settings_text() != old_settings_;
    applied_ += report->applied ? 1 : 0;
    if (report->applied != changed)
      complain(fmt::format("{}: the report says {}, the settings are {}", where,
                           report->applied ? "applied" : "not applied", changed ? "new" : "old"));
  }

  base::SystemFiles files_;
  base::SystemProcesses processes_;
  std::string kernel_, folder_, hone_, device_name_, device_text_, old_settings_;
  model::Variant worse_;
  std::mt19937_64 random_;
  double whole_run_ms_ = 0;
  int killed_ = 0, campaigns_ = 0, applied_ = 0;
  std::map<std::string, std::string> snapshot_;
  std::map<std::string, Tally> by_step_;
  std::map<int, int> ends_;
  std::vector<std::string> complaints_;
};

std::string Campaigns::document() const {
  std::string text = fmt::format(
      "- device: {}; kernel {}, forward\n- a whole run took {:.1f} s; {} kills in {} runs that were started again "
      "until they ended; {} of them "
      "installed a winner\n",
      device_text_, kernel_, whole_run_ms_ / 1000, killed_, campaigns_, applied_);
  for (const auto& [status, count] : ends_) text += fmt::format("- ended with exit status {}: {}\n", status, count);
  text +=
      "\n| killed in | kills | old settings in force | new settings in force | had taken back an installation | torn "
      "last "
      "lines | configurations lost | comparisons lost | temporary files until the next write "
      "|\n|---|---|---|---|---|---|---|---|---|\n";
  Tally sum;
  const auto row = [&](const std::string& name, const Tally& t) {
    text +=
        fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", name, t.kills, t.old_settings, t.new_settings,
                    t.taken_back, t.torn_lines, t.lost_screenings, t.lost_comparisons, t.temporary_files);
  };
  for (const auto& [step, tally] : by_step_) {
    row(step, tally);
    sum.kills += tally.kills, sum.old_settings += tally.old_settings, sum.new_settings += tally.new_settings;
    sum.torn_lines += tally.torn_lines, sum.temporary_files += tally.temporary_files,
        sum.taken_back += tally.taken_back;
    sum.lost_screenings += tally.lost_screenings, sum.lost_comparisons += tally.lost_comparisons;
  }
  row("all", sum);
  text += "\n";
  for (const std::string& complaint : complaints_) text += "- DOES NOT HOLD: " + complaint + "\n";
  if (complaints_.empty())
    text +=
        "- holds: settings old or new and whole, documents whole, snapshot unchanged, nothing finished was done again, "
        "at "
        "most one configuration lost by a kill, no temporary file left at the end\n";
  return text;
}

}  // namespace

int main(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    const bool more = i + 1 < count;
    if (word == "--write")
      options.write = true;
    else if (word == "--seed" && more)
      options.seed = std::strtoull(arguments[++i], nullptr, 10);
    else if (word == "--kernel" && more)
      options.kernel = arguments[++i];
    else if (word == "--folder" && more)
      options.folder = arguments[++i];
    else if (word == "--hone" && more)
      options.hone = arguments[++i];
    else
      options.kills = std::atoi(arguments[i]);
  }
  if (options.kills < 1) fail("KILLS is a number of at least 1");
  std::signal(SIGINT, [](int) { stop_asked = true; });
  Campaigns campaigns(options);
  fmt::print(stderr, "a whole run takes {:.1f} s\n", campaigns.measure_whole_run() / 1000);
  campaigns.kill(options.kills);
  const std::string body = campaigns.document();
  fmt::print("{}", body);
  if (options.write) {
    base::SystemFiles files;
    base::SystemClock clock;
    const std::string head = fmt::format(
        "# SIGKILL at random instants of a full run\n\n- hone {} ({}), {}, command `./dev bench kill {} --write`\n",
        model::hone_version(), model::hone_commit(), clock.utc(), options.kills);
    if (auto written = files.write_atomically("results/cpu/kill.md", head + body); !written)
      fail(base::describe(written.error()));
  }
  return campaigns.good() && campaigns.killed() >= options.kills ? 0 : 4;
}
