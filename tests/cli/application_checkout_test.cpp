// The program on a Liger checkout without a GPU: what it can not do is said before anybody tries.
#include <gmock/gmock.h>

#include "tests/cli/program_fixture.hpp"
#include "tests/repository/liger/checkout_copy.hpp"

namespace hone::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Checkout : public ProgramTest {
 protected:
  void SetUp() override {
    if (!checkout_.complete()) GTEST_SKIP() << "no .deps/liger-kernel here: './dev setup' puts it there";
  }
  base::Outcome on_checkout(std::vector<std::string> words) {
    words.insert(words.end(), {"--repo", checkout_.path(), "--workspace", folder_ / "w"});
    return run(std::move(words), {{"HONE_PYTHON", folder_ / "no-python"}});
  }
  repository::liger::CheckoutCopy checkout_;
};

TEST_F(Checkout, ASyntaxErrorIsNamedAndNoOptimizeIsPromised) {
  const std::string path = checkout_.path() + "/src/liger_kernel/ops/rms_norm.py";
  std::ofstream(path, std::ios::app) << "\ndef broken(:\n    return 1 +\n";
  const base::Outcome profiled = on_checkout({"profile", "rms_norm"});
  EXPECT_EQ(profiled.exit_status, 0) << profiled.error;
  EXPECT_THAT(profiled.output + profiled.error, HasSubstr("src/liger_kernel/ops/rms_norm.py:"));
  EXPECT_THAT(profiled.output, Not(HasSubstr("next      hone optimize")));
  EXPECT_THAT(profiled.output, HasSubstr("next      nothing here: optimize needs a machine"));
  EXPECT_THAT(*files_.read(folder_ / "w/rms_norm/profile.md"), HasSubstr("ops/rms_norm.py:"));
  const base::Outcome optimized = on_checkout({"optimize", "rms_norm"});
  EXPECT_EQ(optimized.exit_status, 3) << optimized.error;
  EXPECT_THAT(optimized.error, HasSubstr("rms_norm.py:"));
}

// Two GPUs' rows stand in the records of this checkout, and one of them has one line that is no number.
TEST_F(Checkout, RecordedRowsOfTwoGpusAreNeverDividedByEachOther) {
  const std::string records = checkout_.path() + "/benchmark/data/all_benchmark_data.csv";
  std::ofstream(records, std::ios::app)
      << "rms_norm,liger,full,speed,ms,H,hidden size,4096,oops,1,1,{},NVIDIA A100-SXM4-80GB,2024-09-03 15:39:46,0.2.1\n"
      << "rms_norm,huggingface,forward,speed,ms,H,hidden size,4096,0.08,0.07,0.09,\"{\"\"M\"\": 2048}\",NVIDIA "
         "A100-SXM4-80GB,2024-09-03 15:39:46,0.2.1\n";
  const base::Outcome profiled = on_checkout({"profile", "rms_norm"});
  ASSERT_EQ(profiled.exit_status, 0) << profiled.error;
  const std::string page = *files_.read(folder_ / "w/rms_norm/profile.md");
  EXPECT_THAT(page, HasSubstr("Recorded elsewhere: NVIDIA A100-SXM4-80GB, 2024-09-03"));
  EXPECT_THAT(page, HasSubstr("Recorded elsewhere: NVIDIA H100 80GB HBM3, 2025-01-02"));
  EXPECT_THAT(page, HasSubstr("2.00x")) << "0.08 ms over 0.04 ms, both of the A100";
  EXPECT_THAT(page, Not(HasSubstr("4.00x"))) << "0.08 ms of an A100 over 0.02 ms of an H100 says nothing";
  EXPECT_THAT(page, HasSubstr("y_value_50: 'oops' is no finite number"));
  EXPECT_THAT(profiled.output, HasSubstr("rows recorded elsewhere are in profile.md"));
}

}  // namespace
}  // namespace hone::cli
