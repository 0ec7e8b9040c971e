// The element types' conversions and the elementary functions of kernels/tile against independent definitions.
#include "kernels/tile/element_types.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "tests/kernels/plan_runner.hpp"

namespace kernels {
namespace {

constexpr int N = tile::lanes;

float float_of(std::uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}

template <class T>
double widened(std::uint16_t bits) {
  return tile::to_float(T{bits});
}

template <class T>
void expect_exact_widening(DType dtype) {
  for (int bits = 0; bits < 65536; ++bits) {
    unsigned char memory[2];
    const auto stored = std::uint16_t(bits);
    std::memcpy(memory, &stored, 2);
    const double expected = testing::value_of(dtype, memory), got = widened<T>(stored);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got)) << std::hex << bits;
    } else {
      ASSERT_EQ(got, expected) << std::hex << bits;
      ASSERT_EQ(std::signbit(got), std::signbit(expected)) << std::hex << bits;
    }
  }
}

template <class T>
void expect_nearest(DType dtype, float value) {
  unsigned char memory[2];
  testing::put_value(dtype, memory, value);
  const double expected = testing::value_of(dtype, memory);
  const double narrowed = tile::to_float(tile::from_float<T>(value)), rounded = tile::rounded<T>(value);
  if (std::isnan(value)) {
    ASSERT_TRUE(std::isnan(narrowed) && std::isnan(rounded));
  } else {
    ASSERT_EQ(narrowed, expected) << value;
    ASSERT_EQ(rounded, expected) << value;
    ASSERT_EQ(std::signbit(narrowed), std::signbit(value)) << value;
  }
}

template <class T>
void expect_nearest_everywhere(DType dtype) {
  std::mt19937 generator(11);
  for (int i = 0; i < 400000; ++i) expect_nearest<T>(dtype, float_of(generator()));
  // Around every value of the type: itself, its ties, and their neighbours.
  for (int bits = 0; bits < 65536; ++bits) {
    const float value = float(widened<T>(std::uint16_t(bits))), next = float(widened<T>(std::uint16_t(bits + 1)));
    if (!std::isfinite(value) || !std::isfinite(next)) continue;
    const float tie = value + (next - value) / 2;
    for (const float f : {value, tie, std::nextafterf(tie, value), std::nextafterf(tie, next)})
      expect_nearest<T>(dtype, f);
  }
}

TEST(ElementTypes, Bf16WidensExactly) { expect_exact_widening<tile::bf16>(DType::bf16); }
TEST(ElementTypes, Fp16WidensExactly) { expect_exact_widening<tile::fp16>(DType::fp16); }
TEST(ElementTypes, Bf16RoundsToNearestEven) { expect_nearest_everywhere<tile::bf16>(DType::bf16); }
TEST(ElementTypes, Fp16RoundsToNearestEven) { expect_nearest_everywhere<tile::fp16>(DType::fp16); }

TEST(ElementTypes, EveryNanStaysANan) {
  for (std::uint32_t payload = 1; payload < (1u << 23); payload = payload * 3 + 1) {
    for (const std::uint32_t sign : {0u, 0x80000000u}) {
      const float nan = float_of(sign | 0x7f800000u | payload);
      EXPECT_TRUE(std::isnan(tile::to_float(tile::from_float<tile::bf16>(nan)))) << std::hex << payload;
      EXPECT_TRUE(std::isnan(tile::to_float(tile::from_float<tile::fp16>(nan)))) << std::hex << payload;
    }
  }
  EXPECT_TRUE(std::isnan(tile::rounded<tile::bf16>(float_of(0x7fffffffu))));
}

TEST(ElementTypes, PartialAccessTouchesExactlyItsElements) {
  for (int count = 0; count <= N; ++count) {
    float memory[N + 2], source[N];
    for (float& f : memory) f = -1;
    for (int i = 0; i < N; ++i) source[i] = float(i + 1);
    tile::store_partial<float, N>(memory + 1, tile::load_partial<float, N>(source, count), count);
    for (int i = 0; i < N + 2; ++i) EXPECT_EQ(memory[i], i >= 1 && i <= count ? float(i) : -1.0f) << count << " " << i;
  }
}

// Units in the last place between a result and the exact value.
double ulps(float got, double exact) {
  const float nearest = float(exact);
  const double unit = std::nextafterf(std::fabs(nearest), HUGE_VALF) - double(std::fabs(nearest));
  return std::fabs(got - exact) / unit;
}

float exp_of(float x) { return tile::exp(tile::Pack<N>::broadcast(x)).v[0]; }
float sigmoid_of(float x) { return tile::sigmoid(tile::Pack<N>::broadcast(x)).v[0]; }

TEST(Functions, ExpIsWithinTwoUnits) {
  for (double x = -87.3; x < 88.7; x += 0.000931) {
    ASSERT_LE(ulps(exp_of(float(x)), std::exp(double(float(x)))), 2.0) << x;
  }
}

TEST(Functions, ExpEndsInInfinityZeroAndNan) {
  EXPECT_EQ(exp_of(89.0f), HUGE_VALF);
  EXPECT_EQ(exp_of(1e30f), HUGE_VALF);
  EXPECT_EQ(exp_of(HUGE_VALF), HUGE_VALF);
  EXPECT_EQ(exp_of(-110.0f), 0.0f);
  EXPECT_EQ(exp_of(-HUGE_VALF), 0.0f);
  EXPECT_EQ(exp_of(0.0f), 1.0f);
  EXPECT_TRUE(std::isnan(exp_of(std::nanf(""))));
  EXPECT_NEAR(exp_of(-100.0f), std::exp(-100.0), 1.5e-45);  // subnormal
}

TEST(Functions, SigmoidIsWithinFourUnitsAndKeepsNan) {
  for (double x = -80; x < 40; x += 0.000931) {
    const double exact = 1 / (1 + std::exp(-double(float(x))));
    ASSERT_LE(ulps(sigmoid_of(float(x)), exact), 4.0) << x;
  }
  EXPECT_EQ(sigmoid_of(HUGE_VALF), 1.0f);
  EXPECT_EQ(sigmoid_of(-HUGE_VALF), 0.0f);
  EXPECT_TRUE(std::isnan(sigmoid_of(std::nanf(""))));
}

TEST(Functions, SiluIsItsFormulaAndKeepsNan) {
  const auto silu = [](float x) { return tile::silu(tile::Pack<N>::broadcast(x)).v[0]; };
  for (double x = -80; x < 40; x += 0.00931) {
    const double exact = double(float(x)) / (1 + std::exp(-double(float(x))));
    ASSERT_LE(ulps(silu(float(x)), exact), 4.0) << x;
  }
  EXPECT_EQ(silu(1e30f), 1e30f);
  EXPECT_EQ(silu(-1e30f), 0.0f);
  EXPECT_TRUE(std::isnan(silu(std::nanf(""))));
}

TEST(Functions, ReluKeepsNanAndZeroesNegatives) {
  const auto relu = [](float x) { return tile::relu(tile::Pack<N>::broadcast(x)).v[0]; };
  EXPECT_EQ(relu(-3.0f), 0.0f);
  EXPECT_EQ(relu(2.5f), 2.5f);
  EXPECT_EQ(relu(-HUGE_VALF), 0.0f);
  EXPECT_TRUE(std::isnan(relu(std::nanf(""))));
}

}  // namespace
}  // namespace kernels
