// Samples, parts and memory of implementations, with a scripted worker on the other end.
#include "repository/python/timings.hpp"

#include <gtest/gtest.h>

#include "tests/repository/python/sample_operator.hpp"

namespace hone::repository::python {
namespace {

class TimingsTest : public testing::Test {
 protected:
  void SetUp() override {
    processes.dialogues.push_back(
        {R"({"id":1,"device":{"kind":"cuda"},"torch":"2","triton":"3","python":"3","origin":"/tree/src/kernels/scale.py"})",
         R"({"id":2})"});
  }
  // What the worker answers once the implementation is loaded.
  void answer(std::vector<std::string> answers) {
    for (std::size_t i = 0; i < answers.size(); ++i)
      processes.dialogues.back().push_back(R"({"id":)" + std::to_string(3 + i) + "," + answers[i] + "}");
  }

  base::MemoryFiles files;
  base::ScriptedProcesses processes;
  base::ManualClock clock;
  Context context{files, processes, clock, "/scratch"};
  OperatorSource source = scale_source();
  Cases cases = Cases::of(source, {}, "cuda:0").value();
  Implementations implementations{context, source};
  KnobSpace knobs{{}, {}, {"forward", "backward"}, "general"};
  Variants variants{files, source, cases, knobs, implementations};
  Timings timings{cases, implementations, variants};
  const Cell cell{"512", "forward"};
};

TEST_F(TimingsTest, ASubjectOfTheOriginalIsSampledByTheWorker) {
  answer({R"("device_ns":68400.0,"wall_ns":285000.0)"});
  auto subject = timings.subject(variants.original(), cell);
  ASSERT_TRUE(subject) << base::describe(subject.error());
  EXPECT_EQ((*subject)->name(), kOriginal);
  auto sample = (*subject)->sample();
  ASSERT_TRUE(sample) << base::describe(sample.error());
  EXPECT_DOUBLE_EQ(sample->device_ns, 68400);
  EXPECT_TRUE(timings.cells_with_gaps().empty());
}

TEST_F(TimingsTest, CellsInWhichTheHostWasLateAreNamed) {
  const std::string late = R"("device_ns":1.0,"wall_ns":1.0,"blocked":true)", fine = R"("device_ns":1.0,"wall_ns":1.0)";
  answer({late, fine, late});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(timings.sample(kOriginal, cell));
  EXPECT_EQ(timings.cells_with_gaps(), std::vector<std::string>{"forward at 512"});
}

TEST_F(TimingsTest, WorkThatGoesOnBehindThePassIsAnError) {
  answer({R"("device_ns":100000.0,"wall_ns":1.0,"outside_ns":3000000.0)"});
  auto sample = timings.sample(kOriginal, cell);
  ASSERT_FALSE(sample);
  EXPECT_NE(sample.error().found.find("busy for 3.00 ms"), std::string::npos) << sample.error().found;
}

TEST_F(TimingsTest, MemoryIsThatOfTheOperatorAndThatOfItsCaller) {
  answer({R"("peak_bytes":2000000,"saved_bytes":500000,"input_bytes":3000000)"});
  auto memory = timings.memory(variants.original(), "512");
  ASSERT_TRUE(memory) << base::describe(memory.error());
  EXPECT_DOUBLE_EQ(memory->peak_over_inputs_mb, 2);
  EXPECT_DOUBLE_EQ(memory->saved_for_backward_mb, 0.5);
  EXPECT_DOUBLE_EQ(memory->callers_peak_mb, 5);
}

TEST_F(TimingsTest, TheFormulaIsTheOnlyOtherProvider) {
  EXPECT_TRUE(timings.provider_subject(kTorchProvider, cell));
  EXPECT_EQ(timings.provider_subject("eager", cell).error().kind, base::ErrorKind::usage);
}

}  // namespace
}  // namespace hone::repository::python
