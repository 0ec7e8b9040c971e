// What a stage asks of a repository is small enough to be faked in ten lines, one interface at a time.
#include <gtest/gtest.h>

#include "repository/repository.hpp"

namespace hone::repository {
namespace {

struct OneSize final : Described {
  const model::Identity& identity() const override { return named; }
  model::DeviceInfo device() const override { return {}; }
  std::string x_name() const override { return "columns"; }
  std::vector<std::string> sizes() const override { return {"64"}; }
  std::vector<std::string> modes() const override { return {"forward", "full"}; }
  model::Variant original() const override { return {}; }
  std::vector<std::pair<std::string, std::string>> snapshot() const override { return {}; }
  std::string source_hash() const override { return "h"; }
  model::Identity named;
};
struct NeverBuilds final : Buildable {
  base::Result<Built> build(const model::Variant&) override { return error; }
  base::Result<BuiltPart> build_settings(const std::string&, const std::string&, const model::Settings&) override {
    return error;
  }
  base::Error error{base::ErrorKind::preflight, "a compiler", "none", "", ""};
};
struct NoTime final : Timed {
  using Subject = base::Result<std::unique_ptr<measure::Subject>>;
  Subject subject(const model::Variant&, const Cell&) override { return error; }
  Subject subject_with(const Cell&, const model::Settings&) override { return error; }
  base::Result<MemoryUse> memory(const model::Variant&, const std::string&) override { return MemoryUse{1, 2, 3}; }
  base::Clock& clock() override { return manual; }
  base::Result<model::Ceilings> ceilings() override { return model::Ceilings{}; }
  PassFloor floor(const Cell&) override { return {}; }
  base::ManualClock manual;
  base::Error error{base::ErrorKind::preflight, "a device", "none", "", ""};
};
struct Passes final : Judged {
  base::Result<GateResult> gate(const model::Variant&, GateLevel) override { return GateResult{1}; }
};
struct Text final : Changeable {
  base::Result<model::Variant> variant_from_source(const std::string& text, const model::Variant&) override {
    model::Variant variant;
    variant.edits = {{"kernel.cu", text}};
    return variant;
  }
  std::string variant_file_extension() const override { return "cu"; }
  base::Result<std::vector<FileChange>> installation(const model::Variant&) override {
    return std::vector<FileChange>{};
  }
};
struct Uncounted final : Counted {
  base::Result<model::Counters> counters() override { return model::Counters{}; }
};

TEST(Interfaces, WhatAKernelNeedNotHaveIsAbsentByDefault) {
  OneSize kernel;
  EXPECT_EQ(kernel.space("forward", "64"), std::vector<model::Settings>{{}}) << "one setting where there is no knob";
  EXPECT_TRUE(kernel.knobs().empty());
  EXPECT_TRUE(kernel.baseline_providers().empty());
  EXPECT_EQ(kernel.unmeasurable(), "");
  NoTime times;
  EXPECT_EQ(times.provider_subject("eager", {"64", "forward"}).error().kind, base::ErrorKind::usage);
  EXPECT_FALSE(times.provider_memory("eager", "64"));
  ASSERT_TRUE(times.parts({}, {"64", "forward"}));
  EXPECT_FALSE(times.parts({}, {"64", "forward"})->has_value());
  EXPECT_TRUE(Text().propose("parameter-sweep", {}, {}).empty());
  EXPECT_FALSE(Text().style().has_value());
  EXPECT_FALSE(NeverBuilds().build({}));
  EXPECT_TRUE(Passes().gate({}, GateLevel::smoke)->ok());
  EXPECT_TRUE(Uncounted().counters());
}

}  // namespace
}  // namespace hone::repository
