// Liger's and PyTorch's rows beside another repository's kernels, with a scripted python on the other end.
#include "repository/liger/providers.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"

namespace hone::repository::liger {
namespace {

const std::string kPython =
    R"({"python":"3.12.3","executable":"/usr/bin/python3","installed":"/site/liger_kernel/__init__.py","torch":"2.11.0","triton":"3.6.0",)"
    R"("numpy":"2.5","pytest":"","transformers":"","liger_kernel":"0.8.2","imported":"/site/liger_kernel/__init__.py","cuda_devices":1,"cuda_error":"","cuda":"13.0","device_names":["NVIDIA H200"]})";
const std::string kStarted =
    R"({"id":1,"device":{"kind":"cuda","name":"NVIDIA H200","measurable":true,"compute_capability":"9.0","sm_count":132},)"
    R"("torch":"2.11.0","triton":"3.6.0","python":"3.12.3","origin":"/site/liger_kernel/ops/rms_norm.py"})";

std::string without(std::string text, const std::string& part, const std::string& instead) {
  const auto at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), instead);
}

class ProvidersTest : public testing::Test {
 protected:
  PythonProviders providers(const std::string& python, const std::string& device = "cuda:0") {
    base::Outcome told;
    told.output = python;
    processes.answers.push_back(told);
    return PythonProviders({files, processes, clock, "/scratch", device});
  }
  static ProviderCase rms_norm() {
    return {
        "rms_norm", "bf16", "forward", 16384, 4096, 0, {{"casting_mode", "llama"}, {"in_place", "no"}, {"eps", "1e-6"}},
        {}};
  }
  base::MemoryFiles files;
  base::ScriptedProcesses processes;
  base::ManualClock clock;
};

TEST_F(ProvidersTest, AreThereWherePythonHasTorchTritonAndLiger) {
  auto here = providers(kPython);
  EXPECT_EQ(here.absent("liger", rms_norm()), "");
  EXPECT_EQ(here.absent("torch", rms_norm()), "");
}

TEST_F(ProvidersTest, WithoutLigerPyTorchIsStillTimed) {
  auto here = providers(without(kPython, R"("installed":"/site/liger_kernel/__init__.py")", R"("installed":"")"));
  EXPECT_NE(here.absent("liger", rms_norm()).find("no liger_kernel"), std::string::npos);
  EXPECT_EQ(here.absent("torch", rms_norm()), "");
}

TEST_F(ProvidersTest, ARowSaysWhatIsMissing) {
  auto no_torch = providers(without(kPython, R"("torch":"2.11.0")", R"("torch":"")"));
  EXPECT_NE(no_torch.absent("torch", rms_norm()).find("no torch"), std::string::npos);
  auto on_cpu = providers(kPython, "cpu");
  EXPECT_NE(on_cpu.absent("liger", rms_norm()).find("CUDA device"), std::string::npos);
}

TEST_F(ProvidersTest, TheWorkerIsGivenTheInstalledPackageAndTheSameCase) {
  auto here = providers(kPython);
  processes.dialogues.push_back({kStarted, R"({"id":2})",
                                 R"({"id":3,"device_ns":68400.0,"wall_ns":285000.0,"clock_mhz":1980.0})",
                                 R"({"id":4,"device_ns":68300.0,"wall_ns":284000.0,"clock_mhz":1980.0})"});
  auto subject = here.subject("liger", rms_norm());
  ASSERT_TRUE(subject) << subject.error().found;
  auto sample = (*subject)->sample();
  ASSERT_TRUE(sample) << sample.error().found;
  EXPECT_DOUBLE_EQ(sample->device_ns, 68300);
  EXPECT_EQ((*subject)->name(), "liger");
}

TEST_F(ProvidersTest, AKernelThatFailsIsAnErrorBeforeAnythingIsInterleaved) {
  auto here = providers(kPython);
  processes.dialogues.push_back(
      {kStarted, R"({"id":2})",
       R"({"id":3,"error":{"kind":"OutOfMemoryError","message":"tried to allocate 40 GiB","where":""}})"});
  auto subject = here.subject("liger", rms_norm());
  ASSERT_FALSE(subject);
  EXPECT_NE(subject.error().found.find("40 GiB"), std::string::npos);
}

TEST(ProviderCase, ExtentsGetTheWorkersNames) {
  const python::CaseSpec norm =
      case_of({"rms_norm", "bf16", "forward", 16384, 4096, 0, {{"in_place", "no"}}, {}}).value();
  EXPECT_EQ(norm.shape.at("rows"), 16384);
  EXPECT_EQ(norm.shape.at("columns"), 4096);
  EXPECT_EQ(norm.options.at("in_place"), "false");
  const python::CaseSpec grpo = case_of({"grpo_loss", "bf16", "forward", 16384, 151936, 8, {}, {}}).value();
  EXPECT_EQ(grpo.shape.at("batch"), 8);
  EXPECT_EQ(grpo.shape.at("rows"), 2048) << "of one sequence";
  const python::CaseSpec fused =
      case_of({"fused_linear_cross_entropy", "bf16", "forward", 8192, 128256, 4096, {}, {}}).value();
  EXPECT_EQ(fused.shape.at("hidden"), 4096);
  EXPECT_EQ(fused.shape.at("rows"), 8192);
}

TEST(ProviderCase, WhatTheCallCanNotFollowIsNotTimed) {
  ProviderCase asked{"cross_entropy", "bf16", "forward", 8192, 32768, 0, {}, {}};
  EXPECT_EQ(unlike(asked), "");
  asked.not_default = {{"label_smoothing", "0.1"}};
  EXPECT_NE(unlike(asked).find("label_smoothing=0.1"), std::string::npos);
  asked.not_default.clear();
  asked.mode = "backward";
  EXPECT_NE(unlike(asked).find("forward computes the gradient"), std::string::npos);
  asked.kernel = "no_such_kernel";
  EXPECT_NE(unlike(asked), "");
}

TEST(ProviderCase, AnOptionThatTheCallFollowsIsNotAnObstacle) {
  ProviderCase asked{"rms_norm",
                     "bf16",
                     "forward",
                     16384,
                     4096,
                     0,
                     {{"casting_mode", "gemma"}, {"offset", "1"}},
                     {{"casting_mode", "gemma"}, {"offset", "1"}}};
  EXPECT_EQ(unlike(asked), "");
  asked.options["offset"] = "0";
  asked.not_default.erase("offset");
  EXPECT_NE(unlike(asked).find("offset=1"), std::string::npos) << "gemma's weight has 1 added to it there";
  EXPECT_NE(unlike({"grpo_loss", "bf16", "forward", 16384, 151936, 8, {{"old_logp", "yes"}}, {}}).find("old_logp=no"),
            std::string::npos);
}

}  // namespace
}  // namespace hone::repository::liger
