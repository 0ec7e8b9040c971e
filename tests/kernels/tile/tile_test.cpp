// The vocabulary of tile programs on the CPU against plain loops in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/tile/tile.hpp"

namespace kernels {
namespace {

constexpr std::int64_t row_lengths[] = {0, 1, 3, 15, 16, 17, 64, 1000, 1023, 1024, 1025, 5000};
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Rows {
  std::int64_t rows, columns;
  std::vector<float> values;
  Rows(std::int64_t r, std::int64_t c, float scale = 3) : rows(r), columns(c) {
    std::mt19937 generator(int(r * 7919 + c));
    std::normal_distribution<float> normal(0, scale);
    for (std::int64_t i = 0; i < r * c; ++i) values.push_back(normal(generator));
  }
  const float* row(std::int64_t r) const { return values.data() + r * columns; }
};

// One program over all rows, in blocks of two and one.
template <class F>
void for_all_rows(const Rows& m, F body) {
  char ring[64];
  tile::Machine machine(0, 0, ring);
  machine.for_rows(m.rows, m.rows, m.columns, [&](auto block) { body(machine, block); });
}

TEST(Vocabulary, MaximumOfARow) {
  for (const std::int64_t columns : row_lengths) {
    const Rows m(3, columns);
    std::vector<float> found(3);
    for_all_rows(m, [&](auto&, auto block) {
      const auto x = block.load(m.values.data(), columns);
      block.store_column(found.data(), block.max([&](auto e) { return x[e] - 100.0f; }));
    });
    for (int r = 0; r < 3; ++r) {
      double expected = -infinity;
      for (std::int64_t c = 0; c < columns; ++c) expected = std::max(expected, double(m.row(r)[c] - 100.0f));
      EXPECT_EQ(found[r], expected) << columns;
    }
  }
}

TEST(Vocabulary, ExponentialSumKeepsItsAccuracyWhateverTheOrder) {
  for (const std::int64_t columns : row_lengths) {
    for (const int order : {-1, 0, 1}) {
      Rows m(3, columns, 20);
      if (order != 0) std::sort(m.values.begin(), m.values.end());
      if (order < 0) std::reverse(m.values.begin(), m.values.end());
      std::vector<float> largest(3), sum(3);
      for_all_rows(m, [&](auto&, auto block) {
        const auto x = block.load(m.values.data(), columns);
        const auto found = block.exp_sum([&](auto e) { return x[e]; });
        block.store_column(largest.data(), found.maximum);
        block.store_column(sum.data(), found.sum);
      });
      for (int r = 0; r < 3; ++r) {
        double top = -infinity, total = 0;
        for (std::int64_t c = 0; c < columns; ++c) top = std::max(top, double(m.row(r)[c]));
        for (std::int64_t c = 0; c < columns; ++c) total += std::exp(double(m.row(r)[c]) - top);
        EXPECT_EQ(largest[r], top);
        EXPECT_NEAR(sum[r], total, 2e-6 * total) << columns << " order " << order;
      }
    }
  }
}

TEST(Vocabulary, ExponentialSumPassesOverAStretchOfMinusInfinity) {
  Rows m(1, 3000);
  std::fill(m.values.begin(), m.values.begin() + 2048, -std::numeric_limits<float>::infinity());
  double top = -infinity, total = 0;
  for (const float v : m.values) top = std::max(top, double(v));
  for (const float v : m.values) total += std::exp(double(v) - top);
  for_all_rows(m, [&](auto&, auto block) {
    const auto x = block.load(m.values.data(), m.columns);
    const auto found = block.exp_sum([&](auto e) { return x[e]; });
    EXPECT_EQ(found.maximum[0], top);
    EXPECT_NEAR(found.sum[0], total, 2e-6 * total);
  });
  std::fill(m.values.begin(), m.values.end(), -std::numeric_limits<float>::infinity());
  for_all_rows(m, [&](auto&, auto block) {
    const auto x = block.load(m.values.data(), m.columns);
    const auto found = block.exp_sum([&](auto e) { return x[e]; });
    EXPECT_EQ(found.maximum[0], -infinity);
    EXPECT_EQ(found.sum[0], 0);
  });
}

TEST(Vocabulary, FirstColumnOfTheMaximumAmongEqualOnes) {
  for (const std::int64_t columns : row_lengths) {
    Rows m(3, columns);
    for (float& v : m.values) v = std::floor(v);  // many are equal
    std::vector<std::int64_t> found(3);
    for_all_rows(m, [&](auto&, auto block) {
      const auto x = block.load(m.values.data(), columns);
      const auto value = [&](auto e) { return x[e]; };
      block.store_indices(found.data(), block.first_column_of(block.max(value), value));
    });
    for (int r = 0; r < 3; ++r) {
      const std::int64_t expected = columns == 0 ? -1 : std::max_element(m.row(r), m.row(r) + columns) - m.row(r);
      EXPECT_EQ(found[r], expected) << columns;
    }
  }
}

// All values are negative, so that the zeros beyond a row's end would be larger and the first to equal a zero.
TEST(Vocabulary, NothingBeyondTheRowIsFound) {
  for (const std::int64_t columns : row_lengths) {
    Rows m(3, columns);
    for (float& v : m.values) v = -1 - std::fabs(v);
    for_all_rows(m, [&](auto&, auto block) {
      const auto x = block.load(m.values.data(), columns);
      const auto zero = block.each_row([](int) { return 0.0f; });
      EXPECT_EQ(block.first_column_of(zero, [&](auto e) { return x[e]; })[0], -1);
      EXPECT_LT(block.max([&](auto e) { return x[e]; })[0], 0);
    });
  }
}

TEST(Vocabulary, SeveralSumsInOneReading) {
  for (const std::int64_t columns : row_lengths) {
    const Rows m(3, columns);
    std::vector<float> first(3), second(3);
    for_all_rows(m, [&](auto&, auto block) {
      const auto x = block.load(m.values.data(), columns);
      const auto sums = block.sums([&](auto e) { return tile::results(x[e] + 1.0f, x[e] * x[e]); });
      block.store_column(first.data(), sums.of[0]);
      block.store_column(second.data(), sums.of[1]);
    });
    for (int r = 0; r < 3; ++r) {
      double one = 0, two = 0;
      for (std::int64_t c = 0; c < columns; ++c) {
        one += m.row(r)[c] + 1;
        two += double(m.row(r)[c]) * m.row(r)[c];
      }
      EXPECT_NEAR(first[r], one, 1e-5 * double(columns + 1));
      EXPECT_NEAR(second[r], two, 1e-5 * two);
    }
  }
}

TEST(Vocabulary, LabelsMarkAndGatherExactlyOneElement) {
  for (const std::int64_t columns : row_lengths) {
    const Rows m(3, columns);
    for (std::int64_t label = -2; label<columns + 2; label += columns> 100 ? 7 : 1) {
      const std::vector<std::int64_t> labels(3, label);
      std::vector<float> gathered(3), marked(3);
      for_all_rows(m, [&](auto&, auto block) {
        const auto x = block.load(m.values.data(), columns);
        const auto y = block.load_indices(labels.data());
        block.store_column(gathered.data(), block.gather(x, y));
        block.store_column(marked.data(), block.sum([&](auto e) { return select(y.marks(e), x[e], 0.0f); }));
      });
      for (int r = 0; r < 3; ++r) {
        if (label >= 0 && label < columns) {
          EXPECT_EQ(gathered[r], m.row(r)[label]);
          EXPECT_EQ(marked[r], m.row(r)[label]);
        } else {
          EXPECT_TRUE(std::isnan(gathered[r]));
          EXPECT_EQ(marked[r], 0);
        }
      }
    }
  }
}

TEST(Vocabulary, NumbersOfAVectorCompareAndGather) {
  for (const std::int64_t count : row_lengths) {
    std::vector<std::int64_t> labels;
    for (std::int64_t i = 0; i < count; ++i) labels.push_back(i * 31 % 9 - 1);
    const std::vector<float> weights = {1, 2, 4, 8, 16, 32, 64, 128};
    char ring[64];
    tile::Machine machine(0, 0, ring);
    const auto y = machine.numbers(labels.data());
    const auto w = machine.row(weights.data());
    const auto sums = machine.one_row(count).sums([&](auto e) {
      const auto counted = select(y[e] == -1, 0.0f, 1.0f);
      return tile::results(counted, select(y[e] == -1, 0.0f, tile::gather(w, y[e], 8)));
    });
    double kept = 0, weight = 0;
    for (const std::int64_t label : labels) {
      if (label < 0) continue;
      kept += 1;
      weight += weights[label];
    }
    EXPECT_EQ(sums.of[0][0], kept);
    EXPECT_EQ(sums.of[1][0], weight);
  }
}

TEST(Vocabulary, ATotalRunsOverAllRowsAndNothingBeyondThem) {
  for (const std::int64_t columns : row_lengths) {
    const Rows m(5, columns);
    std::vector<float> copy(m.values.size());
    char ring[64];
    tile::Machine machine(0, 0, ring);
    auto total = machine.total();
    machine.for_rows(5, 5, columns, [&](auto block) {
      const auto x = block.load(m.values.data(), columns);
      block.map([&](auto e) { return tile::results(x[e], x[e] + 1.0f); }, block.rows_of(copy.data(), columns),
                block.sum_into(total));
    });
    float found = 0;
    machine.store_total(&found, total);
    double expected = 0;
    for (const float v : m.values) expected += v + 1;
    EXPECT_NEAR(found, expected, 1e-5 * double(m.values.size() + 1));
    EXPECT_EQ(copy, m.values);
  }
}

TEST(Vocabulary, RowsMayStandElsewhere) {
  const Rows m(6, 40);
  std::vector<float> moved(6 * 40, 0.0f);
  const auto place = [](std::int64_t row) { return row + row / 2; };
  char ring[64];
  tile::Machine machine(0, 0, ring);
  machine.for_rows(4, 4, 40, [&](auto block) {
    const auto x = block.load(m.values.data(), 40, place);
    block.map([&](auto e) { return x[e]; }, block.rows_of(moved.data(), 40, place));
  });
  for (int r = 0; r < 6; ++r) {
    for (int c = 0; c < 40; ++c) EXPECT_EQ(moved[r * 40 + c], r % 3 == 2 ? 0.0f : m.row(r)[c]);
  }
}

TEST(Vocabulary, HyperbolicTangentKeepsItsDigitsNearZero) {
  double worst = 0;
  for (int i = -200000; i <= 200000; ++i) {
    const float x = std::copysign(std::exp2(float(std::abs(i)) / 4000 - 46), float(i));  // 2^-46 to 2^4
    const double expected = std::tanh(double(x));
    worst = std::max(worst, std::fabs(tile::tanh(x) - expected) / std::fabs(expected));
  }
  EXPECT_LT(worst, 4 * 0x1p-23);
  EXPECT_EQ(tile::tanh(0.0f), 0);
  EXPECT_EQ(tile::tanh(100.0f), 1);
  EXPECT_EQ(tile::tanh(-std::numeric_limits<float>::infinity()), -1);
  EXPECT_TRUE(std::isnan(tile::tanh(std::nanf(""))));
}

}  // namespace
}  // namespace kernels
