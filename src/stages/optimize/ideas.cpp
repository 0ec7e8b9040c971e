#include "stages/optimize/ideas.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "stages/optimize/notebook.hpp"
#include "stages/trial/settings_function.hpp"

namespace hone::stages {

namespace {
constexpr int kFromOneStrategy = 3;  // then the next strategy has its turn
}  // namespace

std::optional<repository::Proposal> combine(const Evaluation& mixed, const model::Variant& best,
                                            const std::string& x_name, const std::vector<std::string>& sizes) {
  const model::Variant& source = mixed.contestant.variant;
  if (!source.edits.empty()) return std::nullopt;
  repository::Proposal proposal;
  proposal.variant = best;
  proposal.variant.strategy = "combination";
  proposal.variant.title = "the parts of " + source.id + " that were faster, the rest from " + best.id;
  std::string parts;
  for (const auto& [pass, function] : source.settings) {
    const auto kept = best.settings.find(pass);
    if (kept == best.settings.end() || kept->second.rules.empty() || function.rules.empty()) continue;
    std::vector<std::pair<std::int64_t, bool>> by_size;
    for (const std::string& x_value : sizes) {
      const auto x = parse_size(x_value);
      if (!x) return std::nullopt;
      const repository::Cell cell{x_value, pass};
      const auto found = std::find_if(mixed.against_parent.begin(), mixed.against_parent.end(),
                                      [&](const CellResult& r) { return r.cell == cell; });
      const bool faster = found != mixed.against_parent.end() && found->comparison.verdict == model::Verdict::faster;
      by_size.emplace_back(*x, faster);
      if (!faster) continue;
      proposal.predictions.push_back({x_value, pass, found->comparison.ratio, "measured for " + source.id + " alone"});
      parts += fmt::format("{}{} at {}: {}", parts.empty() ? "" : "; ", pass, x_value, claim_of(found->comparison));
    }
    std::sort(by_size.begin(), by_size.end());
    model::SettingsFunction joined = kept->second;
    joined.x_name = x_name;
    joined.rules.clear();
    for (const auto& [x, faster] : by_size) {
      joined.rules.push_back({joined.rules.empty() ? 0 : x, (faster ? function : kept->second).at(x),
                              faster ? "from " + source.id + ", where it was faster" : "from " + best.id});
    }
    merge_rules(joined.rules);
    proposal.variant.settings[pass] = joined;
  }
  if (parts.empty()) return std::nullopt;
  proposal.hypothesis = source.id + " was faster in part and slower in part. Its gains were measured by themselves (" +
                        parts + "), so taking only these should keep them.";
  proposal.changes = "Settings of " + source.id + " where it won, of " + best.id + " elsewhere.";
  proposal.diff = settings_diff(best, proposal.variant);
  return proposal;
}

std::optional<repository::Proposal> Ideas::combination(const model::Variant& best) {
  while (!parts_.empty()) {
    const Evaluation mixed = std::move(parts_.front());
    parts_.pop_front();
    auto proposal = combine(mixed, best, lab_.described().x_name(), lab_.described().sizes());
    if (proposal && is_new(proposal->variant)) return proposal;
  }
  return std::nullopt;
}

bool Ideas::sweep_is_due() {
  const auto& order = lab_.profile().strategy_order;
  if (strategy_ >= order.size() || order[strategy_].strategy != kSweepStrategy) return false;
  ++strategy_;
  of_strategy_ = 0;
  return true;
}

std::optional<Idea> Ideas::from_strategies(const model::Variant& best) {
  const auto& order = lab_.profile().strategy_order;
  while (strategy_ < order.size()) {
    if (sweep_is_due()) return Idea{true, {}};
    if (of_strategy_ < kFromOneStrategy) {
      const std::string& word = order[strategy_].strategy;
      for (repository::Proposal& proposal : changeable_.propose(word, lab_.profile(), best)) {
        if (!is_new(proposal.variant)) continue;
        proposal.variant.strategy = order[strategy_].strategy;
        ++of_strategy_;
        return Idea{false, std::move(proposal)};
      }
    }
    ++strategy_;
    of_strategy_ = 0;
  }
  return std::nullopt;
}

base::Result<std::optional<Idea>> Ideas::next(const model::Variant& best, const std::vector<TriedVariant>& tried,
                                              const std::vector<std::string>& notes_files) {
  is_new(best);
  if (sweep_is_due()) return std::optional(Idea{true, {}});
  if (auto proposal = combination(best)) return std::optional(Idea{false, std::move(*proposal)});
  while (!lab_.options().proposer.empty() && !proposer_done_) {
    HONE_TRY(answer, ask_proposer(lab_, changeable_, ++asked_, best, tried, notes_files));
    if (answer->kind == ProposerAnswer::Kind::proposal && is_new(answer->proposal.variant))
      return std::optional(Idea{false, answer->proposal});
    proposer_done_ = true;
    const std::string why =
        answer->kind == ProposerAnswer::Kind::proposal ? "it proposed what was tried before" : answer->reason;
    findings_.push_back("proposer '" + lab_.options().proposer + "': " + why + "; it is not asked again");
    lab_.ports().progress.message(findings_.back());
  }
  return from_strategies(best);
}

}  // namespace hone::stages
