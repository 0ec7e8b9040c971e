// From measured costs to a settings function: few distinct settings over contiguous ranges of sizes, chosen so that the worst
// slowdown against the best found at any size is as small as it can be. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/variant.hpp"

namespace hone::stages {

// cost[size][candidate] = time / time of the shipped settings there; infinity where not measured or not valid.
// Candidate 0 is "the shipped settings", which may themselves vary by size: cost 1 everywhere.
struct CostTable {
  std::vector<std::vector<double>> cost;
  std::vector<model::Settings> shipped;  // by size
};

struct Piece {
  std::size_t first = 0, last = 0;  // sizes, inclusive
  std::size_t candidate = 0;
};

struct Partition {
  std::vector<Piece> pieces;
  double worst_slowdown = 0;     // 0.02: at one size the choice is 2 % slower than the best found there
  std::vector<double> slowdown;  // by size
};

// At most `at_most` distinct settings (a shipped piece counts the distinct shipped settings it covers). Fewer are taken
// when that costs no more than `tolerance`. Where at_most can not hold the shipped settings of sizes that have no other
// candidate, the fewest possible are used.
Partition choose_partition(const CostTable& table, std::size_t at_most, double tolerance);

// The rules of a partition: a piece starts at its first size (the first one at 0), shipped pieces expand to the shipped
// settings. `candidates[0]` is not read. Reasons stand in `reasons`, one for each piece.
std::vector<model::SettingsRule> rules_of(const Partition& partition, const CostTable& table,
                                          const std::vector<std::int64_t>& sizes,
                                          const std::vector<model::Settings>& candidates,
                                          const std::vector<std::string>& reasons);

// Joins neighbours with equal settings.
void merge_rules(std::vector<model::SettingsRule>& rules);

// Gives `backward` the values that `forward` has for the coupled knobs, at every size: its rules are cut where forward's are.
void couple(model::SettingsFunction& backward, const model::SettingsFunction& forward,
            const std::vector<std::string>& knobs);

std::size_t distinct_settings(const model::SettingsFunction& function);
std::string settings_text(const model::Settings& settings);  // "BLOCK_ROW=4 num_threads=2"
base::Result<std::int64_t> parse_size(const std::string& x_value);

}  // namespace hone::stages
