#include "model/benchmark_csv.hpp"

#include <gtest/gtest.h>

#include "tests/support/sample_documents.hpp"

namespace hone::model {
namespace {

const std::string header =
    "kernel_name,kernel_provider,kernel_operation_mode,metric_name,metric_unit,x_name,x_label,x_value,y_value_50,y_"
    "value_20,"
    "y_value_80,extra_benchmark_config_str,gpu_name,timestamp,liger_version\n";

// Two lines as Liger's scripts write them, of two devices, the x values a number and a model's name.
const std::string lines =
    "rms_norm,huggingface,forward,speed,ms,T,Sequence "
    "length,1024,0.09001599997282028,0.07924479991197586,0.09847680032253266,"
    "\"{\"\"hidden_size\"\": 4096, \"\"dtype\"\": \"\"torch.bfloat16\"\"}\",NVIDIA H200,2026-11-30 02:33:03,0.8.2\n"
    "rms_norm,liger,full,memory,MB,model_config,model configuration,llama_3_8b,1024.5,1024.5,1024.5,{},NVIDIA A100,"
    "2026-11-30 02:33:03,0.8.2\n";

base::Error refusal(const std::string& text) {
  const auto result = read_benchmark_csv(text, "all.csv");
  EXPECT_FALSE(result.ok());
  return result.ok() ? base::Error{} : result.error();
}

TEST(BenchmarkCsv, ReadsLigersFileAndWritesTheSameText) {
  const auto rows = read_benchmark_csv(header + lines, "all.csv");
  ASSERT_TRUE(rows.ok()) << base::describe(rows.error());
  ASSERT_EQ(rows->rows.size(), 2u);
  EXPECT_EQ(rows->rows[0].y_value_50, 0.09001599997282028);
  EXPECT_EQ(rows->rows[0].extra_benchmark_config_str, R"({"hidden_size": 4096, "dtype": "torch.bfloat16"})");
  EXPECT_EQ(rows->rows[1].x_value, "llama_3_8b");
  EXPECT_TRUE(rows->left_out.empty());
  EXPECT_EQ(left_out_text(*rows), "");
  EXPECT_EQ(write_benchmark_csv(rows->rows), header + lines);
}

TEST(BenchmarkCsv, KeepsDevicesApartAndTheLastOfRepeatedRows) {
  const auto rows = read_benchmark_csv(header + lines + lines, "all.csv");
  ASSERT_TRUE(rows.ok());
  std::vector<BenchmarkRow> all = rows->rows;
  all[2].y_value_50 = 7;
  const auto h200 = rows_of_device(all, "rms_norm", "NVIDIA H200");
  ASSERT_EQ(h200.size(), 1u);
  EXPECT_EQ(h200[0].y_value_50, 7);
  EXPECT_TRUE(rows_of_device(all, "swiglu", "NVIDIA H200").empty());
}

TEST(BenchmarkCsv, FieldsWithSeparatorsQuotesAndLineEndsSurvive) {
  BenchmarkRow row;
  row.kernel_name = "a,b";
  row.gpu_name = "say \"hi\"\r\nthere";
  row.x_value = "0.5";
  row.y_value_50 = 1.0 / 3;
  const auto back = read_benchmark_csv(write_benchmark_csv({row}), "f");
  ASSERT_TRUE(back.ok()) << base::describe(back.error());
  EXPECT_EQ(back->rows, (std::vector<BenchmarkRow>{row}));
}

TEST(BenchmarkCsv, TakesWindowsLineEndsByteOrderMarkAndOtherColumnOrder) {
  std::string text = "\xEF\xBB\xBFnew_column," + header + "1," + lines.substr(0, lines.find('\n') + 1);
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.insert(at, "\r");
  const auto rows = read_benchmark_csv(text + "\r\n\r\n", "f");
  ASSERT_TRUE(rows.ok()) << base::describe(rows.error());
  ASSERT_EQ(rows->rows.size(), 1u);
  EXPECT_EQ(rows->rows[0].liger_version, "0.8.2");
}

TEST(BenchmarkCsv, RefusesAFileWithoutItsHeader) {
  EXPECT_EQ(refusal("").found, "no lines");
  EXPECT_EQ(refusal("a,b\n").expected, "the column kernel_name");
  EXPECT_EQ(refusal("\"a,b\n\n").found, "no lines");
}

// What somebody's editor or a crashed run left in one line takes no other measurement with it.
TEST(BenchmarkCsv, ABadLineCostsItselfAloneAndIsNamedWithItsColumn) {
  const auto read = [](const std::string& bad) {
    const auto result = read_benchmark_csv(header + lines + bad, "all.csv");
    EXPECT_TRUE(result.ok());
    return result.ok() ? *result : BenchmarkRows{};
  };
  const std::pair<std::string, std::string> faults[] = {
      {"rms_norm,liger\n", "all.csv:4: 2 fields instead of 15"},
      {"a,b,c,d,e,f,g,h,nan,1,1,,,,\n", "all.csv:4, y_value_50: 'nan' is no finite number"},
      {"a,b,c,d,e,f,g,h,1,1 ms,1,,,,\n", "all.csv:4, y_value_20: '1 ms' is no finite number"},
      {"a,b,c,d,e,f,g,h,1,1,,,,,\n", "all.csv:4, y_value_80: '' is no finite number"},
      {"\"a,b\n\n", "all.csv:4: a quote opens and never closes; nothing after it can be read"}};
  for (const auto& [line, told] : faults) {
    EXPECT_EQ(read(line).left_out, std::vector<std::string>{told});
    EXPECT_EQ(read(line).rows.size(), 2u) << line;
  }
  EXPECT_EQ(read("a,b\n" + lines).rows.size(), 4u) << "what follows is read too";
  EXPECT_EQ(left_out_text(read("a\nb\nc\nd\n")),
            "4 lines are left out: all.csv:4: 1 fields instead of 15; all.csv:5: 1 fields instead of 15; all.csv:6: 1 "
            "fields instead of 15; ...");
}

TEST(BenchmarkCsv, WritesBaselineAndResults) {
  const Profile profile = test::sample_profile();
  const auto baseline = baseline_rows(profile);
  ASSERT_EQ(baseline.size(), profile.baseline.rows.size());
  EXPECT_EQ(baseline[0].kernel_provider, "hone");
  EXPECT_EQ(baseline[0].extra_benchmark_config_str, R"({"dtype": "bf16", "casting_mode": "llama"})");
  EXPECT_TRUE(read_benchmark_csv(write_benchmark_csv(baseline), "v0_baseline.csv").ok());
  const VariantSummary v3 = test::sample_comparison().variants[2];
  const auto results = result_rows(profile, "v3", "2026-11-30T03:26:30Z", v3.results);
  ASSERT_EQ(results.size(), 2 * v3.results.size());
  EXPECT_EQ(results[1].kernel_provider, "v3");
  EXPECT_EQ(results[1].y_value_50, v3.results[0].candidate.p50);
}

}  // namespace
}  // namespace hone::model
