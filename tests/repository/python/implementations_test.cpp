// One process for all implementations: what ends it is not loaded again, and the original is.
#include "repository/python/implementations.hpp"

#include <gtest/gtest.h>

#include "tests/repository/python/sample_operator.hpp"

namespace hone::repository::python {
namespace {

const std::string kStarted =
    R"({"id":1,"device":{"kind":"cuda"},"torch":"2","triton":"3","python":"3","origin":"/tree/src/kernels/scale.py"})";

class ImplementationsTest : public testing::Test {
 protected:
  base::Result<SampleReply> sample(const std::string& implementation) {
    return implementations.ask(implementation,
                               [&](Worker& worker) { return worker.sample(implementation, spec, "forward"); });
  }
  base::MemoryFiles files;
  base::ScriptedProcesses processes;
  base::ManualClock clock;
  Context context{files, processes, clock, "/scratch"};
  OperatorSource source = scale_source();
  Implementations implementations{context, source};
  CaseSpec spec{{{"rows", 8}, {"columns", 256}}, "bf16", {}, 0, {}};
};

TEST_F(ImplementationsTest, EqualTextsAreOneAndOthersHaveAFileOfTheirOwn) {
  EXPECT_EQ(implementations.of("original").value(), kOriginal);
  const std::string changed = implementations.of("changed").value();
  EXPECT_EQ(implementations.of("changed").value(), changed);
  EXPECT_NE(implementations.of("changed again").value(), changed);
  EXPECT_EQ(files.read("/scratch/variants/" + changed + "/scale.py").value(), "changed");
}

TEST_F(ImplementationsTest, WhatEndsTheProcessIsNotLoadedAgain) {
  const std::string changed = implementations.of("changed").value();
  processes.dialogues.push_back({kStarted, R"({"id":2})", "<hang>"});
  processes.dialogues.push_back({kStarted, R"({"id":2})", R"({"id":3,"device_ns":5.0,"wall_ns":6.0})"});
  EXPECT_FALSE(sample(changed));
  ASSERT_TRUE(implementations.ended(changed));
  EXPECT_FALSE(sample(changed)) << "and no process was started for it";
  EXPECT_EQ(processes.commands.size(), 1u);
  auto original = sample(kOriginal);
  ASSERT_TRUE(original) << original.error().found;
  EXPECT_DOUBLE_EQ(original->sample.device_ns, 5);
}

TEST_F(ImplementationsTest, TheOriginalIsLoadedAgain) {
  processes.dialogues.push_back({kStarted, R"({"id":2})", "<hang>"});
  processes.dialogues.push_back({kStarted, R"({"id":2})", R"({"id":3,"device_ns":5.0,"wall_ns":6.0})"});
  EXPECT_FALSE(sample(kOriginal));
  EXPECT_FALSE(implementations.ended(kOriginal));
  EXPECT_TRUE(sample(kOriginal));
}

TEST_F(ImplementationsTest, APackageFromElsewhereIsAPreflightError) {
  std::string elsewhere = kStarted;
  elsewhere.replace(elsewhere.find("/tree/"), 6, "/site/");
  processes.dialogues.push_back({elsewhere});
  auto running = implementations.worker();
  ASSERT_FALSE(running);
  EXPECT_EQ(running.error().kind, base::ErrorKind::preflight);
  EXPECT_NE(running.error().found.find("/site/src/kernels/scale.py"), std::string::npos);
}

TEST_F(ImplementationsTest, WithoutADescriptionNoProcessIsStarted) {
  source.description = nullptr;
  EXPECT_FALSE(implementations.worker());
  EXPECT_TRUE(processes.commands.empty());
}

}  // namespace
}  // namespace hone::repository::python
