// The reproduction script: what it says, and that it runs by itself on the pinned package.
#include "repository/python/reproduction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "repository/liger/operators.hpp"
#include "repository/python/scripts.hpp"
#include "tests/repository/liger/checkout_copy.hpp"

namespace hone::repository::python {
namespace {

using liger::CheckoutCopy;
using liger::python_with_triton;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

WorkerSetup setup_for(const std::string& op, const std::string& source) {
  WorkerSetup setup;
  setup.device = "cuda:0";
  setup.source = source;
  setup.description = liger::find_operator(op);
  setup.module = "liger_kernel.ops." + op;
  return setup;
}

TEST(ReproductionScript, HoldsItsCaseAndTheCommandAndNothingOfHone) {
  const WorkerSetup setup = setup_for("rms_norm", "/my \"tree\"/src");
  const CaseSpec spec =
      setup.description->case_of({{"rows", 16384}, {"columns", 4096}}, "bf16", {{"casting_mode", "gemma"}}, 7).value();
  const std::string text = reproduction_script(setup, spec, {"forward", "backward"},
                                               "ncu --profile-from-start off python3 repro.py > FILE.csv");
  EXPECT_THAT(text,
              HasSubstr("#   ncu --profile-from-start off python3 repro.py > FILE.csv\n#   hone counters FILE.csv"));
  EXPECT_THAT(text, HasSubstr("SOURCE = \"/my \\\"tree\\\"/src\""));
  EXPECT_THAT(text, HasSubstr("OP, MODULE = \"rms_norm\", \"liger_kernel.ops.rms_norm\""));
  EXPECT_THAT(text, HasSubstr("SHAPE = {\"columns\": 4096, \"rows\": 16384}"));
  EXPECT_THAT(text, HasSubstr("DTYPE, SEED = \"bf16\", 7"));
  EXPECT_THAT(text, HasSubstr("OPTIONS = {\"casting_mode\": \"gemma\"}"));
  EXPECT_THAT(text, HasSubstr("PASSES = [\"forward\", \"backward\"]"));
  EXPECT_THAT(text, HasSubstr("    {\"name\": \"w\", \"type\": \"dtype\", \"shape\": [4096], "));
  EXPECT_THAT(text, HasSubstr("def rms_norm(x, w, casting_mode):"));
  EXPECT_THAT(text, Not(HasSubstr("import hone_")));
  EXPECT_THAT(text, Not(HasSubstr("from hone_")));
  // The profiler is on for the pass alone: what is compiled, tuned and prepared comes before.
  const std::size_t warm = text.find("for mode in PASSES:  # compiles"),
                    start = text.find("torch.cuda.profiler.start()"), prepared = text.find("call = case.prepare("),
                    stop = text.find("torch.cuda.profiler.stop()");
  ASSERT_NE(stop, std::string::npos);
  EXPECT_LT(warm, prepared);
  EXPECT_LT(prepared, start);
  EXPECT_LT(start, stop);
}

TEST(ReproductionScript, ItsCaptureLeavesTheStartToIt) {
  const counters::CaptureRequest request = reproduction_capture("python3", "/w/repro_rms_norm.py", {"_kernel"});
  EXPECT_THAT(request.command, ElementsAre("python3", "-B", "/w/repro_rms_norm.py"));
  EXPECT_FALSE(request.from_start);
  EXPECT_EQ(request.warmup_launches, 0);
  EXPECT_THAT(counters::capture_command({"/ncu", 2025, 3}, request).arguments, Contains("--profile-from-start"));
}

TEST(ReproductionScript, RunsByItself) {
  if (python_with_triton().empty())
    GTEST_SKIP() << "no python with torch and triton: tools/fetch_python.sh installs it";
  CheckoutCopy copy;
  ASSERT_TRUE(copy.complete()) << "the liger-kernel sources are fetched by ./dev";
  base::SystemFiles files;
  base::SystemProcesses processes;
  const std::string folder = base::join(copy.scratch(), "reproduction");
  ASSERT_TRUE(unpack(files, scripts(), folder).ok());
  for (const char* op : {"rms_norm", "swiglu"}) {
    const std::string script = base::join(folder, std::string("repro_") + op + ".py");
    const WorkerSetup setup = setup_for(op, base::join(copy.path(), "src"));
    const CaseSpec spec =
        setup.description->case_of({{"rows", 6}, {"columns", 64}}, "fp32", setup.description->default_options(), 1)
            .value();
    const std::string text = reproduction_script(setup, spec, {"forward", "backward"}, "ncu ... > FILE.csv");
    ASSERT_TRUE(files.write_atomically(script, text).ok());
    base::Command command;
    command.arguments = {
        python_with_triton(),
        "-B",
        "-c",
        "import sys, runpy; sys.path.insert(0, sys.argv[1]); import hone_interpreter; "
        "hone_interpreter.install(); sys.path.pop(0); runpy.run_path(sys.argv[2], run_name='__main__')",
        folder,
        script};
    command.environment = {{"TRITON_INTERPRET", "1"}, {"CUDA_VISIBLE_DEVICES", ""}};
    command.deadline_ms = 120'000;
    const auto outcome = processes.run(command);
    ASSERT_TRUE(outcome) << base::describe(outcome.error());
    EXPECT_EQ(outcome->exit_status, 0) << outcome->error;
    EXPECT_THAT(outcome->output, HasSubstr("ran forward, backward at {'columns': 64, 'rows': 6}, fp32; no GPU"));
  }
}

}  // namespace
}  // namespace hone::repository::python
