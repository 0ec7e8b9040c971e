#include "render/documents/profile_markdown.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/render/golden.hpp"
#include "tests/render/markdown_checks.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/sample_documents.hpp"

namespace hone::render {
namespace {

using model::Profile;

TEST(ProfileMarkdown, OfABuiltInKernelOnACpu) {
  test::expect_golden(golden("profile_cpu.md"), profile_markdown(test::sample_profile()));
  test::expect_golden(golden("profile_cpu.json"), to_json(test::sample_profile()));
}

TEST(ProfileMarkdown, OfATritonKernelWithCounters) {
  test::expect_golden(golden("profile_gpu.md"), profile_markdown(test::sample_gpu_profile()));
}

TEST(ProfileMarkdown, HasItsSevenBlocksInOrder) {
  const std::string text = profile_markdown(test::sample_profile());
  std::size_t at = 0;
  for (const char* block :
       {"# rms_norm", "## 1. Kernel Identity", "## 2. GPU Information", "## 3. Baseline Benchmarks",
        "## 4. NCU Profiling Summary", "## 5. Bottleneck Classification", "## 6. Current Configuration Analysis",
        "## 7. Identified Optimization Opportunities", "### Recommended Strategy Order", "### Estimated Iterations"}) {
    const std::size_t found = text.find(std::string("\n") + block, at == 0 ? 0 : at - 1);
    if (at == 0)
      EXPECT_TRUE(base::starts_with(text, block));
    else
      EXPECT_NE(found, std::string::npos) << block;
    at = at == 0 ? 2 : found + 1;
  }
}

TEST(ProfileMarkdown, IsWellFormedAndLeavesNoHole) {
  EXPECT_THAT(test::markdown_faults(profile_markdown(test::sample_profile())), testing::IsEmpty());
  EXPECT_THAT(test::markdown_faults(profile_markdown(test::sample_gpu_profile())), testing::IsEmpty());
}

TEST(ProfileMarkdown, OfAnEmptyProfileSaysWhyEachFieldIsMissing) {
  const std::string text = profile_markdown(Profile{});
  EXPECT_THAT(test::markdown_faults(text), testing::IsEmpty());
  EXPECT_THAT(text, testing::HasSubstr("the reason was not recorded"));
  EXPECT_THAT(text, testing::HasSubstr("not known"));
}

TEST(ProfileMarkdown, EscapesWhatADocumentCarries) {
  Profile profile = test::sample_profile();
  profile.bottleneck.evidence[0].observation = "a | b\nc <script>alert(1)</script> **d**";
  profile.configuration.parameters[0].name = "num|warps";
  profile.identity.source_file.path = "odd`name.hpp";
  profile.summary = "# [x](http://evil) \033[31m";
  profile.opportunities[0].title = std::string(5000, 'x');
  const std::string text = profile_markdown(profile);
  EXPECT_THAT(test::markdown_faults(text), testing::IsEmpty());
  EXPECT_THAT(text, testing::HasSubstr("a \\| b c \\<script>alert(1)\\</script> \\*\\*d\\*\\*"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("\033")));
  EXPECT_THAT(text, testing::HasSubstr("**\\# \\[x](http"));
}

TEST(ProfileMarkdown, SaysWhatIsNotInACaptureInsteadOfZero) {
  const std::string text = profile_markdown(test::sample_gpu_profile());
  EXPECT_THAT(text, testing::ContainsRegex("Spills +\\| +not in this capture"));
  EXPECT_THAT(text, testing::HasSubstr("blackwell was asked for and hopper is here"));
}

TEST(ProfileMarkdown, CountsAreWholeNumbersHoweverLarge) {
  Profile profile = test::sample_gpu_profile();
  profile.counters.kernels[0].spills = 6870656;
  profile.counters.kernels[0].registers_per_thread = 128;
  const std::string text = profile_markdown(profile);
  EXPECT_THAT(text, testing::ContainsRegex("Spills +\\| +6870656 \\|"));
  EXPECT_THAT(text, testing::ContainsRegex("Registers per Thread +\\| +128 \\|"));
}

TEST(ProfileMarkdown, KernelsOfLibrariesAreNamedButNotAnalysed) {
  Profile profile = test::sample_gpu_profile();
  profile.counters.kernels[1].owner = "PyTorch";
  profile.counters.kernels[1].name = "void at::native::vectorized_elementwise_kernel<4, Add | Mul>";
  const std::string text = profile_markdown(profile);
  EXPECT_THAT(text, testing::HasSubstr("### Kernels of libraries in the same capture"));
  EXPECT_THAT(text, testing::HasSubstr("`void at::native::vectorized_elementwise_kernel<4, Add \\| Mul>` | PyTorch"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("12.4 %  ")));
  EXPECT_THAT(test::markdown_faults(text), testing::IsEmpty());
}

TEST(ProfileMarkdown, RecordedNumbersAreShownAsRecorded) {
  Profile profile = test::sample_gpu_profile();
  for (model::BaselineRow& row : profile.baseline.rows)
    if (row.provider == "huggingface") row.source = model::Source::recorded;
  EXPECT_THAT(profile_markdown(profile),
              testing::HasSubstr("- The speed of huggingface is recorded, not measured here."));
}

TEST(ProfileMarkdown, CorrectsCommonPracticeWhereItMatters) {
  const std::string gpu = profile_markdown(test::sample_gpu_profile());
  EXPECT_THAT(gpu, testing::HasSubstr("num_warps 4 and num_stages 3, not 1"));
  EXPECT_THAT(gpu, testing::HasSubstr("Low memory and low compute throughput together are not a balance"));
  EXPECT_THAT(gpu, testing::HasSubstr("measures the host there"));
  const std::string cpu = profile_markdown(test::sample_profile());
  EXPECT_THAT(cpu, testing::Not(testing::HasSubstr("Triton")));
  EXPECT_THAT(cpu, testing::HasSubstr("Streaming and evict-first hints can lose"));
}

}  // namespace
}  // namespace hone::render
