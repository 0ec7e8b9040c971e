// Physics floors: which ceiling binds, that the floor is a lower bound for every memory system, and what is not known.
#include "measure/physics.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

namespace hone::measure {
namespace {

model::Ceilings ceilings_of(std::map<std::string, double> rates, double spread = 0) {
  model::Ceilings ceilings;
  for (const auto& [name, rate] : rates) ceilings.by_name[name] = {rate * (1 - spread), rate, rate * (1 + spread), 20};
  return ceilings;
}

// 40 GB/s reading, 20 writing (30 streaming), 32 copying: 1 byte takes 0.025 ns read.
model::Ceilings machine() {
  return ceilings_of({{"read_bytes_per_s", 40e9},
                      {"write_bytes_per_s", 20e9},
                      {"write_streaming_bytes_per_s", 30e9},
                      {"copy_bytes_per_s", 25e9},
                      {"copy_streaming_bytes_per_s", 32e9},
                      {"fma_flops_per_s", 100e9}});
}

TEST(PhysicsFloor, OfReadingWritingAndCopyingIsThatCeilingWithTheTolerance) {
  const PhysicsFloor reading = physics_floor({4e9, 0, 0}, machine());
  EXPECT_DOUBLE_EQ(reading.floor_ns, 0.1e9 / 1.02);
  EXPECT_EQ(reading.floor_ceiling, "read_bytes_per_s");
  EXPECT_DOUBLE_EQ(reading.reference_ns, 0.1e9);
  const PhysicsFloor writing = physics_floor({0, 3e9, 0}, machine());
  EXPECT_DOUBLE_EQ(writing.floor_ns, 0.1e9 / 1.02);
  EXPECT_EQ(writing.floor_ceiling, "write_streaming_bytes_per_s");
  const PhysicsFloor copying = physics_floor({1.6e9, 1.6e9, 0}, machine());
  EXPECT_DOUBLE_EQ(copying.floor_ns, 0.1e9 / 1.02);
  EXPECT_EQ(copying.floor_ceiling, "copy_streaming_bytes_per_s");
  EXPECT_DOUBLE_EQ(copying.reference_ns, 0.1e9);
  EXPECT_EQ(copying.reference_ceiling, "copy_streaming_bytes_per_s");
}

TEST(PhysicsFloor, OfArithmeticIsTheArithmeticCeiling) {
  const PhysicsFloor floor = physics_floor({1e6, 1e6, 1e10}, machine());
  EXPECT_DOUBLE_EQ(floor.floor_ns, 0.1e9 / 1.02);
  EXPECT_EQ(floor.floor_ceiling, "fma_flops_per_s");
  EXPECT_EQ(floor.reference_ceiling, "fma_flops_per_s");
}

TEST(PhysicsFloor, MatrixProductsCountAtTheirOwnRateInTheReference) {
  model::Ceilings ceilings = machine();
  PassWork work = {1e6, 1e6, 11e10};
  work.matrix_flops = 10e10;
  work.matrix_ceiling = "matrix_bf16_flops_per_s";
  EXPECT_DOUBLE_EQ(physics_floor(work, ceilings).reference_ns, 1.1e9) << "no such ceiling: the FMA rate";
  ceilings.by_name["matrix_bf16_flops_per_s"] = {1000e9, 1000e9, 1000e9, 20};
  const PhysicsFloor floor = physics_floor(work, ceilings);
  EXPECT_DOUBLE_EQ(floor.reference_ns, 0.1e9 + 0.1e9);
  EXPECT_DOUBLE_EQ(floor.floor_ns, 0.11e9 / 1.02) << "nothing can beat the highest rate for all of it";
  work.matrix_flops = 1e12;
  EXPECT_EQ(physics_floor(work, ceilings).reference_ceiling, "matrix_bf16_flops_per_s") << "at most all of it";
}

TEST(PhysicsFloor, MixedTrafficIsInterpolatedInTimeForTheReference) {
  // 3 bytes read for each written: 2 cost what a copy does, 2 what reading does.
  const PhysicsFloor floor = physics_floor({3e9, 1e9, 0}, machine());
  EXPECT_DOUBLE_EQ(floor.reference_ns, (2e9 / 32e9 + 2e9 / 40e9) * 1e9);
  EXPECT_LE(floor.floor_ns, floor.reference_ns);
}

TEST(PhysicsFloor, UsesTheQuickEndOfTheSpread) {
  const auto ceilings = ceilings_of({{"read_bytes_per_s", 40e9}}, 0.1);
  const PhysicsFloor floor = physics_floor({4.4e9, 0, 0}, ceilings);
  EXPECT_DOUBLE_EQ(floor.floor_ns, 0.1e9 / 1.02);
  EXPECT_DOUBLE_EQ(floor.reference_ns, 0.11e9);
}

TEST(PhysicsFloor, WrittenBytesMayStayInTheCacheAndWarmReadsTooButNotColdOnes) {
  const double cache = 1e9;
  EXPECT_EQ(physics_floor({0, 0.9e9, 0}, machine(), {.cache_bytes = cache}).floor_ns, 0);
  EXPECT_DOUBLE_EQ(physics_floor({4e9, 0, 0}, machine(), {.cache_bytes = cache}).floor_ns, 0.1e9 / 1.02);
  EXPECT_DOUBLE_EQ(physics_floor({4e9, 0, 0}, machine(), {.cache_bytes = cache, .cold_cache = false}).floor_ns,
                   0.075e9 / 1.02);
  EXPECT_DOUBLE_EQ(physics_floor({0, 0.9e9, 0}, machine(), {.cache_bytes = cache}).reference_ns, 0.03e9);
}

TEST(PhysicsFloor, WithoutCeilingsOrWorkThereIsNone) {
  EXPECT_EQ(physics_floor({1e9, 1e9, 1e9}, {}).floor_ns, 0);
  EXPECT_EQ(physics_floor({1e9, 1e9, 1e9}, {}).floor_ceiling, "");
  EXPECT_EQ(physics_floor({1e9, 1e9, 1e9}, {}).reference_ns, 0);
  EXPECT_EQ(physics_floor({}, machine()).floor_ns, 0);
  EXPECT_EQ(physics_floor({std::nan(""), -5, HUGE_VAL}, machine()).floor_ns, 0);
  EXPECT_EQ(physics_floor({1e9, 0, 0}, ceilings_of({{"read_bytes_per_s", 0}})).floor_ns, 0);
}

TEST(PhysicsFloor, AnUnmeasuredCeilingNeverRaisesTheFloor) {
  // Only copying is known, at 32: reading alone may be quicker, so 4e9 bytes read have no floor; the reference has to guess.
  const auto copy_only = ceilings_of({{"copy_bytes_per_s", 32e9}});
  EXPECT_EQ(physics_floor({3.2e9, 0, 0}, copy_only).floor_ns, 0);
  EXPECT_DOUBLE_EQ(physics_floor({3.2e9, 0, 0}, copy_only).reference_ns, 0.1e9);
}

// Memory systems between one shared bus (power 1) and independent read and write paths (large power): time of a pass is
// ((read / r)^p + (written / w)^p)^(1/p). Ceilings measured on it must give a floor that its own passes do not beat.
RC_GTEST_PROP(PhysicsFloor, IsBelowEveryMixOnEveryMemorySystem, ()) {
  const double read_rate = *rc::gen::inRange(5, 500) * 1e9, write_rate = *rc::gen::inRange(5, 500) * 1e9;
  const double power = *rc::gen::inRange(10, 200) / 10.0;
  const double read = *rc::gen::inRange(0, 1000) * 1e6, written = *rc::gen::inRange(0, 1000) * 1e6;
  const auto time_ns = [&](double r, double w) {
    return 1e9 * std::pow(std::pow(r / read_rate, power) + std::pow(w / write_rate, power), 1 / power);
  };
  const double copy_rate = 2e9 / time_ns(1e9, 1e9) * 1e9;
  const auto ceilings = ceilings_of(
      {{"read_bytes_per_s", read_rate}, {"write_bytes_per_s", write_rate}, {"copy_bytes_per_s", copy_rate}});
  const double taken = time_ns(read, written);
  const PhysicsFloor floor = physics_floor({read, written, 0}, ceilings);
  RC_ASSERT(floor.floor_ns <= taken * (1 + 1e-12));
  RC_ASSERT(floor.floor_ns <= floor.reference_ns * (1 + 1e-12));
}

TEST(LargerRates, OfTwoLooksTheLargerMedianStandsAndTheMoveIsSaid) {
  model::Ceilings first =
      ceilings_of({{"copy_bytes_per_s", 50e9}, {"read_bytes_per_s", 40e9}, {"fma_flops_per_s", 100e9}});
  first.by_name["memory_latency_ns"] = {100, 110, 120, 20};
  model::Ceilings second =
      ceilings_of({{"copy_bytes_per_s", 61e9}, {"read_bytes_per_s", 30e9}, {"fma_flops_per_s", 101e9}});
  second.by_name["memory_latency_ns"] = {150, 160, 170, 20};
  second.measured_at = "2026-11-30T12:00:00Z";
  const model::Ceilings both = larger_rates(first, second);
  EXPECT_DOUBLE_EQ(both.p50("copy_bytes_per_s"), 61e9);
  EXPECT_DOUBLE_EQ(both.p50("read_bytes_per_s"), 40e9);
  EXPECT_DOUBLE_EQ(both.p50("fma_flops_per_s"), 101e9);
  EXPECT_DOUBLE_EQ(both.p50("memory_latency_ns"), 110) << "a latency is no rate: the first look stands";
  EXPECT_EQ(both.measured_at, "2026-11-30T12:00:00Z");
  ASSERT_FALSE(both.notes.empty());
  EXPECT_NE(both.notes.back().find("copy_bytes_per_s 50.0 then 61.0 GB/s"), std::string::npos) << both.notes.back();
  EXPECT_NE(both.notes.back().find("read_bytes_per_s 40.0 then 30.0 GB/s"), std::string::npos) << both.notes.back();
  EXPECT_EQ(both.notes.back().find("fma_flops"), std::string::npos);
}

TEST(LargerRates, ACeilingThatOnlyOneLookHasStays) {
  const model::Ceilings both = larger_rates(ceilings_of({{"copy_bytes_per_s", 50e9}}), {});
  EXPECT_DOUBLE_EQ(both.p50("copy_bytes_per_s"), 50e9);
  EXPECT_NE(both.notes.back().find("no bandwidth moved"), std::string::npos);
}

}  // namespace
}  // namespace hone::measure
