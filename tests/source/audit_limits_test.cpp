// Inputs at the edge: large, deep, looping, hostile. None may crash, hang or lose what can be read.
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/files.hpp"
#include "source/audit.hpp"
#include "source/checkout.hpp"
#include "source/source_text.hpp"

namespace {

namespace fs = std::filesystem;

const std::string kHead = "import triton\nimport triton.language as tl\n\n";
const std::string kSmallKernel =
    "@triton.jit\ndef k(x, n, B: tl.constexpr):\n    tl.store(x + tl.arange(0, B), tl.load(x))\n\n";

hone::model::AuditedOp audit(const std::string& text) {
  hone::base::MemoryFiles files;
  return hone::source::audit_text(files, "/w/k.py", text);
}

TEST(Limits, a_file_of_a_megabyte_gives_the_facts_of_its_last_line) {
  std::string text = kHead + kSmallKernel;
  while (text.size() < (1u << 20))
    text += "def helper(a, b):\n    return [a[i] + b for i in range(10) if a]  # remark\n\n";
  text += "def run(x, n):\n    k[(n,)](x, n, B=triton.next_power_of_2(n))\n";
  const auto op = audit(text);
  ASSERT_EQ(op.launches.size(), 1u);
  EXPECT_EQ(op.launches[0].block_sources.at(0).source, "next_power_of_2");
  EXPECT_TRUE(op.problems.empty());
}

TEST(Limits, nesting_deeper_than_any_parser_takes_is_a_problem_not_a_crash) {
  const std::string deep =
      kHead + kSmallKernel + "y = " + std::string(50'000, '(') + "1" + std::string(50'000, ')') + "\n";
  const auto op = audit(deep);
  ASSERT_FALSE(op.problems.empty());
  EXPECT_NE(op.problems[0].what.find("deeper nesting"), std::string::npos) << op.problems[0].what;
}

TEST(Limits, long_chains_of_operators_and_values_end) {
  std::string text = kHead + kSmallKernel + "def run(x, n):\n    b = 1\n";
  for (int i = 0; i < 400; ++i) text += "    b = b * 2 if n else b + b\n";
  text += "    k[(n,)](x, n, B=b + b)\n";
  EXPECT_EQ(audit(text).launches.size(), 1u);
}

TEST(Limits, a_configuration_list_that_grows_without_end_is_given_up) {
  const std::string text = kHead +
                           "def grow():\n    out = [triton.Config({})]\n    for i in range(100000):\n        out = out "
                           "+ out\n        out.append(out)\n"
                           "    return out\n\n@triton.autotune(configs=grow(), key=[])\n" +
                           kSmallKernel;
  const auto op = audit(text);
  ASSERT_EQ(op.jit_kernels.size(), 1u);
  ASSERT_TRUE(op.jit_kernels[0].autotune.has_value());
  EXPECT_FALSE(op.jit_kernels[0].autotune->n_configs.has_value());
}

TEST(Limits, functions_that_call_each_other_in_circles_end) {
  const std::string text = kHead + kSmallKernel +
                           "def a(n):\n    return b(n)\n\ndef b(n):\n    return a(n)\n\ndef run(x, n, w=None):\n    w "
                           "= w\n    run(x, n, w)\n"
                           "    k[(n,)](x, n, B=a(n), num_warps=w)\n";
  const auto op = audit(text);
  ASSERT_EQ(op.launches.size(), 1u);
  EXPECT_EQ(op.launches[0].block_sources.at(0).source, "heuristic-helper");
}

TEST(Limits, macros_and_conditions_that_grow_without_end_are_given_up) {
  std::string text = "#if " + std::string(100'000, '(') + "1\n#endif\n#define M0 __global__\n#define N0 1\n";
  for (int i = 1; i < 300; ++i) {
    const std::string n = std::to_string(i), before = std::to_string(i - 1);
    text += "#define M" + n + " M" + before + " M" + before + "\n#define N" + n + " (N" + before + " && N" + before +
            ")\n#if N" + n + "\n#endif\n";
  }
  for (int i = 0; i < 200; ++i) text += "M12 M299 M299(\n";
  text += "M0 void k(float* x) { x[0] = 1; }\n";
  hone::base::MemoryFiles files;
  const auto op = hone::source::audit_text(files, "/w/k.cu", text);
  EXPECT_EQ(op.files.at(0).lines, hone::source::count_lines(text));
}

TEST(Limits, a_folder_with_a_link_back_to_itself_is_read_once) {
  const fs::path root = fs::temp_directory_path() / ("hone_audit_loop_" + std::to_string(getpid()));
  fs::create_directories(root / "a/b");
  fs::create_directory_symlink(root, root / "a/b/again");
  std::ofstream(root / "a/k.py") << kHead << kSmallKernel;
  hone::base::SystemFiles files;
  const auto found = hone::source::audit_paths(files, {root.string()});
  fs::remove_all(root);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->kernels.size(), 1u);
}

TEST(Limits, text_that_is_shown_is_utf8_whatever_the_bytes) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string bytes = {'a', static_cast<char>(byte), static_cast<char>(0xC3), 'z'};
    EXPECT_TRUE(hone::source::is_utf8(hone::source::to_utf8(bytes))) << byte;
    EXPECT_EQ(hone::source::parseable(bytes).size(), bytes.size());
  }
}

TEST(Preflight, names_scripts_tests_and_recorded_rows_also_of_a_script_that_measures_under_another_name) {
  hone::base::MemoryFiles files;
  const auto write = [&](const std::string& path, const std::string& text) {
    ASSERT_TRUE(files.write_atomically("/c/" + path, text).ok());
  };
  write("src/liger_kernel/ops/soft.py", kHead + kSmallKernel);
  write("benchmark/scripts/benchmark_soft.py", "run(kernel_name=\"soft\")\n");
  write("benchmark/scripts/benchmark_loss.py",
        "def go(kind):\n    name = f\"fused_loss_{kind}\"\n    run(kernel_name=name)\n");
  write("benchmark/scripts/benchmark_bare.py", "run(dict(kernel_name=\"bare\"))\n");
  write("test/transformers/test_soft.py", "\n");
  write("benchmark/data/all_benchmark_data.csv",
        "kernel_name,extra\nsoft,\"{\"\"a\"\": 1,\n "
        "2}\"\nsoft,x\nfused_loss_a,x\nfused_loss_b,x\nfused_loss_b,y\nother,z\n");
  hone::source::PreflightReader reader(files, "/c");
  const auto soft = reader.read("soft", {"soft.py"});
  EXPECT_TRUE(soft.benchmark_exists);
  EXPECT_TRUE(soft.test_exists);
  EXPECT_EQ(soft.csv_rows, (std::map<std::string, int>{{"soft", 2}}));
  const auto loss = reader.read("loss", {"loss.py"});
  EXPECT_FALSE(loss.test_exists);
  EXPECT_EQ(loss.csv_rows, (std::map<std::string, int>{{"fused_loss_a", 1}, {"fused_loss_b", 2}}));
  EXPECT_EQ(reader.read("bare", {"bare.py"}).csv_rows, (std::map<std::string, int>{{"bare", 0}}));
  EXPECT_EQ(reader.read("none", {"none.py"}).csv_rows, (std::map<std::string, int>{{"none", 0}}));
}

TEST(Limits, a_pipe_among_the_files_is_named_and_not_waited_for) {
  char folder[] = "/tmp/hone_pipe_XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string root = folder;
  ASSERT_EQ(::mkfifo((root + "/helpers.py").c_str(), 0600), 0);
  std::ofstream(root + "/k.py") << "from helpers import settings\n"
                                << kHead << kSmallKernel << "def run(x, n):\n    k[(n,)](x, n, B=settings(n))\n";
  hone::base::SystemFiles files;
  const auto folder_audit = hone::source::audit_paths(files, {root});
  const auto file_audit = hone::source::audit_paths(files, {root + "/k.py"});
  const auto pipe_audit = hone::source::audit_paths(files, {root + "/helpers.py"});
  fs::remove_all(root);
  for (const auto* audit : {&folder_audit, &file_audit}) {
    ASSERT_TRUE(audit->ok());
    EXPECT_EQ((*audit)->kernels.size(), 1u);
    ASSERT_EQ((*audit)->problems.size(), 1u);
    EXPECT_NE((*audit)->problems[0].what.find("a pipe"), std::string::npos) << (*audit)->problems[0].what;
  }
  ASSERT_TRUE(pipe_audit.ok());
  EXPECT_TRUE(pipe_audit->kernels.empty());
  EXPECT_EQ(pipe_audit->problems.size(), 1u);
}

TEST(Limits, many_operations_in_one_file_cost_in_proportion) {
  // Every launch looks for the callers of its function: 4000 of them took time in the square of their number.
  std::string text = kHead;
  for (int i = 0; i < 4000; ++i) {
    const std::string n = std::to_string(i);
    text += "@triton.jit\ndef k" + n + "(x, BLOCK: tl.constexpr):\n    tl.store(x, BLOCK)\n\ndef f" + n +
            "(x, b=4):\n    k" + n + "[(1,)](x, BLOCK=b)\n\n";
  }
  const auto op = audit(text);
  ASSERT_EQ(op.launches.size(), 4000u);
  EXPECT_EQ(op.launches.back().block_sources.at(0).source, "caller-parameter");
}

}  // namespace
