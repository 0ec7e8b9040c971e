// The settings function: few settings, contiguous ranges, a bound that holds. Properties over random cost tables.
#include "stages/trial/settings_function.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace hone::test {
namespace {

using namespace stages;

CostTable random_table(std::size_t sizes, std::size_t candidates, bool one_shipped) {
  CostTable table;
  for (std::size_t x = 0; x < sizes; ++x) {
    std::vector<double> row = {1};
    for (std::size_t c = 1; c <= candidates; ++c) {
      const int value = *rc::gen::inRange(0, 100);
      row.push_back(value < 15 ? std::numeric_limits<double>::infinity() : 0.5 + value / 100.0);
    }
    table.cost.push_back(row);
    table.shipped.push_back({{"ROWS", one_shipped ? 1 : *rc::gen::inRange(1, 4)}});
  }
  return table;
}

// The best worst-case of every way to cut the sizes into pieces, by trying all: candidates weigh one each.
double best_by_trying_all(const CostTable& table, std::size_t at_most) {
  const std::size_t n = table.cost.size();
  double best_worst = std::numeric_limits<double>::infinity();
  for (unsigned cuts = 0; cuts < (1u << (n - 1)); ++cuts) {
    double worst = 0;
    std::size_t first = 0, pieces = 0;
    for (std::size_t x = 0; x < n; ++x) {
      if (x + 1 < n && !(cuts >> x & 1)) continue;
      double piece = std::numeric_limits<double>::infinity();
      for (std::size_t c = 0; c < table.cost[0].size(); ++c) {
        double of_candidate = 0;
        for (std::size_t i = first; i <= x; ++i)
          of_candidate =
              std::max(of_candidate, table.cost[i][c] / *std::min_element(table.cost[i].begin(), table.cost[i].end()));
        piece = std::min(piece, of_candidate);
      }
      worst = std::max(worst, piece);
      first = x + 1;
      ++pieces;
    }
    if (pieces <= at_most) best_worst = std::min(best_worst, worst);
  }
  return best_worst - 1;
}

RC_GTEST_PROP(SettingsFunction, CoversEverySizeOnceWithAtMostKSettings, ()) {
  const auto table = random_table(*rc::gen::inRange<std::size_t>(1, 8), *rc::gen::inRange<std::size_t>(0, 6), true);
  const std::size_t k = *rc::gen::inRange<std::size_t>(1, 5);
  const Partition p = choose_partition(table, k, 0);
  RC_ASSERT(!p.pieces.empty());
  RC_ASSERT(p.pieces.front().first == 0u);
  RC_ASSERT(p.pieces.back().last + 1 == table.cost.size());
  for (std::size_t i = 1; i < p.pieces.size(); ++i) RC_ASSERT(p.pieces[i].first == p.pieces[i - 1].last + 1);
  RC_ASSERT(p.pieces.size() <= k);
  RC_ASSERT(p.slowdown.size() == table.cost.size());
  RC_ASSERT(std::abs(*std::max_element(p.slowdown.begin(), p.slowdown.end()) - p.worst_slowdown) < 1e-9);
}

RC_GTEST_PROP(SettingsFunction, HasTheSmallestWorstSlowdownThereIs, ()) {
  const auto table = random_table(*rc::gen::inRange<std::size_t>(1, 7), *rc::gen::inRange<std::size_t>(0, 5), true);
  const std::size_t k = *rc::gen::inRange<std::size_t>(1, 4);
  RC_ASSERT(std::abs(choose_partition(table, k, 0).worst_slowdown - best_by_trying_all(table, k)) < 1e-9);
}

RC_GTEST_PROP(SettingsFunction, RulesSayAtEverySizeWhatThePartitionChose, ()) {
  const auto table = random_table(*rc::gen::inRange<std::size_t>(1, 8), 4, false);
  const Partition p = choose_partition(table, 3, 0.01);
  std::vector<std::int64_t> sizes;
  for (std::size_t x = 0; x < table.cost.size(); ++x) sizes.push_back(static_cast<std::int64_t>(100 * (x + 1)));
  const std::vector<model::Settings> candidates = {{}, {{"ROWS", 11}}, {{"ROWS", 12}}, {{"ROWS", 13}}, {{"ROWS", 14}}};
  model::SettingsFunction f;
  f.rules = rules_of(p, table, sizes, candidates, std::vector<std::string>(p.pieces.size(), "why"));
  RC_ASSERT(f.rules.front().from_x == 0);
  for (const Piece& piece : p.pieces) {
    for (std::size_t x = piece.first; x <= piece.last; ++x)
      RC_ASSERT(f.at(sizes[x]) == (piece.candidate == 0 ? table.shipped[x] : candidates[piece.candidate]));
  }
  for (std::size_t i = 1; i < f.rules.size(); ++i) RC_ASSERT(f.rules[i].settings != f.rules[i - 1].settings);
}

TEST(SettingsFunction, OneSettingIsTakenWhereASecondWouldBringLessThanTheTolerance) {
  CostTable table;
  table.cost = {{1, 0.800, 0.795}, {1, 0.700, 0.706}};
  table.shipped = {{{"ROWS", 1}}, {{"ROWS", 1}}};
  EXPECT_EQ(choose_partition(table, 3, 0.01).pieces.size(), 1u);
  EXPECT_EQ(choose_partition(table, 3, 0.0).pieces.size(), 2u);
}

TEST(SettingsFunction, ATieKeepsTheShippedSettings) {
  CostTable table;
  table.cost = {{1, 1}, {1, 1}};
  table.shipped = {{{"ROWS", 1}}, {{"ROWS", 1}}};
  EXPECT_EQ(choose_partition(table, 3, 0.01).pieces.front().candidate, 0u);
}

TEST(SettingsFunction, ShippedSettingsThatVaryCountAsManyAndAreKeptWhereNothingElseRuns) {
  CostTable table;
  for (int i = 0; i < 5; ++i) {
    table.cost.push_back({1, std::numeric_limits<double>::infinity()});
    table.shipped.push_back({{"ROWS", i}});
  }
  const Partition p = choose_partition(table, 3, 0.01);
  EXPECT_EQ(p.worst_slowdown, 0);
  for (const Piece& piece : p.pieces) EXPECT_EQ(piece.candidate, 0u);
}

TEST(SettingsFunction, BackwardFollowsCoupledKnobsOfForwardAtEverySize) {
  model::SettingsFunction forward, backward;
  forward.rules = {{0, {{"WIDTH", 4}}, "f"}, {1500, {{"WIDTH", 8}}, "f"}};
  backward.rules = {{0, {{"WIDTH", 4}, {"ROWS", 1}}, "b"}, {2048, {{"WIDTH", 8}, {"ROWS", 2}}, "b"}};
  couple(backward, forward, {"WIDTH"});
  for (const std::int64_t x : {0, 1, 1499, 1500, 1800, 2048, 9000})
    EXPECT_EQ(backward.at(x).at("WIDTH"), forward.at(x).at("WIDTH")) << x;
  EXPECT_EQ(backward.at(1800).at("ROWS"), 1);
  EXPECT_EQ(backward.at(2048).at("ROWS"), 2);
}

TEST(SettingsFunction, SizesAreWholeNumbers) {
  EXPECT_EQ(*parse_size("4096"), 4096);
  for (const char* text : {"", "12x", "-4", "1.5", "99999999999999999999"}) EXPECT_FALSE(parse_size(text)) << text;
}

}  // namespace
}  // namespace hone::test
