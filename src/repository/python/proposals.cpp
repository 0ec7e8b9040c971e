#include "repository/python/proposals.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "repository/python/knob_space.hpp"
#include "repository/python/variants.hpp"

namespace hone::repository::python {

namespace rewrite = source::rewrite;

namespace {

constexpr const char *kPrefetch = "prefetch", *kUnrolling = "unrolling";

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

// The same variant with at most `most` programs on each SM; nothing where it has no more than that.
std::optional<model::Variant> with_fewer_programs(const model::Variant& best, std::int64_t most) {
  model::Variant fewer = best;
  bool any = false;
  for (auto& [pass, function] : fewer.settings)
    for (model::SettingsRule& rule : function.rules)
      if (const auto programs = rule.settings.find(kProgramsKnob);
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
    predictions.push_back(
        {row.x_value, row.mode, 1 - 0.25 * (1 - 1 / row.ratio),
         fmt::format("{:.0f} % of the time lies above the roofline bound; a rewrite of this kind is expected "
                     "to take off a quarter of it at most",
                     100 * (1 - 1 / row.ratio))});
  }
  return predictions;
}

// Turns joined into one hold more values at once, which a kernel that spills has no registers for.
bool spills(const std::vector<rewrite::Site>& touched, const ProposalContext& context) {
  for (const char* pass : {"forward", "backward"})
    if (context.spills(pass) && std::any_of(touched.begin(), touched.end(), [&](const rewrite::Site& site) {
          return site.pass == rewrite::Pass::any || rewrite::word(site.pass) == std::string(pass);
        }))
      return true;
  return false;
}

std::optional<Proposal> proposal_of(const rewrite::Finding& finding, const Try& each, const std::string& base_text,
                                    const model::Profile& profile, const model::Variant& best,
                                    const ProposalContext& context) {
  const std::string strategy = finding.rewrite->strategy;
  rewrite::Request request;
  request.rewrite = finding.rewrite->name;
  request.values = each.values;
  request.reason = "strategy " + strategy;
  if (context.scope != "general") request.pass = rewrite_pass(context.scope);
  // Larger tiles than the ones measured must still run, so turns in flight stop where the memory does.
  if (strategy == kPrefetch && finding.rewrite->name == std::string("loop-stages") &&
      profile.device.shared_memory_per_block_bytes > 0)
    request.values["shared_bytes"] = std::to_string(profile.device.shared_memory_per_block_bytes);
  auto made = rewrite::compose(context.files, context.source.path, base_text, {request}, variant_header());
  if (!made || (strategy == kUnrolling && spills(made->touched, context))) return std::nullopt;
  std::string title = finding.rewrite->title;
  for (const auto& [knob, value] : each.values) title += fmt::format(": {} = {}", knob, value);
  title += each.word;
  std::vector<std::string> places;
  for (const rewrite::Site& site : made->touched)
    places.push_back(fmt::format("{} (line {}, {})", site.what.empty() ? site.kernel : site.what, site.line,
                                 rewrite::word(site.pass)));
  Proposal proposal;
  proposal.variant = each.base;
  proposal.variant.parent = best.id;
  proposal.variant.strategy = strategy;
  proposal.variant.title = title;
  proposal.variant.edits = {{context.source.relative, made->text}};
  proposal.hypothesis =
      fmt::format("{} in {}. Applies to {}.", title, base::file_name(context.source.relative), finding.rewrite->where);
  proposal.changes = "Rewritten: " + base::join_text(places, "; ") +
                     ". Everything else, comments and public functions included, is as it was.";
  proposal.diff = short_diff(base_text, made->text);
  proposal.predictions = predictions_of(profile, made->touched);
  return proposal;
}

}  // namespace

std::vector<Proposal> proposals_for(const std::string& strategy, const model::Profile& profile,
                                    const model::Variant& best, const ProposalContext& context) {
  std::vector<Proposal> proposals;
  if (strategy == "correctness") return proposals;  // right offsets for large shapes are no matter of speed
  const std::string base_text = best.edits.empty() ? context.source.text : best.edits.back().content;
  for (const rewrite::Finding& finding : rewrite::survey(context.files, context.source.path, base_text)) {
    if (finding.rewrite->strategy != strategy || is_swept(finding) || finding.sites.empty()) continue;
    for (const Try& each : tries_of(finding, best))
      if (auto proposal = proposal_of(finding, each, base_text, profile, best, context))
        proposals.push_back(std::move(*proposal));
  }
  return proposals;
}

std::vector<model::StrategyStep> strategies_of(const OperatorSource& source,
                                               const std::vector<rewrite::Finding>& rewrites) {
  const std::vector<model::StrategyStep>& audited = source.audited.strategy_order;
  std::vector<model::StrategyStep> steps = audited;
  for (const rewrite::Finding& finding : rewrites) {
    if (finding.sites.empty() || is_swept(finding)) continue;
    const std::string strategy = finding.rewrite->strategy;
    if (std::any_of(steps.begin(), steps.end(),
                    [&](const model::StrategyStep& step) { return step.strategy == strategy; }))
      continue;
    const rewrite::Site& site = finding.sites.front();
    steps.push_back({strategy, finding.rewrite->title,
                     fmt::format("{} places, the first at {}:{}", finding.sites.size(),
                                 base::file_name(source.relative), site.line),
                     "not known before it is measured", "measured behind the gates"});
  }
  // A loop that waits for its loads has more to gain than a hint to the cache has.
  std::stable_partition(steps.begin() + static_cast<std::ptrdiff_t>(audited.size()), steps.end(),
                        [](const model::StrategyStep& step) { return step.strategy == kPrefetch; });
  return steps;
}

}  // namespace hone::repository::python
