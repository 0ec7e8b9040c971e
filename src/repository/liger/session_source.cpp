// Variants as texts: settings and source rewrites applied to the operation's file.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "model/version.hpp"
#include "repository/liger/liger_session.hpp"

namespace hone::repository::liger {

namespace rewrite = source::rewrite;

namespace {

// The rewrites whose knobs the parameter sweep turns; others are variants of their own.
constexpr const char* kSettings = "settings-function";
constexpr const char* kPrograms = "programs-per-sm";
constexpr const char* kPrefetch = "prefetch";
constexpr const char* kUnrolling = "unrolling";

rewrite::Pass pass_of(const std::string& word) {
  if (word == "forward") return rewrite::Pass::forward;
  if (word == "backward") return rewrite::Pass::backward;
  return rewrite::Pass::any;
}

bool serves(const rewrite::Finding& finding, rewrite::Pass pass) {
  return std::any_of(finding.sites.begin(), finding.sites.end(),
                     [&](const rewrite::Site& site) { return site.pass == pass || site.pass == rewrite::Pass::any; });
}

bool is_swept(const rewrite::Finding& finding) {
  const std::string name = finding.rewrite->name;
  return name == kSettings || name == kPrograms;
}

std::string header() {
  return "Variant made by hone " + std::string(model::hone_version()) +
         " for measurement; settings and changes are listed below.";
}

// The lines that differ, for the notebook.
std::string short_diff(const std::string& before, const std::string& after) {
  const std::vector<std::string> old_lines = base::split(before, '\n'), new_lines = base::split(after, '\n');
  std::multiset<std::string> old_set(old_lines.begin(), old_lines.end()), new_set(new_lines.begin(), new_lines.end());
  std::string text;
  for (const std::string& line : old_lines)
    if (!new_set.count(line)) text += "- " + line + "\n";
  for (const std::string& line : new_lines)
    if (!old_set.count(line)) text += "+ " + line + "\n";
  return text;
}

}  // namespace

std::vector<Knob> LigerSession::knobs() const {
  std::vector<Knob> all;
  for (const rewrite::Finding& finding : rewrites_) {
    if (!is_swept(finding) || finding.sites.empty()) continue;
    for (const rewrite::Knob& knob : finding.knobs) {
      if (knob.name == "BLOCK_SIZE") continue;  // one tile a row: another size is another algorithm
      for (const std::string& pass : passes()) {
        if (!serves(finding, pass_of(pass)) || (request_.scope != "general" && request_.scope != pass)) continue;
        Knob entry{knob.name, pass, knob.meaning, "parameter-sweep", {}};
        for (const std::string& value : knob.values) entry.values.push_back(std::strtoll(value.c_str(), nullptr, 10));
        if (finding.rewrite->name == std::string(kPrograms)) entry.values.push_back(1);
        std::sort(entry.values.begin(), entry.values.end());
        if (knob.name == "num_stages") {
          // Stages act on loops that can be pipelined; elsewhere every value is the same machine code.
          const bool live = std::any_of(op_.launches.begin(), op_.launches.end(), [&](const model::LaunchFact& launch) {
            return launch.num_stages_live == model::Liveness::live;
          });
          if (!live) continue;
        }
        all.push_back(std::move(entry));
      }
    }
  }
  return all;
}

std::vector<model::Settings> LigerSession::space(const std::string& pass, const std::string& x_value) const {
  const auto known = shipped_.find({pass, x_value});
  const model::Settings shipped = known == shipped_.end() ? model::Settings{} : known->second;
  std::vector<model::Settings> all = {shipped};
  std::vector<model::Settings> grid = {shipped};
  const std::int64_t columns = std::strtoll(x_value.c_str(), nullptr, 10);
  for (const Knob& knob : knobs()) {
    if (knob.pass != pass) continue;
    std::vector<model::Settings> next;
    for (const model::Settings& base : grid) {
      for (std::int64_t value : knob.values) {
        // A thread holds at least four elements of the row, half of its widest load, and at most 128: a kernel keeps several
        // such rows in registers. What the checkout chooses by itself is always among them.
        if (knob.name == "num_warps" && (4 * 32 * value > columns || columns > 128 * 32 * value)) continue;
        if (knob.name == "programs_per_sm")
          if (const auto over = too_much_memory_.find(pass);
              over != too_much_memory_.end() && over->second.count(value))
            continue;
        model::Settings settings = base;
        settings[knob.name] = value;
        next.push_back(std::move(settings));
      }
    }
    if (!next.empty()) grid = std::move(next);
  }
  for (model::Settings& settings : grid)
    if (settings != shipped) all.push_back(std::move(settings));
  return all;
}

base::Result<std::string> LigerSession::with_settings(
    const std::string& text, const std::map<std::string, model::SettingsFunction>& settings) const {
  std::map<std::string, std::vector<rewrite::Request>> by_rewrite;
  std::string reasons;
  for (const auto& [pass, function] : settings) {
    std::map<std::string, rewrite::Request> requests;
    for (std::size_t i = 0; i < function.rules.size(); ++i) {
      const model::SettingsRule& rule = function.rules[i];
      const long long to = i + 1 < function.rules.size() ? function.rules[i + 1].from_x - 1 : rewrite::kAnySize;
      // What the checkout chooses by itself in this range is left to it.
      bool shipped = !rule.settings.empty(), any = false;
      for (const auto& [key, known] : shipped_) {
        if (key.first != pass) continue;
        const long long x = std::strtoll(key.second.c_str(), nullptr, 10);
        if (x < rule.from_x || x > to) continue;
        any = true;
        shipped = shipped && known == rule.settings;
      }
      if (rule.settings.empty() || (any && shipped)) continue;
      for (const auto& [knob, value] : rule.settings) {
        const std::string name = knob == "programs_per_sm" ? kPrograms : kSettings;
        if (name == kPrograms && value == 1) continue;
        rewrite::Request& request = requests[name];
        request.rewrite = name;
        request.pass = pass_of(pass);
        request.reason = function.reason;
        if (request.by_size.empty() || request.by_size.back().from != rule.from_x)
          request.by_size.push_back({rule.from_x, to, {}});
        request.by_size.back().values[knob] = value;
      }
    }
    for (auto& [name, request] : requests) by_rewrite[name].push_back(std::move(request));
  }
  std::vector<rewrite::Request> all;
  for (const char* name : {kSettings, kPrograms})
    for (rewrite::Request& request : by_rewrite[name]) all.push_back(std::move(request));
  if (all.empty()) return text;
  auto& files = const_cast<LigerSession&>(*this).context_.files;
  auto made = rewrite::compose(files, path_, text, all, header());
  if (!made) return made.error();
  return std::move(made->text);
}

base::Result<std::string> LigerSession::text_of(const model::Variant& variant) const {
  std::string text = text_;
  for (const model::SourceEdit& edit : variant.edits) {
    if (edit.file != relative_)
      return base::Error{base::ErrorKind::gate, "changes of " + relative_ + " alone", edit.file, "variant",
                         "a variant of several files is not supported"};
    text = edit.content;
  }
  return with_settings(text, variant.settings);
}

std::vector<model::StrategyStep> LigerSession::source_strategies() const {
  std::vector<model::StrategyStep> steps = op_.strategy_order;
  for (const rewrite::Finding& finding : rewrites_) {
    if (finding.sites.empty() || is_swept(finding)) continue;
    const std::string strategy = finding.rewrite->strategy;
    if (std::any_of(steps.begin(), steps.end(),
                    [&](const model::StrategyStep& step) { return step.strategy == strategy; }))
      continue;
    const rewrite::Site& site = finding.sites.front();
    steps.push_back(
        {strategy, finding.rewrite->title,
         fmt::format("{} places, the first at {}:{}", finding.sites.size(), base::file_name(relative_), site.line),
         "not known before it is measured", "measured behind the gates"});
  }
  // A loop that waits for its loads has more to gain than a hint to the cache has.
  std::stable_partition(steps.begin() + static_cast<std::ptrdiff_t>(op_.strategy_order.size()), steps.end(),
                        [](const model::StrategyStep& step) { return step.strategy == kPrefetch; });
  return steps;
}

namespace {

// The same variant with at most `most` programs on each SM; nothing where it has no more than that.
std::optional<model::Variant> with_fewer_programs(const model::Variant& best, std::int64_t most) {
  model::Variant fewer = best;
  bool any = false;
  for (auto& [pass, function] : fewer.settings)
    for (model::SettingsRule& rule : function.rules)
      if (const auto programs = rule.settings.find("programs_per_sm");
          programs != rule.settings.end() && programs->second > most) {
        programs->second = most;
        rule.reason += fmt::format("; at most {} on each SM, since the loop prefetches", most);
        any = true;
      }
  return any ? std::optional(std::move(fewer)) : std::nullopt;
}

// One change to try: knobs of the rewrite, on settings that suit it.
struct Try {
  std::map<std::string, std::string> values;
  model::Variant base;
  std::string word;  // what the base differs in from the best variant
};

std::vector<Try> tries_of(const rewrite::Finding& finding, const model::Variant& best) {
  std::vector<std::map<std::string, std::string>> values;
  for (const rewrite::Knob& knob : finding.knobs)
    for (const std::string& value : knob.values) values.push_back({{knob.name, value}});
  if (finding.knobs.empty()) values.push_back({});
  std::vector<Try> tries;
  // Turns in flight and programs side by side hide the same latency, and each program costs partial results: the more of
  // the one, the fewer of the other are tried first.
  if (finding.rewrite->strategy == std::string(kPrefetch))
    for (std::int64_t most : {1, 2}) {
      const std::size_t i = static_cast<std::size_t>(most - 1);
      if (auto fewer = with_fewer_programs(best, most); fewer && i < values.size())
        tries.push_back({values[i], std::move(*fewer), fmt::format(", at most {} programs on each SM", most)});
    }
  for (auto& each : values) tries.push_back({std::move(each), best, ""});
  return tries;
}

// What the passes that a change touches may gain: a part of what lies over their floor, told as the guess that it is.
std::vector<model::Prediction> predictions_of(const model::Profile& profile,
                                              const std::vector<rewrite::Site>& touched) {
  std::vector<model::Prediction> predictions;
  for (const model::Headroom& row : profile.headroom) {
    const bool reached = std::any_of(touched.begin(), touched.end(), [&](const rewrite::Site& site) {
      return site.pass == rewrite::Pass::any || row.mode == rewrite::word(site.pass);
    });
    if (!reached || row.mode == "full" || row.ratio <= 1 ||
        row.x_value != profile.baseline.observations.largest_x_value)
      continue;
    predictions.push_back({row.x_value, row.mode, 1 - 0.25 * (1 - 1 / row.ratio),
                           fmt::format("{:.0f} % of the time lies over the floor; a rewrite of this kind is expected "
                                       "to take off a quarter of it at most",
                                       100 * (1 - 1 / row.ratio))});
  }
  return predictions;
}

}  // namespace

// Turns joined into one hold more values at once, which a kernel that spills has no registers for.
bool LigerSession::spills(const std::vector<rewrite::Site>& touched) const {
  for (const std::string& pass : passes()) {
    const bool reached = std::any_of(touched.begin(), touched.end(), [&](const rewrite::Site& site) {
      return site.pass == rewrite::Pass::any || rewrite::word(site.pass) == pass;
    });
    const auto part = built_.find("v0|" + pass + "|" + std::to_string(sizes_.back()));
    if (reached && part != built_.end() && part->second.spill_bytes > 0) return true;
  }
  return false;
}

std::vector<Proposal> LigerSession::propose(const std::string& strategy, const model::Profile& profile,
                                            const model::Variant& best) {
  std::vector<Proposal> proposals;
  if (strategy == "correctness") return proposals;  // right offsets for large shapes are no matter of speed
  const std::string base_text = best.edits.empty() ? text_ : best.edits.back().content;
  for (const rewrite::Finding& finding : rewrite::survey(context_.files, path_, base_text)) {
    if (finding.rewrite->strategy != strategy || is_swept(finding) || finding.sites.empty()) continue;
    for (const Try& each : tries_of(finding, best)) {
      rewrite::Request request;
      request.rewrite = finding.rewrite->name;
      request.values = each.values;
      request.reason = "strategy " + strategy;
      if (request_.scope != "general") request.pass = pass_of(request_.scope);
      // Larger tiles than the ones measured must still run, so turns in flight stop where the memory does.
      if (strategy == kPrefetch && finding.rewrite->name == std::string("loop-stages") &&
          profile.device.shared_memory_per_block_bytes > 0)
        request.values["shared_bytes"] = std::to_string(profile.device.shared_memory_per_block_bytes);
      auto made = rewrite::compose(context_.files, path_, base_text, {request}, header());
      if (!made) continue;
      if (strategy == kUnrolling && spills(made->touched)) continue;
      std::string title = finding.rewrite->title;
      for (const auto& [knob, value] : each.values) title += fmt::format(": {} = {}", knob, value);
      title += each.word;
      Proposal proposal;
      proposal.variant = each.base;
      proposal.variant.parent = best.id;
      proposal.variant.strategy = strategy;
      proposal.variant.title = title;
      proposal.variant.edits = {{relative_, made->text}};
      std::vector<std::string> places;
      for (const rewrite::Site& site : made->touched)
        places.push_back(fmt::format("{} (line {}, {})", site.what.empty() ? site.kernel : site.what, site.line,
                                     rewrite::word(site.pass)));
      proposal.hypothesis =
          fmt::format("{} in {}. Applies to {}.", title, base::file_name(relative_), finding.rewrite->where);
      proposal.changes = "Rewritten: " + base::join_text(places, "; ") +
                         ". Everything else, comments and public functions included, is as it was.";
      proposal.diff = short_diff(base_text, made->text);
      proposal.predictions = predictions_of(profile, made->touched);
      proposals.push_back(std::move(proposal));
    }
  }
  return proposals;
}

base::Result<model::Variant> LigerSession::variant_from_source(const std::string& text, const model::Variant& best) {
  if (base::trim(text).empty())
    return base::Error{base::ErrorKind::gate, "the changed text of " + relative_, "an empty file", "variant.py",
                       "write the whole file"};
  model::Variant variant;
  variant.parent = best.id;
  variant.edits = {{relative_, text}};  // as it stands: its settings are in it
  return variant;
}

}  // namespace hone::repository::liger
