// hone counters over the recorded captures of an H200: classes, limiters, what is left to gain, for people and as JSON.
#include "cli/commands/counters_command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "model/json_value.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::cli {
namespace {

using model::Json;
using ::testing::HasSubstr;

const std::string kFixtures = std::string(HONE_SOURCE_DIR) + "/tests/counters/fixtures/";

struct Outcome {
  int exit_code = 0;
  std::string out, err;
};

Outcome run(const std::string& file, const std::string& ceilings = "", bool json = true) {
  std::ostringstream out, err;
  CountersOptions options;
  options.file = file;
  options.ceilings_file = ceilings;
  options.json = json;
  const int code = run_counters(options, out, err);
  return {code, out.str(), err.str()};
}

class CountersCommand : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& content) {
    std::ofstream(folder_ / name) << content;
    return folder_ / name;
  }
  // The ceiling measured on the H200 that the captures come from.
  std::string h200_ceilings() {
    return write("ceilings.json", R"({"copy_bytes_per_s": 4.27e12, "matrix_bf16_flops_per_s": 727e12})");
  }

  Json kernel(const std::string& fixture, const std::string& name, const std::string& ceilings) {
    const Outcome result = run(kFixtures + fixture, ceilings);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    auto document = model::parse_json(result.out, "stdout", "");
    EXPECT_TRUE(document.ok());
    if (!document) return {};
    EXPECT_EQ(*document->find("schema")->text(), "hone.counters/1");
    for (const Json& each : *document->find("kernels")->items())
      if (*each.find("name")->text() == name) return each;
    ADD_FAILURE() << "no kernel " << name;
    return {};
  }
  static std::string text(const Json& object, const char* name) { return *object.find(name)->text(); }

  test::TemporaryFolder folder_;
};

TEST_F(CountersCommand, TheNormBackwardIsLatencyBoundByItsGridAndRegistersAndWantsMoreProgramsPerSm) {
  for (const char* fixture :
       {"liger_ncu_details.csv", "liger_ncu_raw.csv", "liger_rms_norm_whole_process_ncu_details.csv"}) {
    for (const std::string& ceilings : {std::string(), h200_ceilings()}) {
      SCOPED_TRACE(std::string(fixture) + " " + ceilings);
      const Json backward = kernel(fixture, "_rms_norm_backward_kernel", ceilings);
      const Json& bottleneck = *backward.find("bottleneck");
      EXPECT_EQ(text(bottleneck, "class"), "latency-bound");
      EXPECT_EQ(text(bottleneck, "plain_rule_class"), "unclassified");
      EXPECT_THAT(text(bottleneck, "limiter"), HasSubstr("grid (132 programs, one an SM"));
      EXPECT_THAT(text(bottleneck, "limiter"),
                  HasSubstr("registers (113 a thread: 2 programs of 256 threads an SM, 25.0 % of its warps)"));
      EXPECT_GE(bottleneck.find("evidence")->items()->size(), 3u);
      const Json& first = backward.find("strategy_order")->items()->front();
      EXPECT_EQ(text(first, "title"), "More programs per SM");
      EXPECT_EQ(text(first, "strategy"), "grid-sizing");
      EXPECT_THAT(
          text(first, "reason"),
          HasSubstr(
              "one program an SM keeps 12.5 % of its warps in flight; beyond 2 an SM, registers must fall first"));
      EXPECT_EQ(text((*backward.find("strategy_order")->items())[1], "strategy"), "register-pressure");
    }
  }
}

TEST_F(CountersCommand, ElementWiseKernelsAreMemoryBoundAtTheCeilingWithLittleToGain) {
  const std::pair<const char*, double> kernels[] = {{"_relu_squared_forward_kernel", 92.1},
                                                    {"_relu_squared_backward_kernel", 98.4},
                                                    {"_swiglu_forward_kernel", 98.5},
                                                    {"_swiglu_backward_kernel", 97.4}};
  for (const char* page : {"liger_ncu_details.csv", "liger_ncu_raw.csv"}) {
    for (const auto& [name, share] : kernels) {
      SCOPED_TRACE(name);
      const Json each = kernel(page, name, h200_ceilings());
      EXPECT_EQ(text(*each.find("bottleneck"), "class"), "memory-bound");
      EXPECT_NEAR(*each.find("share_of_ceiling_pct")->number(), share, 0.3);
      EXPECT_THAT(text(each, "gain"), HasSubstr("little or nothing to gain"));
      EXPECT_THAT(text(each, "gain"), HasSubstr("of the measured copy ceiling of 4.27 TB/s"));
      EXPECT_THAT(text(*each.find("bottleneck"), "reasoning"), HasSubstr("little or nothing to gain"));
      if (share < 97) continue;
      ASSERT_EQ(each.find("strategy_order")->items()->size(), 1u) << "at the ceiling only fewer bytes help";
      EXPECT_EQ(text(each.find("strategy_order")->items()->front(), "strategy"), "less-traffic");
    }
  }
}

TEST_F(CountersCommand, WithoutCeilingsTheClassStandsAndTheGainIsNotGuessed) {
  const Json each = kernel("liger_ncu_raw.csv", "_swiglu_forward_kernel", "");
  EXPECT_EQ(text(*each.find("bottleneck"), "class"), "memory-bound");
  EXPECT_TRUE(each.find("share_of_ceiling_pct")->is_null());
  EXPECT_THAT(text(each, "gain"), HasSubstr("no measured ceiling was given"));
}

TEST_F(CountersCommand, TheAutotunedKernelIsOneAndComputeBound) {
  const Json dyt = kernel("liger_ncu_details.csv", "_dyt_fwd_kernel", h200_ceilings());
  EXPECT_EQ(*dyt.find("launches")->integer(), 4);
  EXPECT_EQ(text(*dyt.find("bottleneck"), "class"), "compute-bound");
}

TEST_F(CountersCommand, AtASmallerSizeTheForwardIsBoundByTheL2) {
  const Json forward = kernel("liger_rms_norm_whole_process_ncu_details.csv", "_rms_norm_forward_kernel", "");
  EXPECT_EQ(text(*forward.find("bottleneck"), "class"), "memory-bound");
  EXPECT_THAT(text(*forward.find("bottleneck"), "limiter"), HasSubstr("L2 bandwidth (81.7 % of its peak)"));
}

// Captured on an H200 with the command line that capture_command plans; synthetic_kernels.cu says why each is what it is.
TEST_F(CountersCommand, KernelsOfKnownClassAreClassifiedRight) {
  const std::pair<const char*, const char*> kernels[] = {{"pure_copy", "memory-bound"},
                                                         {"fma_chain", "compute-bound"},
                                                         {"pointer_chase", "latency-bound"},
                                                         {"one_block_copy", "latency-bound"},
                                                         {"register_starved", "latency-bound"}};
  for (const char* page : {"synthetic_ncu_raw.csv", "synthetic_ncu_details.csv"}) {
    for (const std::string& ceilings : {std::string(), h200_ceilings()}) {
      for (const auto& [name, cls] : kernels) {
        SCOPED_TRACE(std::string(page) + " " + name);
        EXPECT_EQ(text(*kernel(page, name, ceilings).find("bottleneck"), "class"), cls);
      }
      const auto limiter = [&](const char* name) {
        return text(*kernel(page, name, ceilings).find("bottleneck"), "limiter");
      };
      EXPECT_THAT(limiter("one_block_copy"), HasSubstr("grid (1 program on 132 SMs: 131 stay idle"));
      EXPECT_THAT(limiter("register_starved"), HasSubstr("registers ("));
      EXPECT_THAT(limiter("pointer_chase"), HasSubstr("grid (132 programs, one an SM"));
      EXPECT_THAT(limiter("pointer_chase"), HasSubstr("dependency stalls (long scoreboard"));
    }
  }
}

TEST_F(CountersCommand, PeopleGetATableWithTheirKernelsFirst) {
  const Outcome result = run(kFixtures + "liger_rms_norm_whole_process_ncu_details.csv", h200_ceilings(), false);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_LT(result.out.find("_rms_norm_forward_kernel"), result.out.find("vectorized_elementwise_kernel"));
  EXPECT_THAT(result.out, HasSubstr("More programs per SM"));
  EXPECT_THAT(result.out, HasSubstr("(PyTorch)"));
  EXPECT_THAT(result.out, ::testing::Not(HasSubstr("\x1b["))) << "no colour unless asked for";
}

TEST_F(CountersCommand, CeilingsAreTakenFromAnyOfTheirDocuments) {
  for (const char* document :
       {R"({"copy_bytes_per_s": 4.27e12})",
        R"({"ceilings": {"copy_bytes_per_s": 4.27e12, "read_bytes_per_s": null, "source": "measured"}})",
        R"({"schema": "hone.profile/1", "device": {"name": "x", "ceilings": {"copy_bytes_per_s": 4.27e12}}})"}) {
    const auto ceilings = read_ceilings(document, "c.json");
    ASSERT_TRUE(ceilings.ok()) << document;
    EXPECT_DOUBLE_EQ(ceilings->ceilings.p50("copy_bytes_per_s"), 4.27e12);
  }
}

// A CPU's copy bandwidth is a fiftieth of a GPU's: every share of it would be nonsense.
TEST_F(CountersCommand, CeilingsOfACpuAreRefusedAndThoseOfAnotherGpuAreSaid) {
  const std::string capture = kFixtures + "liger_rms_norm_whole_process_ncu_details.csv";
  const auto of = [&](const std::string& device) {
    return run(capture,
               write("p.json", R"({"device": {)" + device + R"(, "ceilings": {"copy_bytes_per_s": 4.27e12}}})"));
  };
  const Outcome cpu = of(R"("name": "AMD EPYC", "kind": "cpu")");
  EXPECT_EQ(cpu.exit_code, 2);
  EXPECT_THAT(cpu.err, HasSubstr("those of AMD EPYC (cpu)"));
  const Outcome other = of(R"("name": "NVIDIA A100", "kind": "cuda", "compute_capability": "8.0")");
  EXPECT_EQ(other.exit_code, 0);
  EXPECT_THAT(other.out, HasSubstr("the ceilings are those of NVIDIA A100, the capture is of "));
  const Outcome same = of(R"("name": "NVIDIA H200", "kind": "cuda", "compute_capability": "9.0")");
  EXPECT_THAT(same.out, ::testing::Not(HasSubstr("the ceilings are those of")));
}

TEST_F(CountersCommand, CeilingsThatAreNoneAreRefusedWithTheirName) {
  for (const char* document : {"{}", "[]", "{\"copy_bytes_per_s\": -1}", "{\"copy_bytes_per_s\": \"fast\"}",
                               "{\"copy_bytes_per_s\": 0}", "not json", ""}) {
    const auto ceilings = read_ceilings(document, "c.json");
    ASSERT_FALSE(ceilings.ok()) << document;
    EXPECT_EQ(ceilings.error().kind, base::ErrorKind::usage) << document;
  }
}

TEST_F(CountersCommand, FilesThatAreNoCaptureAreErrorsOfUse) {
  EXPECT_EQ(run(write("empty.csv", "")).exit_code, 2);
  const Outcome console = run(kFixtures + "ncu_console.txt");
  EXPECT_EQ(console.exit_code, 2);
  EXPECT_THAT(console.out, HasSubstr("\"schema\": \"hone.error/1\"")) << "asked for a document, an error is one";
  EXPECT_THAT(console.err, HasSubstr("--page details"));
  EXPECT_NE(run(folder_ / "missing.csv").exit_code, 0);
}

TEST_F(CountersCommand, ADeviceWithoutAnEndIsRefusedAsACaptureAndAsCeilings) {
  const Outcome capture = run("/dev/zero");
  EXPECT_EQ(capture.exit_code, 2);
  EXPECT_THAT(capture.err, HasSubstr("at most 256 MiB"));
  const Outcome ceilings = run(kFixtures + "synthetic_ncu_raw.csv", "/dev/zero");
  EXPECT_EQ(ceilings.exit_code, 2);
  EXPECT_THAT(ceilings.err, HasSubstr("/dev/zero"));
}

TEST_F(CountersCommand, PicturesOfEachKernelAreWrittenWhereAskedFor) {
  const std::string folder = folder_ / "new" + std::string("/pictures");
  for (const bool json : {true, false}) {
    std::ostringstream out, err;
    CountersOptions options;
    options.file = kFixtures + "liger_ncu_details.csv";
    options.svg_folder = folder;
    options.json = json;
    ASSERT_EQ(run_counters(options, out, err), 0) << err.str();
    EXPECT_THAT(out.str(), HasSubstr(folder + "/stalls_2.svg"));
    EXPECT_EQ(model::parse_json(out.str(), "stdout", "").ok(), json);
  }
  const auto content = [&](const std::string& name) {
    std::ifstream file(folder + "/" + name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string roofline = content("roofline.svg"), stalls = content("stalls_2.svg");
  EXPECT_EQ(roofline.rfind("<svg", 0), 0u);
  EXPECT_THAT(roofline, HasSubstr("2  compute 20.4 %, memory 46.7 %: _rms_norm_backward_kernel"));
  EXPECT_THAT(roofline, HasSubstr("7  compute 87.8 %, memory 62.7 %: _dyt_fwd_kernel"));
  EXPECT_THAT(stalls, HasSubstr("_rms_norm_backward_kernel"));
  EXPECT_THAT(stalls, HasSubstr("long scoreboard 54.0 %"));

  std::ostringstream out, err;
  CountersOptions options;
  options.file = kFixtures + "liger_ncu_details.csv";
  options.svg_folder = write("a_file", "x") + "/below";
  EXPECT_NE(run_counters(options, out, err), 0);
  EXPECT_THAT(err.str(), HasSubstr("a_file"));
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace hone::cli
