// Comparing with references: what must pass passes, and every single fault is caught and named.
#include "measure/numerics.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "measure/inputs.hpp"

namespace hone::measure {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<double> random_values(std::size_t n, std::uint64_t seed = 1) {
  std::vector<unsigned char> bytes(n * 4);
  fill({.seed = seed}, bytes.data(), n, 1);
  return decode(DType::fp32, bytes.data(), n);
}

// As a kernel would store them: rounded once to the dtype.
std::vector<double> stored(DType dtype, const std::vector<double>& values) {
  std::vector<unsigned char> bytes(values.size() * size_of(dtype));
  encode(dtype, values.data(), values.size(), bytes.data());
  return decode(dtype, bytes.data(), values.size());
}

TEST(Bounds, AreRelativeToTheReferencesSizeAndTheScale) {
  EXPECT_DOUBLE_EQ((Bound{0.1, 2}.at(-3, 0)), 0.5);
  EXPECT_DOUBLE_EQ((Bound{0.1, 2, {1, 5}}.at(-3, 1)), 1.0) << "an element's own terms widen its bound alone";
  EXPECT_TRUE(deviation_from({0, 0}, {0, 0.4}, {0.1, 0, {1, 5}}, DType::fp32).within_bound());
  EXPECT_FALSE(deviation_from({0, 0}, {0.4, 0}, {0.1, 0, {1, 5}}, DType::fp32).within_bound());
  EXPECT_DOUBLE_EQ(root_mean_square({3, -4, kNan, kInfinity}), std::sqrt(12.5));
  EXPECT_EQ(root_mean_square({}), 0);
  EXPECT_NEAR(root_mean_square({3e200, 4e200}) / 1e200, std::sqrt(12.5), 1e-12);  // squares overflow
}

TEST(Deviations, OfEqualValuesAreZero) {
  const std::vector<double> values = random_values(100);
  const Deviation deviation = deviation_from(values, values, {}, DType::fp32);
  EXPECT_TRUE(deviation.within_bound());
  EXPECT_EQ(deviation.worst_error, 0);
  EXPECT_EQ(deviation.norm_error, 0);
  EXPECT_EQ(deviation.elements, 100u);
  EXPECT_EQ(describe(deviation, values, values, {}), "");
}

TEST(Deviations, OneCorrectRoundingIsWithinTheBoundOfOneRounding) {
  for (DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    const std::vector<double> reference = random_values(10'000);
    const Deviation deviation =
        deviation_from(reference, stored(dtype, reference), {unit_roundoff(dtype), 1e-6}, dtype);
    EXPECT_TRUE(deviation.within_bound()) << name_of(dtype);
    EXPECT_LE(deviation.norm_error, unit_roundoff(dtype));
  }
}

// One element one step off, among ten thousand, in each place.
RC_GTEST_PROP(Deviations, OneElementOneStepOffIsCaughtAndNamed, ()) {
  const DType dtype = *rc::gen::element(DType::fp16, DType::bf16);
  const auto at = *rc::gen::inRange<std::size_t>(0, 1000);
  const std::vector<double> reference = stored(dtype, random_values(1000, 3));
  std::vector<std::uint16_t> bits(1000);
  encode(dtype, reference.data(), 1000, bits.data());
  bits[at] = static_cast<std::uint16_t>(bits[at] + 1);
  const std::vector<double> candidate = decode(dtype, bits.data(), 1000);
  // The bound of one rounding of a result: half a step, at the most 1 unit roundoff; a step off exceeds it.
  const Deviation deviation = deviation_from(reference, candidate, {0.49 * unit_roundoff(dtype), 0}, dtype);
  RC_ASSERT(!deviation.within_bound());
  RC_ASSERT(deviation.over_bound == 1u);
  RC_ASSERT(deviation.worst_error_index == at);
  RC_ASSERT(deviation.worst_over_bound_index == at);
}

TEST(Deviations, ANanIsAFailureWhateverTheBound) {
  const std::vector<double> reference = random_values(50);
  std::vector<double> candidate = reference;
  candidate[31] = kNan;
  const Deviation deviation = deviation_from(reference, candidate, {kInfinity, 1}, DType::fp32);
  EXPECT_FALSE(deviation.within_bound());
  EXPECT_EQ(deviation.non_finite, 1u);
  EXPECT_EQ(deviation.first_bad_kind, 31u);
  EXPECT_NE(describe(deviation, reference, candidate, {1, 1}).find("element 31: nan instead of"), std::string::npos);
}

TEST(Deviations, ABoundThatIsNoNumberPassesNothing) {
  const Deviation deviation = deviation_from({1, 2}, {1, 2.5}, {kNan, 0}, DType::fp32);
  EXPECT_FALSE(deviation.within_bound());
  EXPECT_EQ(deviation.over_bound, 2u);
}

TEST(Deviations, ExpectTheReferencesKindOfNonFinite) {
  const std::vector<double> reference = {kNan, kInfinity, -kInfinity, 1};
  EXPECT_TRUE(deviation_from(reference, reference, {}, DType::fp32).within_bound());
  EXPECT_EQ(deviation_from(reference, {0, kInfinity, -kInfinity, 1}, {}, DType::fp32).wrong_kind, 1u);
  EXPECT_EQ(deviation_from(reference, {kNan, -kInfinity, -kInfinity, 1}, {}, DType::fp32).wrong_kind, 1u);
  EXPECT_EQ(deviation_from(reference, {kInfinity, kNan, kNan, 1}, {}, DType::fp32).wrong_kind, 3u);
}

TEST(Deviations, AReferenceBeyondTheDtypeMayBeInfinite) {
  EXPECT_TRUE(deviation_from({70000}, {kInfinity}, {1e-3, 0}, DType::fp16).within_bound());
  EXPECT_TRUE(deviation_from({-65520}, {-kInfinity}, {0, 0}, DType::fp16).within_bound());
  EXPECT_FALSE(deviation_from({70000}, {-kInfinity}, {1e-3, 0}, DType::fp16).within_bound());
  EXPECT_FALSE(deviation_from({65000}, {kInfinity}, {1e-3, 0}, DType::fp16).within_bound());
  EXPECT_FALSE(deviation_from({70000}, {kInfinity}, {1e-3, 0}, DType::fp32).within_bound());
  EXPECT_FALSE(deviation_from({70000}, {kNan}, {1e-3, 0}, DType::fp16).within_bound());
}

TEST(Deviations, NegativeReferencesAreHeldToTheSameBound) {
  EXPECT_FALSE(deviation_from({-1}, {-1.5}, {0.1, 0}, DType::fp32).within_bound());
  EXPECT_TRUE(deviation_from({-1}, {-1.05}, {0.1, 0}, DType::fp32).within_bound());
}

TEST(Deviations, ZeroReferencesNeedTheScale) {
  EXPECT_FALSE(deviation_from({0}, {1e-7}, {1e-3, 0}, DType::fp32).within_bound());
  EXPECT_EQ(deviation_from({0}, {1e-7}, {1e-3, 0}, DType::fp32).worst_over_bound, kInfinity);
  EXPECT_TRUE(deviation_from({0}, {1e-7}, {1e-3, 1}, DType::fp32).within_bound());
  EXPECT_DOUBLE_EQ(deviation_from({0, 0}, {3, 4}, {1, 10}, DType::fp32).norm_error, 5);
}

TEST(Deviations, OfNothingHaveNoElements) {
  const Deviation deviation = deviation_from({}, {}, {}, DType::fp32);
  EXPECT_EQ(deviation.elements, 0u);
  EXPECT_TRUE(deviation.within_bound());
}

TEST(AgainstTheBaseline, UpToKTimesItsErrorIsAllowed) {
  const std::vector<double> reference = random_values(1000);
  std::vector<double> baseline = reference, twice = reference, one_bad = reference;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    baseline[i] += 1e-3;
    twice[i] -= 1.9e-3;
    one_bad[i] += i == 500 ? 2.1e-3 : 0;
  }
  const auto deviation = [&](const std::vector<double>& candidate) {
    return deviation_from(reference, candidate, {1, 1}, DType::fp32);
  };
  EXPECT_EQ(worse_than_baseline(deviation(twice), deviation(baseline), 2, DType::fp32), "");
  EXPECT_NE(worse_than_baseline(deviation(twice), deviation(baseline), 1.8, DType::fp32).find("error norm"),
            std::string::npos);
  EXPECT_NE(worse_than_baseline(deviation(one_bad), deviation(baseline), 2, DType::fp32).find("element 500"),
            std::string::npos);
}

TEST(AgainstTheBaseline, AnExactBaselineAllowsOneRoundingOnly) {
  const std::vector<double> reference = random_values(1000);
  const Deviation exact = deviation_from(reference, reference, {1, 1}, DType::bf16);
  const Deviation rounded = deviation_from(reference, stored(DType::bf16, reference), {1, 1}, DType::bf16);
  const Deviation fp16_through_bf16 = deviation_from(reference, stored(DType::bf16, reference), {1, 1}, DType::fp16);
  EXPECT_EQ(worse_than_baseline(rounded, exact, 1, DType::bf16), "");
  EXPECT_NE(worse_than_baseline(fp16_through_bf16, exact, 1, DType::fp16), "");
}

TEST(AgainstTheBaseline, ANewNanIsWorse) {
  const Deviation clean = deviation_from({1, 2}, {1, 2}, {1, 1}, DType::fp32);
  const Deviation nan = deviation_from({1, 2}, {1, kNan}, {1, 1}, DType::fp32);
  EXPECT_NE(worse_than_baseline(nan, clean, 1000, DType::fp32), "");
  EXPECT_EQ(worse_than_baseline(nan, nan, 1, DType::fp32), "");
}

class Images : public testing::TestWithParam<DType> {
 protected:
  TensorShape shape_{GetParam(), 3, 5, 7};
  std::vector<double> values_ = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
};

TEST_P(Images, OfAWholeWriteHaveNoFaults) {
  const auto size = static_cast<std::size_t>(size_of(GetParam()));
  for (std::size_t misalign : {std::size_t{0}, size}) {
    GuardedImage image(shape_, misalign);
    image.set(values_);
    EXPECT_TRUE(image.faults(true).ok());
    EXPECT_EQ(image.faults(true).describe(), "");
    EXPECT_EQ(image.values(), values_);
    EXPECT_EQ(image.tensor_bytes(), 21 * size);
    EXPECT_EQ(image.bytes().size(), 2 * GuardedImage::kGuardBytes + misalign + image.tensor_bytes());
  }
}

TEST_P(Images, AShiftKeepsElementsAlignedToTheirSize) {
  const auto size = static_cast<std::size_t>(size_of(GetParam()));
  for (std::size_t misalign : {1, 4, 6}) {
    const std::size_t offset = GuardedImage(shape_, misalign).tensor_offset();
    EXPECT_EQ(offset % size, 0u);
    EXPECT_GE(offset, GuardedImage::kGuardBytes + misalign);
    EXPECT_LT(offset, GuardedImage::kGuardBytes + misalign + size);
  }
}

TEST_P(Images, AnUnwrittenElementIsFound) {
  GuardedImage image(shape_), poisoned(shape_);
  image.set(values_);
  const std::size_t size = size_of(GetParam()), at = image.tensor_offset() + (7 + 2) * size;
  std::copy_n(poisoned.bytes().begin() + static_cast<std::ptrdiff_t>(at), size,
              image.bytes().begin() + static_cast<std::ptrdiff_t>(at));
  const ImageFaults faults = image.faults(true);
  EXPECT_EQ(faults.unwritten, 1u);
  EXPECT_EQ(faults.first_unwritten, 7u);
  EXPECT_EQ(faults.describe(), "left 1 elements unwritten, the first is 7");
  EXPECT_TRUE(image.faults(false).ok());
}

TEST_P(Images, NothingWrittenIsEverythingUnwritten) { EXPECT_EQ(GuardedImage(shape_).faults(true).unwritten, 15u); }

TEST_P(Images, EveryGuardByteIsWatched) {
  GuardedImage image(shape_, 2 * size_of(GetParam()));
  image.set(values_);
  const std::size_t begin = image.tensor_offset(), end = begin + image.tensor_bytes();
  for (std::size_t i = 0; i < image.bytes().size(); ++i) {
    if (i >= begin && i < end) continue;
    image.bytes()[i] ^= 1;
    const ImageFaults faults = image.faults(true);
    ASSERT_TRUE(faults.guard_offset) << i;
    EXPECT_EQ(*faults.guard_offset, static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(begin));
    image.bytes()[i] ^= 1;
  }
  EXPECT_TRUE(image.faults(true).ok());
}

TEST_P(Images, AWriteBetweenTheRowsIsFound) {
  GuardedImage image(shape_);
  image.set(values_);
  image.bytes()[image.tensor_offset() + (7 + 6) * size_of(GetParam())] ^= 1;
  EXPECT_EQ(image.faults(true).padding_element, 13u);
  EXPECT_NE(image.faults(true).describe().find("between the rows, at element 13"), std::string::npos);
}

TEST_P(Images, OfEmptyTensorsAreGuardsAlone) {
  GuardedImage image({GetParam(), 0, 5, 5});
  EXPECT_TRUE(image.faults(true).ok());
  image.bytes()[GuardedImage::kGuardBytes] ^= 1;
  EXPECT_EQ(image.faults(true).guard_offset, 0);
}

INSTANTIATE_TEST_SUITE_P(EveryType, Images, testing::Values(DType::fp32, DType::fp16, DType::bf16, DType::int64),
                         [](const auto& instance) { return std::string(name_of(instance.param)); });

TEST(Images, PoisonOfFloatsIsANan) {
  for (DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    for (double value : GuardedImage({dtype, 1, 4, 4}).values()) EXPECT_TRUE(std::isnan(value)) << name_of(dtype);
  }
}

TEST(Determinism, IsBitwise) {
  EXPECT_FALSE(first_difference({1, 2, 3}, {1, 2, 3}));
  EXPECT_EQ(first_difference({1, 2, 3}, {1, 9, 3}), 1u);
  EXPECT_EQ(first_difference({1, 2, 3}, {1, 2}), 2u);
  EXPECT_FALSE(first_difference({}, {}));
  EXPECT_EQ(first_difference({}, {0}), 0u);
}

}  // namespace
}  // namespace hone::measure
