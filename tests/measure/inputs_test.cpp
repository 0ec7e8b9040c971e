// Generated inputs: their distributions, and the same bytes for a seed everywhere.
#include "measure/inputs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/hash.hpp"
#include "measure/statistics.hpp"

namespace hone::measure {
namespace {

std::vector<double> drawn(const InputSpec& spec, std::size_t elements, int threads = 1) {
  std::vector<unsigned char> bytes(elements * size_of(spec.dtype));
  fill(spec, bytes.data(), elements, threads);
  return decode(spec.dtype, bytes.data(), elements);
}

double mean_of(const std::vector<double>& values, double power) {
  double sum = 0;
  for (double value : values) sum += std::pow(value, power);
  return sum / static_cast<double>(values.size());
}

TEST(Inputs, NormalValuesHaveTheMomentsAndTailsOfTheNormal) {
  const std::vector<double> values = drawn({.seed = 1}, 1'000'000);
  EXPECT_NEAR(mean_of(values, 1), 0, 0.005);
  EXPECT_NEAR(mean_of(values, 2), 1, 0.008);
  EXPECT_NEAR(mean_of(values, 3), 0, 0.02);
  EXPECT_NEAR(mean_of(values, 4), 3, 0.05);
  for (double z : {-3.0, -2.0, -1.0, -0.3, 0.0, 0.5, 1.5, 2.5, 3.5}) {
    const double below =
        static_cast<double>(std::count_if(values.begin(), values.end(), [=](double value) { return value < z; })) / 1e6;
    const double expected = 0.5 * std::erfc(-z / std::sqrt(2.0));
    EXPECT_NEAR(below, expected, 4 * std::sqrt(expected * (1 - expected) / 1e6) + 1e-5) << z;
  }
  const auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
  EXPECT_GT(*largest, 4);
  EXPECT_LT(*smallest, -4);
  EXPECT_LE(*largest, 6);
}

TEST(Inputs, ScaleAndOffsetAreApplied) {
  const std::vector<double> normal = drawn({.scale = 0.02, .offset = 1, .seed = 2}, 200'000);
  EXPECT_NEAR(mean_of(normal, 1), 1, 0.001);
  EXPECT_NEAR(median_absolute_deviation(normal).value(), 0.02 * 0.6745, 0.0005);
  const std::vector<double> uniform =
      drawn({.distribution = Distribution::uniform, .scale = 2, .offset = -1, .seed = 2}, 200'000);
  const auto [smallest, largest] = std::minmax_element(uniform.begin(), uniform.end());
  EXPECT_GE(*smallest, -1);
  EXPECT_LT(*smallest, -0.999);
  EXPECT_LT(*largest, 1);
  EXPECT_GT(*largest, 0.999);
  EXPECT_NEAR(mean_of(uniform, 1), 0, 0.01);
}

TEST(Inputs, LabelsCoverTheirRangeEvenly) {
  const std::vector<double> labels =
      drawn({.dtype = DType::int64, .distribution = Distribution::labels, .scale = 7, .seed = 3}, 70'000);
  for (int label = 0; label < 7; ++label) {
    EXPECT_NEAR(std::count(labels.begin(), labels.end(), label), 10'000, 400) << label;
  }
  EXPECT_EQ(*std::max_element(labels.begin(), labels.end()), 6);
  EXPECT_EQ(*std::min_element(labels.begin(), labels.end()), 0);
}

TEST(Inputs, ZerosAreZero) {
  EXPECT_EQ(drawn({.distribution = Distribution::zeros}, 1000), std::vector<double>(1000, 0.0));
}

TEST(Inputs, DoNotDependOnTheNumberOfThreads) {
  for (Distribution distribution : {Distribution::normal, Distribution::uniform, Distribution::labels}) {
    const InputSpec spec{.dtype = DType::bf16, .distribution = distribution, .scale = 5, .seed = 4};
    const std::vector<double> one = drawn(spec, 100'003, 1);
    EXPECT_EQ(one, drawn(spec, 100'003, 3));
    EXPECT_EQ(one, drawn(spec, 100'003, 0));
  }
}

TEST(Inputs, DifferBySeedAndFromBlockToBlock) {
  const std::vector<double> one = drawn({.seed = 1}, 20'000), other = drawn({.seed = 2}, 20'000);
  EXPECT_NE(one, other);
  EXPECT_NE(std::vector<double>(one.begin(), one.begin() + 8192),
            std::vector<double>(one.begin() + 8192, one.begin() + 16384));
}

TEST(Inputs, ShorterFillsArePrefixes) {
  const std::vector<double> longer = drawn({.seed = 5}, 30'000), shorter = drawn({.seed = 5}, 10'001);
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), longer.begin()));
  EXPECT_TRUE(drawn({.seed = 5}, 0).empty());
}

std::string hash_of(const InputSpec& spec) {
  std::string bytes(50'000 * size_of(spec.dtype), '\0');
  fill(spec, bytes.data(), 50'000);
  return base::content_hash(bytes);
}

// Recorded results stay comparable only while these bytes stay: a change here is a new version of every measured input.
TEST(Inputs, TheBytesOfASeedNeverChange) {
  EXPECT_EQ(hash_of({.seed = 11}), "0005f8049fe3bab8d8c3b13963d816e7");
  EXPECT_EQ(hash_of({.dtype = DType::bf16, .seed = 11}), "ee8337a0d9de1f68fed876110ef2caf6");
  EXPECT_EQ(hash_of({.distribution = Distribution::uniform, .seed = 11}), "0646b529f098f850f54f22b93d018769");
  EXPECT_EQ(hash_of({.dtype = DType::int64, .distribution = Distribution::labels, .scale = 32000, .seed = 11}),
            "250838a7aaf140014aa79ca891215a51");
}

TEST(RareValues, HaveTheirShareAndLeaveTheOthersAlone) {
  InputSpec spec;
  spec.dtype = DType::int64;
  spec.distribution = Distribution::labels;
  spec.scale = 1000;
  std::vector<std::int64_t> plain(100000), mixed(100000);
  fill(spec, plain.data(), plain.size());
  spec.rare_value = -100;
  spec.rare_share = 0.125;
  fill(spec, mixed.data(), mixed.size());
  std::size_t rare = 0;
  for (std::size_t i = 0; i < mixed.size(); ++i) {
    if (mixed[i] == -100)
      ++rare;
    else
      EXPECT_EQ(mixed[i], plain[i]);
  }
  EXPECT_NEAR(double(rare) / 100000, 0.125, 0.005);
}

}  // namespace
}  // namespace hone::measure
