#include "stages/trial/settings_function.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <set>

namespace hone::stages {

namespace {

struct Choice {
  double worst = std::numeric_limits<double>::infinity(), mean = std::numeric_limits<double>::infinity();
  std::size_t candidate = 0, weight = 1;
};

// The best single candidate for sizes first..last with at most `weight_limit` distinct settings; a tie goes to the shipped.
Choice best_for(const CostTable& table, const std::vector<double>& best, std::size_t first, std::size_t last,
                std::size_t weight_limit) {
  Choice chosen;
  for (std::size_t c = 0; c < table.cost.front().size(); ++c) {
    std::size_t weight = 1;
    if (c == 0)
      weight = std::set<model::Settings>(table.shipped.begin() + static_cast<std::ptrdiff_t>(first),
                                         table.shipped.begin() + static_cast<std::ptrdiff_t>(last) + 1)
                   .size();
    if (weight > weight_limit) continue;
    double worst = 0, mean = 0;
    for (std::size_t x = first; x <= last; ++x) {
      const double slowdown = table.cost[x][c] / best[x];
      worst = std::max(worst, slowdown);
      mean += slowdown / static_cast<double>(last - first + 1);
    }
    if (worst < chosen.worst - 1e-9 || (worst < chosen.worst + 1e-9 && mean < chosen.mean - 1e-9))
      chosen = {worst, mean, c, weight};
  }
  return chosen;
}

struct State {
  double worst = std::numeric_limits<double>::infinity(), mean = std::numeric_limits<double>::infinity();
  std::size_t from = 0, used_before = 0, candidate = 0;
  bool reached = false;
};

std::optional<Partition> partition_with(const CostTable& table, const std::vector<double>& best, std::size_t limit) {
  const std::size_t n = table.cost.size();
  std::vector<std::vector<State>> state(n + 1, std::vector<State>(limit + 1));
  state[0][0] = {0, 0, 0, 0, 0, true};
  for (std::size_t end = 1; end <= n; ++end) {
    for (std::size_t from = 0; from < end; ++from) {
      for (std::size_t used = 0; used < limit; ++used) {
        if (!state[from][used].reached) continue;
        const Choice piece = best_for(table, best, from, end - 1, limit - used);
        if (piece.worst == std::numeric_limits<double>::infinity()) continue;
        const double worst = std::max(state[from][used].worst, piece.worst);
        const double mean = state[from][used].mean + piece.mean * static_cast<double>(end - from);
        State& target = state[end][used + piece.weight];
        if (!target.reached || worst < target.worst - 1e-9 ||
            (worst < target.worst + 1e-9 && mean < target.mean - 1e-9)) {
          target = {worst, mean, from, used, piece.candidate, true};
        }
      }
    }
  }
  std::size_t used = limit + 1;
  for (std::size_t u = 1; u <= limit; ++u) {
    if (state[n][u].reached && (used > limit || state[n][u].worst < state[n][used].worst - 1e-9)) used = u;
  }
  if (used > limit) return std::nullopt;
  Partition partition;
  partition.worst_slowdown = state[n][used].worst - 1;
  for (std::size_t end = n; end > 0;) {
    const State& s = state[end][used];
    partition.pieces.insert(partition.pieces.begin(), {s.from, end - 1, s.candidate});
    end = s.from;
    used = s.used_before;
  }
  return partition;
}

}  // namespace

Partition choose_partition(const CostTable& table, std::size_t at_most, double tolerance) {
  Partition chosen;
  if (table.cost.empty()) return chosen;
  std::vector<double> best;
  for (const auto& row : table.cost) best.push_back(*std::min_element(row.begin(), row.end()));
  bool found = false;
  // Growing limits: the first within the tolerance wins; otherwise the best one up to at_most. Beyond at_most only when
  // nothing smaller covers every size; keeping every shipped setting always does.
  for (std::size_t limit = 1; limit <= std::max(at_most, table.cost.size()); ++limit) {
    if (limit > at_most && found) break;
    const auto partition = partition_with(table, best, limit);
    if (!partition) continue;
    if (!found || partition->worst_slowdown < chosen.worst_slowdown - 1e-9) chosen = *partition;
    found = true;
    if (chosen.worst_slowdown <= tolerance) break;
  }
  for (const Piece& piece : chosen.pieces) {
    for (std::size_t x = piece.first; x <= piece.last; ++x)
      chosen.slowdown.push_back(table.cost[x][piece.candidate] / best[x] - 1);
  }
  return chosen;
}

std::vector<model::SettingsRule> rules_of(const Partition& partition, const CostTable& table,
                                          const std::vector<std::int64_t>& sizes,
                                          const std::vector<model::Settings>& candidates,
                                          const std::vector<std::string>& reasons) {
  std::vector<model::SettingsRule> rules;
  for (std::size_t i = 0; i < partition.pieces.size(); ++i) {
    const Piece& piece = partition.pieces[i];
    const std::size_t last = piece.candidate == 0 ? piece.last : piece.first;
    for (std::size_t x = piece.first; x <= last; ++x) {
      rules.push_back({rules.empty() ? 0 : sizes[x],
                       piece.candidate == 0 ? table.shipped[x] : candidates[piece.candidate], reasons[i]});
    }
  }
  merge_rules(rules);
  return rules;
}

void merge_rules(std::vector<model::SettingsRule>& rules) {
  std::vector<model::SettingsRule> merged;
  for (model::SettingsRule& rule : rules) {
    if (!merged.empty() && merged.back().settings == rule.settings) {
      if (merged.back().reason != rule.reason) merged.back().reason += "; " + rule.reason;
    } else {
      merged.push_back(std::move(rule));
    }
  }
  rules = std::move(merged);
}

void couple(model::SettingsFunction& backward, const model::SettingsFunction& forward,
            const std::vector<std::string>& knobs) {
  std::set<std::int64_t> starts;
  for (const model::SettingsRule& rule : backward.rules) starts.insert(rule.from_x);
  for (const model::SettingsRule& rule : forward.rules) starts.insert(rule.from_x);
  std::vector<model::SettingsRule> rules;
  for (const std::int64_t x : starts) {
    const auto next = std::find_if(backward.rules.begin(), backward.rules.end(),
                                   [&](const model::SettingsRule& r) { return r.from_x > x; });
    model::SettingsRule rule = *(next - 1);
    rule.from_x = x;
    for (const std::string& knob : knobs) {
      const auto value = forward.at(x).find(knob);
      if (value != forward.at(x).end() && rule.settings.count(knob)) rule.settings[knob] = value->second;
    }
    rules.push_back(std::move(rule));
  }
  merge_rules(rules);
  backward.rules = std::move(rules);
}

std::size_t distinct_settings(const model::SettingsFunction& function) {
  std::set<model::Settings> distinct;
  for (const model::SettingsRule& rule : function.rules) distinct.insert(rule.settings);
  return distinct.size();
}

std::string settings_text(const model::Settings& settings) {
  std::string text;
  for (const auto& [name, value] : settings) text += (text.empty() ? "" : " ") + name + "=" + std::to_string(value);
  return text.empty() ? "no knobs" : text;
}

base::Result<std::int64_t> parse_size(const std::string& x_value) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(x_value.data(), x_value.data() + x_value.size(), value);
  if (code != std::errc() || end != x_value.data() + x_value.size() || value < 0) {
    return base::Error{base::ErrorKind::preflight, "sizes that are integers, so that settings can follow them",
                       "'" + x_value + "'", "the kernel's sizes", "give integers with --sizes"};
  }
  return value;
}

}  // namespace hone::stages
