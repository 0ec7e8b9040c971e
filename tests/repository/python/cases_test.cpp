// A request for an operator: what was left open is filled in, and what it does not have is refused.
#include "repository/python/cases.hpp"

#include <gtest/gtest.h>

#include "tests/repository/python/sample_operator.hpp"

namespace hone::repository::python {
namespace {

model::Request asked(std::map<std::string, std::string> options = {}, std::vector<std::string> sizes = {}) {
  model::Request request;
  request.kernel = "scale";
  request.options = std::move(options);
  request.sizes = std::move(sizes);
  return request;
}

TEST(Cases, WhatIsLeftOpenIsFilledIn) {
  auto cases = Cases::of(scale_source(), asked(), "cuda:0");
  ASSERT_TRUE(cases) << base::describe(cases.error());
  EXPECT_EQ(cases->request().dtype, "bf16");
  EXPECT_EQ(cases->request().options.at("mode"), "plain");
  EXPECT_EQ(cases->size_names(), (std::vector<std::string>{"256", "512", "1024"}));
  EXPECT_EQ(cases->passes(), (std::vector<std::string>{"forward", "backward"}));
  EXPECT_EQ(cases->rows(), 8);
  EXPECT_EQ(Cases::of(scale_source(), asked(), "cpu")->request().dtype, "fp32");
}

TEST(Cases, AnOptionMaySetAnExtentAndOthersArePassedBy) {
  const auto request = asked({{"tokens", "3"}, {"benchmark_seconds", "9"}}, {"64", "32", "64"});
  auto cases = Cases::of(scale_source(), request, "cpu");
  ASSERT_TRUE(cases) << base::describe(cases.error());
  EXPECT_EQ(cases->rows(), 3);
  EXPECT_EQ(cases->size_names(), (std::vector<std::string>{"32", "64"}));
  auto spec = cases->at("32");
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->shape.at("rows"), 3);
  EXPECT_EQ(spec->shape.at("columns"), 32);
  EXPECT_EQ(spec->options, (std::map<std::string, std::string>{{"in_place", "true"}, {"mode", "plain"}}));
  EXPECT_EQ(cases->request().options.at("benchmark_seconds"), "9");
  EXPECT_NE(cases->judged(spec->shape, "fp32")->seed, spec->seed) << "the gate judges on other data";
}

TEST(Cases, WhatTheOperatorDoesNotHaveIsAUsageError) {
  for (const auto& request : {asked({{"colour", "red"}}), asked({{"mode", "fast"}}), asked({{"tokens", "0"}}),
                              asked({}, {"4k"}), asked({}, {"-1"})}) {
    auto cases = Cases::of(scale_source(), request, "cpu");
    ASSERT_FALSE(cases);
    EXPECT_EQ(cases.error().kind, base::ErrorKind::usage);
  }
  model::Request request = asked();
  request.dtype = "fp8";
  EXPECT_FALSE(Cases::of(scale_source(), request, "cpu"));
}

TEST(Cases, WithoutADescriptionThereAreNoInputs) {
  OperatorSource source = scale_source();
  source.description = nullptr;
  auto cases = Cases::of(source, asked(), "cpu");
  ASSERT_TRUE(cases);
  EXPECT_TRUE(cases->sizes().empty());
  EXPECT_EQ(cases->modes().size(), 3u);
  EXPECT_EQ(cases->at("256").error().kind, base::ErrorKind::preflight);
  EXPECT_FALSE(cases->at_each({}));
}

TEST(Cases, HeldOutSizesLieBetween) {
  auto cases = Cases::of(scale_source(), asked({}, {"1024", "4096"}), "cpu");
  EXPECT_EQ(cases->held_out_names(), std::vector<std::string>{"2048"});
}

}  // namespace
}  // namespace hone::repository::python
