// RMSNorm's tile programs, eager plans and options against double precision.
#include "kernels/rms_norm/rms_norm_operation.hpp"

#include <gtest/gtest.h>

#include "tests/kernels/plan_runner.hpp"

namespace kernels {
namespace {

using testing::Bench;
using testing::Case;
using testing::cpu_target;

const Operation& rms_norm() { return *find("rms_norm"); }

Problem problem(std::int64_t rows, std::int64_t columns, DType dtype, const Options& changes = {}, std::int64_t padding = 0) {
  Options options = default_options(rms_norm());
  for (const auto& [name, value] : changes) options[name] = value;
  Problem result = {rows, columns, 0, dtype, options, padding};
  EXPECT_EQ(rms_norm().check(result), "");
  return result;
}

void expect_right(const Case& c) {
  const Target target = cpu_target();
  Bench bench(rms_norm(), c);
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    const auto failure = bench.run(pass, rms_norm().heuristic(pass, c.problem, target), target);
    EXPECT_FALSE(failure) << name_of(pass) << " " << c.problem.rows << " x " << c.problem.columns << " "
                          << name_of(c.problem.dtype) << ": " << failure.what;
  }
}

const std::vector<std::pair<std::int64_t, std::int64_t>> shapes = {
    {1, 1}, {5, 1}, {1, 7}, {3, 13}, {7, 16}, {4, 31}, {2, 64}, {33, 127}, {6, 1000}, {17, 1031}, {3, 4096}, {2, 40000}};

class RmsNormTypes : public ::testing::TestWithParam<DType> {};

TEST_P(RmsNormTypes, EveryShapeIsRight) {
  for (const auto& [rows, columns] : shapes) expect_right({problem(rows, columns, GetParam())});
}

TEST_P(RmsNormTypes, EmptyProblemsTouchNothing) {
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{0, 16}, {5, 0}, {0, 0}}) {
    expect_right({problem(rows, columns, GetParam())});
  }
}

TEST_P(RmsNormTypes, PaddedRowsAndMisalignedBasesAreRight) {
  expect_right({problem(9, 100, GetParam(), {}, 3)});
  expect_right({problem(9, 64, GetParam(), {}, 64)});
  expect_right({problem(9, 333, GetParam()), 1});
  expect_right({problem(9, 512, GetParam(), {}, 1), 5});
}

TEST_P(RmsNormTypes, EveryOptionIsRight) {
  for (const char* mode : {"llama", "gemma", "none"}) {
    for (const char* weight : {"yes", "no"}) {
      for (const char* in_place : {"no", "yes"}) {
        expect_right({problem(11, 77, GetParam(),
                              {{"casting_mode", mode}, {"weight", weight}, {"in_place", in_place}, {"offset", "1"}})});
      }
    }
  }
}

TEST_P(RmsNormTypes, SettingsAreRight) {
  const Target target = cpu_target();
  const Problem p = problem(13, 201, GetParam(), {}, 7);
  Bench bench(rms_norm(), {p});
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    for (const Settings& settings : testing::sample_of_settings(rms_norm(), pass, p, target)) {
      const auto failure = bench.run(pass, settings, target);
      std::string text;
      for (const auto& [name, value] : settings) text += name + "=" + std::to_string(value) + " ";
      ASSERT_FALSE(failure) << name_of(pass) << " " << text << failure.what;
    }
  }
}

TEST_P(RmsNormTypes, TheEagerPlanComputesTheSame) {
  for (const char* mode : {"llama", "gemma", "none"}) {
    for (const char* weight : {"yes", "no"}) {
      for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{11, 77}, {1, 1}, {0, 5}, {64, 512}}) {
        const Problem p = problem(rows, columns, GetParam(), {{"casting_mode", mode}, {"weight", weight}, {"offset", "1"}}, 3);
        Bench bench(rms_norm(), {p});
        for (const Pass pass : {Pass::forward, Pass::backward}) {
          // In 16 bits throughout it rounds a dozen temporaries where the kernel rounds one result.
          const double slack = std::string(mode) == "none" && GetParam() != DType::fp32 ? 6 : 2;
          const auto failure = bench.run(pass, rms_norm().eager_plan(pass, p, cpu_target()), slack);
          EXPECT_FALSE(failure) << name_of(pass) << " " << mode << " weight " << weight << ": " << failure.what;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, RmsNormTypes, ::testing::Values(DType::fp32, DType::bf16, DType::fp16),
                         [](const auto& type) { return name_of(type.param); });

}  // namespace
}  // namespace kernels
