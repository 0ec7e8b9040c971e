// The worker's conversation, with a scripted process on the other end.
#include "repository/python/worker.hpp"

#include <gtest/gtest.h>

namespace hone::repository::python {
namespace {

const std::string kStarted =
    R"({"id":1,"device":{"kind":"cuda","name":"NVIDIA H200","measurable":true,"compute_capability":"9.0","sm_count":132,"total_memory_bytes":150109880320,)"
    R"("l2_bytes":62914560,"shared_memory_per_block_bytes":232448,"registers_per_sm":65536,"max_threads_per_sm":2048,"driver":"580.1","clock_mhz":1980},)"
    R"("torch":"2.11.0","triton":"3.6.0","python":"3.12.3","origin":"/tree/src/kernels/rms_norm.py"})";

class WorkerTest : public testing::Test {
 protected:
  base::Result<std::unique_ptr<Worker>> start(std::vector<std::string> answers) {
    processes.dialogues.push_back(std::move(answers));
    auto described = std::make_shared<OperatorDescription>();
    described->name = "rms_norm", described->callable = "RMSNorm", described->formula = "x";
    return Worker::start(processes,
                         {"python3", "/scripts/hone_worker.py", "cuda:0", "/tree/src", "kernels.rms_norm", described});
  }
  base::ScriptedProcesses processes;
  CaseSpec spec{{{"rows", 16384}, {"columns", 4096}}, "bf16", {}, 0, {}};
};

TEST_F(WorkerTest, TellsTheDeviceAndWhereTheOriginalCameFrom) {
  auto worker = start({kStarted});
  ASSERT_TRUE(worker) << worker.error().found;
  const Started& started = (*worker)->started();
  EXPECT_TRUE(started.measurable);
  EXPECT_EQ(started.device.name, "NVIDIA H200");
  EXPECT_EQ(started.device.architecture, "hopper");
  EXPECT_EQ(started.device.sm_count, 132);
  EXPECT_EQ(started.device.last_level_cache_bytes(), 62914560);
  EXPECT_EQ(started.origin, "/tree/src/kernels/rms_norm.py");
  EXPECT_EQ(processes.commands.front().environment.at("PYTHONDONTWRITEBYTECODE"), "1");
}

TEST_F(WorkerTest, APythonThatCanNotStartIsAPreflightError) {
  auto worker = start(
      {R"({"id":1,"error":{"kind":"ModuleNotFoundError","message":"No module named 'torch'","where":""},"sticky":false})"});
  ASSERT_FALSE(worker);
  EXPECT_EQ(worker.error().kind, base::ErrorKind::preflight);
  EXPECT_NE(worker.error().found.find("No module named 'torch'"), std::string::npos);
}

TEST_F(WorkerTest, ASampleCarriesItsTimes) {
  auto worker = start(
      {kStarted,
       R"({"id":2,"device_ns":188400.0,"wall_ns":578000.0,"clock_mhz":1980.0,"outside_ns":71000.0,"blocked":true})"});
  ASSERT_TRUE(worker);
  auto sample = (*worker)->sample("v0", spec, "backward");
  ASSERT_TRUE(sample) << sample.error().found;
  EXPECT_DOUBLE_EQ(sample->sample.device_ns, 188400);
  EXPECT_DOUBLE_EQ(sample->sample.wall_ns, 578000);
  EXPECT_TRUE(sample->blocked);
}

TEST_F(WorkerTest, AnExceptionOfTheKernelCostsTheVariantAndNotTheWorker) {
  auto worker = start(
      {kStarted,
       R"({"id":2,"error":{"kind":"CompilationError","message":"at 12:4: x is not defined","where":"line"},"sticky":false})",
       R"({"id":3})"});
  ASSERT_TRUE(worker);
  auto built = (*worker)->build("h1", spec, "forward");
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().kind, base::ErrorKind::gate);
  EXPECT_NE(built.error().found.find("x is not defined"), std::string::npos);
  EXPECT_TRUE((*worker)->alive());
  EXPECT_TRUE((*worker)->load("h2", "/overlay/h2.py"));
}

TEST_F(WorkerTest, AHangEndsTheProcess) {
  auto worker = start({kStarted, "<hang>"});
  ASSERT_TRUE(worker);
  auto sample = (*worker)->sample("h1", spec, "full");
  ASSERT_FALSE(sample);
  EXPECT_EQ(sample.error().kind, base::ErrorKind::gate);
  EXPECT_FALSE((*worker)->alive());
}

// After an illegal access the device's context is lost: the worker answers once more, ends, and says so.
TEST_F(WorkerTest, AStickyErrorEndsTheProcessWithItsReason) {
  auto worker = start(
      {kStarted,
       R"({"id":2,"error":{"kind":"AcceleratorError","message":"CUDA error: an illegal memory access was encountered","where":"line"},"sticky":true})"});
  ASSERT_TRUE(worker);
  auto sample = (*worker)->sample("h1", spec, "backward");
  ASSERT_FALSE(sample);
  EXPECT_NE(sample.error().found.find("illegal memory access"), std::string::npos) << sample.error().found;
  EXPECT_FALSE((*worker)->alive());
}

TEST_F(WorkerTest, APassIsToldApartByItsKernels) {
  auto worker =
      start({kStarted,
             R"({"id":2,"device_ns":190300.0,"kernels":[{"name":"_rms_norm_backward_kernel","device_ns":179200.0}]})"});
  ASSERT_TRUE(worker);
  auto parts = (*worker)->parts("v0", spec, "backward", 15);
  ASSERT_TRUE(parts) << parts.error().found;
  EXPECT_DOUBLE_EQ(parts->device_ns, 190300);
  ASSERT_EQ(parts->kernels.size(), 1u);
  EXPECT_EQ(parts->kernels[0].first, "_rms_norm_backward_kernel");
  EXPECT_DOUBLE_EQ(parts->kernels[0].second, 179200);
}

TEST_F(WorkerTest, WhatACandidateSpoiltIsNamed) {
  auto worker = start(
      {kStarted,
       R"({"id":2,"original_refused":"","candidate_refused":"","changed_inputs":[],"missing":[],"tensors":[],"disturbed":["the original's output 0"]})"});
  ASSERT_TRUE(worker);
  auto check = (*worker)->check("v0", "h1", spec);
  ASSERT_TRUE(check);
  EXPECT_EQ(check->disturbed, (std::vector<std::string>{"the original's output 0"}));
}

TEST_F(WorkerTest, TouchingTimersIsAnError) {
  auto worker = start({kStarted, R"({"id":2,"device_ns":1.0,"wall_ns":1.0,"tampered":["torch.cuda.Event"]})"});
  ASSERT_TRUE(worker);
  auto sample = (*worker)->sample("h1", spec, "full");
  ASSERT_FALSE(sample);
  EXPECT_NE(sample.error().found.find("torch.cuda.Event"), std::string::npos);
}

TEST_F(WorkerTest, AnAnswerToAnotherQuestionIsRefused) {
  auto worker = start({kStarted, R"({"id":7,"device_ns":1.0})"});
  ASSERT_TRUE(worker);
  EXPECT_FALSE((*worker)->sample("v0", spec, "full"));
}

TEST_F(WorkerTest, ABuildListsWhatWasLaunched) {
  auto worker = start(
      {kStarted,
       R"({"id":2,"operations":"a753","kernels":[{"name":"_rms_norm_backward_kernel","grid":[132,1,1],"num_warps":8,"num_stages":3,"shared_bytes":8192,"registers":113,"spills":0,"code_bytes":9000,"code_hash":"eb699c"}]})"});
  ASSERT_TRUE(worker);
  auto built = (*worker)->build("v0", spec, "backward");
  ASSERT_TRUE(built);
  ASSERT_EQ(built->kernels.size(), 1u);
  EXPECT_EQ(built->kernels[0].registers, 113);
  EXPECT_EQ(built->kernels[0].grid, (std::vector<std::int64_t>{132, 1, 1}));
  EXPECT_EQ(built->operations, "a753");
}

TEST_F(WorkerTest, WhatIsNotFiniteIsReadAsInfinity) {
  auto worker = start(
      {kStarted,
       R"({"id":2,"original_refused":"","candidate_refused":"","changed_inputs":[],"missing":[],"tensors":[{"name":"output 0","dtype":"float32","same_form":true,)"
       R"("original":{"elements":4,"non_finite":0,"worst_error":1e-7,"norm_error":1e-7},"candidate":{"elements":4,"non_finite":2,"first_non_finite":1,"worst_error":null,"norm_error":null},"repeats":true,"identical":false}]})"});
  ASSERT_TRUE(worker);
  auto check = (*worker)->check("v0", "h1", spec);
  ASSERT_TRUE(check);
  ASSERT_EQ(check->tensors.size(), 1u);
  EXPECT_EQ(check->tensors[0].candidate.non_finite, 2);
  EXPECT_GT(check->tensors[0].candidate.norm_error, 1e300);
}

TEST(Architecture, FollowsTheComputeCapability) {
  EXPECT_STREQ(architecture_of("8.0"), "ampere");
  EXPECT_STREQ(architecture_of("8.9"), "ada");
  EXPECT_STREQ(architecture_of("9.0"), "hopper");
  EXPECT_STREQ(architecture_of("10.0"), "blackwell");
  EXPECT_STREQ(architecture_of("12.0"), "blackwell");
}

}  // namespace
}  // namespace hone::repository::python
