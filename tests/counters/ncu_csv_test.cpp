// Captures of Nsight Compute as they are: both pages of a real one, and what languages, versions and cuts do to them.
#include "counters/ncu_csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/error.hpp"

namespace hone::counters {
namespace {

using model::CounterSummary;
using ::testing::Contains;
using ::testing::HasSubstr;

std::string fixture(const std::string& name) {
  std::ifstream file(std::string(HONE_SOURCE_DIR) + "/tests/counters/fixtures/" + name, std::ios::binary);
  EXPECT_TRUE(file.good()) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Capture read(const std::string& text) {
  auto capture = read_ncu_csv(text, "test.csv");
  EXPECT_TRUE(capture.ok()) << base::describe(capture.error());
  return capture.ok() ? *capture : Capture{};
}

const CounterSummary& kernel_of(const Capture& capture, const std::string& name) {
  static const CounterSummary none;
  for (const CounterSummary& kernel : capture.kernels)
    if (kernel.name == name) return kernel;
  ADD_FAILURE() << "no kernel " << name;
  return none;
}

const char* kHeader =
    R"("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Section Name","Metric Name","Metric Unit","Metric Value")"
    "\n";

std::string row(const std::string& metric, const std::string& unit, const std::string& value,
                const std::string& id = "0", const std::string& kernel = "mine", const std::string& process = "7") {
  return "\"" + id + "\",\"" + process + "\",\"app\",\"host\",\"" + kernel + "\",\"1\",\"7\",\"Section\",\"" + metric +
         "\",\"" + unit + "\",\"" + value + "\"\n";
}

TEST(NcuCsv, BothPagesOfOneCaptureGiveTheSameSummary) {
  const Capture details = read(fixture("liger_ncu_details.csv")), raw = read(fixture("liger_ncu_raw.csv"));
  EXPECT_EQ(details.page, "details");
  EXPECT_EQ(raw.page, "raw");
  EXPECT_EQ(raw.device_name, "NVIDIA H200");
  EXPECT_EQ(details.compute_capability, "9.0");
  ASSERT_EQ(details.kernels.size(), 7u);
  ASSERT_EQ(raw.kernels.size(), 7u);
  const auto same = [](const std::optional<double>& a, const std::optional<double>& b, double tolerance,
                       const char* what) {
    ASSERT_TRUE(a.has_value() && b.has_value()) << what;
    EXPECT_NEAR(*a, *b, tolerance * std::max(1.0, std::abs(*b))) << what;
  };
  for (std::size_t i = 0; i < 7; ++i) {
    const CounterSummary &a = details.kernels[i], &b = raw.kernels[i];
    SCOPED_TRACE(a.name);
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.grid, b.grid);
    EXPECT_EQ(a.block, b.block);
    EXPECT_EQ(a.launches, b.launches);
    EXPECT_EQ(a.note, b.note);
    EXPECT_EQ(a.occupancy_limiter, b.occupancy_limiter);
    // The details page prints two decimals, so that is how far the two can agree.
    same(a.occupancy_pct, b.occupancy_pct, 0.006, "occupancy");
    same(a.theoretical_occupancy_pct, b.theoretical_occupancy_pct, 0.006, "theoretical");
    same(a.compute_throughput_pct, b.compute_throughput_pct, 0.006, "compute");
    same(a.memory_throughput_pct, b.memory_throughput_pct, 0.006, "memory");
    same(a.dram_throughput_pct, b.dram_throughput_pct, 0.006, "dram");
    same(a.l1_throughput_pct, b.l1_throughput_pct, 0.006, "l1");
    same(a.l2_throughput_pct, b.l2_throughput_pct, 0.006, "l2");
    same(a.l1_hit_rate_pct, b.l1_hit_rate_pct, 0.006, "l1 hits");
    same(a.l2_hit_rate_pct, b.l2_hit_rate_pct, 0.006, "l2 hits");
    same(a.registers_per_thread, b.registers_per_thread, 0, "registers");
    same(a.spills, b.spills, 0, "spills");
    same(a.duration_us, b.duration_us, 0.001, "duration");
    same(a.dram_bytes, b.dram_bytes, 0.005, "bytes");
    same(a.sm_clock_ghz, b.sm_clock_ghz, 0.006, "clock");
    same(a.waves_per_sm, b.waves_per_sm, 0.006, "waves");
    same(a.grid_size, b.grid_size, 0, "grid");
    same(a.block_size, b.block_size, 0, "block");
    same(a.sm_count, b.sm_count, 0, "SMs");
    same(a.blocks_per_sm_limit, b.blocks_per_sm_limit, 0, "blocks an SM");
    same(a.shared_bytes_per_block, b.shared_bytes_per_block, 0.006, "shared memory");
    ASSERT_EQ(b.stalls.size(), 3u);
    if (!a.stalls.empty()) {  // the details page names a stall only where its rule fired
      EXPECT_EQ(a.stalls.front().reason, b.stalls.front().reason);
      EXPECT_NEAR(a.stalls.front().pct, b.stalls.front().pct, 0.1);
    }
  }
}

TEST(NcuCsv, FourLaunchesOfAnAutotunedKernelAreOneKernel) {
  for (const char* page : {"liger_ncu_details.csv", "liger_ncu_raw.csv"}) {
    const Capture capture = read(fixture(page));
    EXPECT_EQ(capture.launches, 10);
    const CounterSummary& dyt = kernel_of(capture, "_dyt_fwd_kernel");
    EXPECT_EQ(dyt.launches, 4);
    EXPECT_NEAR(*dyt.duration_us, 82.18, 0.02) << "the median of 82.21, 82.14, 82.21 and 81.98";
    EXPECT_THAT(dyt.note, HasSubstr("4 launches"));
  }
}

TEST(NcuCsv, TheNormBackwardIsReadWithItsGridRegistersAndLimits) {
  const CounterSummary backward = kernel_of(read(fixture("liger_ncu_raw.csv")), "_rms_norm_backward_kernel");
  EXPECT_EQ(backward.grid, "(132, 1, 1)");
  EXPECT_EQ(*backward.registers_per_thread, 113);
  EXPECT_EQ(backward.occupancy_limiter, "registers");
  EXPECT_EQ(*backward.blocks_per_sm_limit, 2);
  EXPECT_EQ(*backward.sm_count, 132);
  EXPECT_EQ(*backward.spills, 0);
  ASSERT_EQ(backward.stalls.size(), 3u);
  EXPECT_EQ(backward.stalls[0].reason, "long scoreboard");
  EXPECT_NEAR(backward.stalls[0].pct, 54.0, 0.05);
  EXPECT_EQ(backward.stalls[1].reason, "barrier");
  EXPECT_EQ(backward.stalls[2].reason, "short scoreboard") << "an issuing warp ('selected') is not stalled";
}

TEST(NcuCsv, AWholeProcessYieldsTheUsersKernelsApartFromPyTorchs) {
  const Capture capture = read(fixture("liger_rms_norm_whole_process_ncu_details.csv"));
  EXPECT_EQ(capture.launches, 10);
  ASSERT_EQ(capture.kernels.size(), 8u);
  EXPECT_EQ(capture.kernels[0].name, "_rms_norm_forward_kernel");
  EXPECT_EQ(capture.kernels[1].name, "_rms_norm_backward_kernel");
  EXPECT_EQ(capture.kernels[0].owner, "");
  EXPECT_EQ(capture.kernels[1].owner, "");
  for (std::size_t i = 2; i < 8; ++i) EXPECT_EQ(capture.kernels[i].owner, "PyTorch") << capture.kernels[i].name;
  EXPECT_THAT(capture.kernels,
              Contains(::testing::Field(&CounterSummary::note, "3 launches of 3 sizes, the longest shown")));
}

TEST(NcuCsv, ConsoleOutputBeforeAndBetweenTheRowsIsPassedOver) {
  std::string text = fixture("ncu_console.txt") + fixture("liger_ncu_details.csv");
  const std::size_t middle = text.find('\n', text.size() / 2) + 1;
  text.insert(middle, "==PROF== Disconnected from process 452\nstep 1: \"loss\" 0.5\n\"half a quote\n");
  const Capture capture = read(text);
  EXPECT_EQ(capture.kernels.size(), 7u);
  EXPECT_THAT(capture.notes, Contains(HasSubstr("==WARNING==")));
}

TEST(NcuCsv, ACaptureOfTheConsoleAloneSaysHowToExport) {
  const auto capture = read_ncu_csv(fixture("ncu_console.txt"), "ncu_console.txt");
  ASSERT_FALSE(capture.ok());
  EXPECT_EQ(capture.error().kind, base::ErrorKind::usage);
  EXPECT_THAT(capture.error().remedy, HasSubstr("--page details"));
  EXPECT_EQ(capture.error().where, "ncu_console.txt");
}

TEST(NcuCsv, MissingPermissionIsNamedWithItsRemedy) {
  const auto capture = read_ncu_csv(
      "==PROF== Connected to process 1\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n", "x.csv");
  ASSERT_FALSE(capture.ok());
  EXPECT_THAT(capture.error().found, HasSubstr("ERR_NVGPUCTRPERM"));
  EXPECT_THAT(capture.error().remedy, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
}

TEST(NcuCsv, ABinaryReportIsToldApart) {
  const auto capture = read_ncu_csv(std::string("NVR\0\x01\x02", 6), "x.ncu-rep");
  ASSERT_FALSE(capture.ok());
  EXPECT_THAT(capture.error().found, HasSubstr("binary report"));
}

TEST(NcuCsv, EveryCutOfACaptureIsReadOrRefusedAndNeverMisread) {
  for (const char* page : {"liger_ncu_details.csv", "liger_ncu_raw.csv"}) {
    const std::string whole = fixture(page);
    const Capture full = read(whole);
    for (std::size_t cut = 0; cut < whole.size(); cut += 1777) {
      const auto capture = read_ncu_csv(whole.substr(0, cut), "cut.csv");
      if (!capture) continue;
      for (const CounterSummary& kernel : capture->kernels) {
        if (kernel.launches != kernel_of(full, kernel.name).launches) continue;
        if (!kernel.registers_per_thread) continue;
        EXPECT_EQ(kernel.registers_per_thread, kernel_of(full, kernel.name).registers_per_thread);
      }
    }
  }
}

TEST(NcuCsv, ACutInsideARecordIsNoted) {
  const std::string whole = fixture("liger_ncu_details.csv");
  const std::size_t cut = whole.find("\"Registers Per Thread\"") + 10;
  const Capture capture = read(whole.substr(0, cut));
  EXPECT_THAT(capture.notes, Contains(HasSubstr("ends inside a record")));
  EXPECT_FALSE(kernel_of(capture, "_rms_norm_forward_kernel").registers_per_thread.has_value()) << "absent, never zero";
}

TEST(NcuCsv, DecimalCommasOfOtherLanguagesAreRead) {
  const std::string text = std::string(kHeader) + row("Duration", "us", "1.234,50") +
                           row("Memory Throughput", "%", "80,16") + row("Memory Throughput", "Tbyte/s", "3,86") +
                           row("Grid Size", "", "16.384") + row("SM Frequency", "Ghz", "1,96");
  const CounterSummary kernel = read(text).kernels.at(0);
  EXPECT_DOUBLE_EQ(*kernel.duration_us, 1234.5);
  EXPECT_DOUBLE_EQ(*kernel.memory_throughput_pct, 80.16);
  EXPECT_DOUBLE_EQ(*kernel.grid_size, 16384);
  EXPECT_NEAR(*kernel.dram_bytes, 3.86e12 * 1234.5e-6, 1e3);
}

TEST(NcuCsv, SpacesAndApostrophesThatGroupDigitsAreRead) {
  EXPECT_DOUBLE_EQ(*read(std::string(kHeader) +
                         row("Grid Size", "",
                             "16\xE2\x80\xAF"
                             "384") +
                         row("Duration", "us", "63,39"))
                        .kernels.at(0)
                        .grid_size,
                   16384);
  EXPECT_DOUBLE_EQ(*read(std::string(kHeader) + row("Grid Size", "", "16'384") + row("Duration", "us", "63.39"))
                        .kernels.at(0)
                        .grid_size,
                   16384);
}

TEST(NcuCsv, UnitsMayChangeFromRowToRow) {
  std::string text = kHeader;
  const std::pair<const char*, const char*> times[] = {{"ms", "0.06339"},      {"us", "63.39"},
                                                       {"ns", "63,390"},       {"usecond", "63.39"},
                                                       {"nsecond", "63390.0"}, {"second", "0.00006339"}};
  for (std::size_t i = 0; i < std::size(times); ++i) {
    const std::string id = std::to_string(i);
    text += row("Duration", times[i].first, times[i].second, id, "kernel_" + id);
    text += row("Dynamic Shared Memory Per Block", i % 2 ? "Kbyte/block" : "byte/block", i % 2 ? "8.19" : "8,190", id,
                "kernel_" + id);
  }
  const Capture capture = read(text);
  ASSERT_EQ(capture.kernels.size(), std::size(times));
  for (const CounterSummary& kernel : capture.kernels) {
    EXPECT_NEAR(*kernel.duration_us, 63.39, 1e-6) << kernel.name;
    EXPECT_NEAR(*kernel.shared_bytes_per_block, 8190, 1e-6) << kernel.name;
  }
}

TEST(NcuCsv, NamesAndUnitsOf2022AreRead) {
  const std::string text = std::string(kHeader) + row("SM Frequency", "cycle/nsecond", "1.41") +
                           row("Duration", "usecond", "12.50") + row("Memory Throughput", "Gbyte/second", "1,234.00") +
                           row("Compute (SM) Throughput", "%", "12.34") + row("Memory Throughput", "%", "81.00");
  const CounterSummary kernel = read(text).kernels.at(0);
  EXPECT_DOUBLE_EQ(*kernel.sm_clock_ghz, 1.41);
  EXPECT_NEAR(*kernel.dram_bytes, 1234e9 * 12.5e-6, 1);
  EXPECT_DOUBLE_EQ(*kernel.memory_throughput_pct, 81);
  EXPECT_FALSE(kernel.spills.has_value()) << "2022 counts no spilling requests: absent, never zero";
}

TEST(NcuCsv, NamesOf2019And2020AreRead) {
  const CounterSummary old =
      kernel_of(read(kHeader + row("Duration", "nsecond", "20000") + row("SM [%]", "%", "21.50") +
                     row("Memory [%]", "%", "71.20") + row("SOL FB", "%", "70.10") + row("SOL TEX", "%", "12.00") +
                     row("SOL L2", "%", "15.00")),
                "mine");
  EXPECT_EQ(old.compute_throughput_pct, 21.5);
  EXPECT_EQ(old.memory_throughput_pct, 71.2);
  EXPECT_EQ(old.dram_throughput_pct, 70.1);
  EXPECT_EQ(old.l1_throughput_pct, 12);
  EXPECT_EQ(old.l2_throughput_pct, 15);
  const CounterSummary next = kernel_of(read(kHeader + row("SOL DRAM", "%", "85.34") +
                                             row("SOL L1/TEX Cache", "%", "16.39") + row("SOL L2 Cache", "%", "31.08")),
                                        "mine");
  EXPECT_EQ(next.dram_throughput_pct, 85.34);
  EXPECT_EQ(next.l1_throughput_pct, 16.39);
  EXPECT_EQ(next.l2_throughput_pct, 31.08);
}

TEST(NcuCsv, DramBytesAreReadUnderTheNamesOfEveryArchitecture) {
  for (const auto& [read_name, write_name] : {std::pair{"dram__bytes_read.sum", "dram__bytes_write.sum"},
                                              {"dram__bytes_op_read.sum", "dram__bytes_op_write.sum"},
                                              {"fbpa__dram_read_bytes.sum", "fbpa__dram_write_bytes.sum"}})
    EXPECT_EQ(
        kernel_of(read(kHeader + row(read_name, "byte", "30,000,000") + row(write_name, "byte", "20,000,000")), "mine")
            .dram_bytes,
        50e6)
        << read_name;
  EXPECT_EQ(kernel_of(read(kHeader + row("dram__bytes.sum", "Mbyte", "50")), "mine").dram_bytes, 50e6);
}

TEST(NcuCsv, RowsWhoseQuotesAreLostAreRefusedWithTheCountOfFields) {
  const std::string header = "ID,Kernel Name,Block Size,Grid Size,Metric Name,Metric Unit,Metric Value\n";
  const auto lost = read_ncu_csv(header + "0,fold(),(128, 1, 1),(64, 1, 1),Duration,us,12.8\n" +
                                     "0,fold(),(128, 1, 1),(64, 1, 1),Memory Throughput,%,1,280\n",
                                 "test.csv");
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().kind, base::ErrorKind::usage);
  EXPECT_THAT(lost.error().found, HasSubstr("rows of 11 or 12 fields where the header has 7"));
  const Capture some = read(header + "0,fold(),128,64,Memory Throughput,%,40\n0,fold(),128,64,Duration,ns,12,800\n" +
                            "1,whole(),128,64,Duration,ns,900,\n");
  ASSERT_EQ(some.kernels.size(), 2u);
  EXPECT_FALSE(kernel_of(some, "fold()").duration_us) << "the columns of such a row can not be told";
  EXPECT_EQ(kernel_of(some, "whole()").duration_us, 0.9) << "a separator at the end is no field";
  EXPECT_THAT(some.notes, Contains(HasSubstr("rows of 8 fields where the header has 7")));
}

TEST(NcuCsv, ASummaryPerKernelGivesAveragesOverItsLaunches) {
  const std::string header =
      R"("Process ID","Kernel Name","Invocations","Section Name","Metric Name","Metric Unit","Minimum","Maximum","Average")"
      "\n";
  const auto line = [](const std::string& rest) { return R"-("9","blend(float *)","4","S",)-" + rest + "\n"; };
  const Capture capture =
      read(header + line(R"("Duration","us","10","14","12")") + line(R"("Memory Throughput","%","60","70","65")") +
           line(R"("Compute (SM) Throughput","%","20","24","22")"));
  EXPECT_EQ(capture.launches, 4);
  const CounterSummary& blend = kernel_of(capture, "blend(float *)");
  EXPECT_EQ(blend.launches, 4);
  EXPECT_EQ(blend.duration_us, 12);
  EXPECT_EQ(blend.memory_throughput_pct, 65);
  EXPECT_EQ(blend.compute_throughput_pct, 22);
  EXPECT_THAT(blend.note, HasSubstr("averages of 4 launches"));
}

TEST(NcuCsv, LimitersThatTieAreAllNamed) {
  const std::string limits = row("Theoretical Occupancy", "%", "18.75") + row("Block Limit SM", "block", "32") +
                             row("Block Limit Registers", "block", "1") + row("Block Limit Warps", "block", "5");
  EXPECT_EQ(kernel_of(read(kHeader + limits), "mine").occupancy_limiter, "registers");
  const CounterSummary tied = kernel_of(read(kHeader + limits + row("Block Limit Shared Mem", "block", "1")), "mine");
  EXPECT_EQ(tied.occupancy_limiter, "registers and shared memory");
  EXPECT_EQ(tied.blocks_per_sm_limit, 1);
}

TEST(NcuCsv, MissingAndNotAvailableMetricsAreAbsent) {
  for (const char* value : {"n/a", "nan", "-nan", "inf", "", "(!) n/a", "N/A"}) {
    const Capture capture =
        read(std::string(kHeader) + row("Achieved Occupancy", "%", value) + row("Duration", "us", "1.00"));
    EXPECT_FALSE(capture.kernels.at(0).occupancy_pct.has_value()) << value;
  }
}

TEST(NcuCsv, MetricsNamedOneByOneAreReadByTheirRawNames) {
  const std::string text =
      "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
      "\"0\",\"mine\",\"gpu__time_duration.sum\",\"nsecond\",\"500,000\"\n"
      "\"0\",\"mine\",\"sm__warps_active.avg.pct_of_peak_sustained_active\",\"%\",\"67.5\"\n";
  const CounterSummary kernel = read(text).kernels.at(0);
  EXPECT_DOUBLE_EQ(*kernel.duration_us, 500);
  EXPECT_DOUBLE_EQ(*kernel.occupancy_pct, 67.5);
}

TEST(NcuCsv, WithoutAnIdARepeatedMetricBeginsANewLaunch) {
  const std::string text =
      "\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
      "\"mine\",\"Duration\",\"us\",\"10.00\"\n\"mine\",\"Duration\",\"us\",\"12.00\"\n\"mine\",\"Duration\",\"us\","
      "\"11.00\"\n";
  const Capture capture = read(text);
  EXPECT_EQ(capture.launches, 3);
  EXPECT_DOUBLE_EQ(*capture.kernels.at(0).duration_us, 11);
}

TEST(NcuCsv, SeveralProcessesAndARepeatedHeaderAreOneCapture) {
  const std::string text = std::string(kHeader) + row("Duration", "us", "10.00", "0", "mine", "7") +
                           "==PROF== Disconnected\n" + kHeader + row("Duration", "us", "12.00", "0", "mine", "8");
  const Capture capture = read(text);
  EXPECT_EQ(capture.launches, 2);
  EXPECT_EQ(capture.kernels.size(), 1u);
  EXPECT_THAT(capture.notes, Contains("launches of 2 processes"));
}

TEST(NcuCsv, QuotedLineEndsAndDoubledQuotesStayInTheirField) {
  const Capture capture =
      read(std::string(kHeader) + row("Duration", "us", "10.00", "0", "void f<\n  \"\"x\"\">(int)"));
  EXPECT_EQ(capture.kernels.at(0).name, "void f<\n  \"x\">(int)");
}

TEST(NcuCsv, SemicolonsUtf16AndByteOrderMarksAreRead) {
  const std::string semicolons =
      "\"ID\";\"Kernel Name\";\"Metric Name\";\"Metric Unit\";\"Metric "
      "Value\"\r\n\"0\";\"mine\";\"Duration\";\"us\";\"63,39\"\r\n";
  EXPECT_DOUBLE_EQ(*read("\xEF\xBB\xBF" + semicolons).kernels.at(0).duration_us, 63.39);
  std::string utf16 = "\xFF\xFE";
  for (const char c : semicolons) utf16 += {c, '\0'};
  EXPECT_DOUBLE_EQ(*read(utf16).kernels.at(0).duration_us, 63.39);
}

TEST(NcuCsv, TheRawPageWithoutUnitsIsReadInBaseUnitsAndSaysSo) {
  const std::string text =
      "\"ID\",\"Kernel "
      "Name\",\"gpu__time_duration.sum\",\"dram__bytes_read.sum\",\"dram__bytes_write.sum\"\n\"0\",\"mine\","
      "\"63390\","
      "\"1000\",\"500\"\n";
  const Capture capture = read(text);
  EXPECT_DOUBLE_EQ(*capture.kernels.at(0).duration_us, 63.39);
  EXPECT_DOUBLE_EQ(*capture.kernels.at(0).dram_bytes, 1500);
  EXPECT_THAT(capture.notes, Contains(HasSubstr("base units are assumed")));
}

TEST(NcuCsv, ValuesWithoutUnitsThatAreNotInBaseOnesAreLeftOut) {
  const std::string text =
      "\"ID\",\"Kernel "
      "Name\",\"gpu__time_duration.sum\",\"gpc__cycles_elapsed.avg.per_second\",\"launch__registers_per_thread\"\n"
      "\"0\",\"mine\",\"63.39\",\"1.96\",\"38\"\n";
  const Capture capture = read(text);
  EXPECT_FALSE(capture.kernels.at(0).duration_us.has_value());
  EXPECT_FALSE(capture.kernels.at(0).sm_clock_ghz.has_value());
  EXPECT_DOUBLE_EQ(*capture.kernels.at(0).registers_per_thread, 38);
  EXPECT_THAT(capture.notes, Contains(HasSubstr("durations, clocks and bytes are left out")));
}

TEST(NcuCsv, RulesWriteTheirNumbersTheirOwnWay) {
  std::string header = kHeader;
  header.insert(header.size() - 1, ",\"Rule Name\",\"Rule Description\"");
  const auto with_rule = [&](const std::string& share, const std::string& occupancy) {
    std::string rule = row("", "", "");
    rule.insert(rule.size() - 1,
                ",\"CPIStall\",\"On average, each warp of this workload spends 19.0 cycles being stalled waiting for a "
                "scoreboard dependency on a L1TEX operation. This stall type represents about " +
                    share + "% of the total average of 35.2 cycles between issuing two instructions.\"");
    return read(header + row("Achieved Occupancy", "%", occupancy) + rule).kernels.at(0);
  };
  for (const char* share : {"54.0", "54,0", "54"})
    for (const char* occupancy : {"12.53", "12,53"}) {
      const CounterSummary kernel = with_rule(share, occupancy);
      ASSERT_EQ(kernel.stalls.size(), 1u) << share;
      EXPECT_EQ(kernel.stalls[0].reason, "long scoreboard");
      EXPECT_DOUBLE_EQ(kernel.stalls[0].pct, 54) << share << " beside " << occupancy;
      EXPECT_DOUBLE_EQ(*kernel.occupancy_pct, 12.53);
    }
}

TEST(NcuCsv, AutotuneTrialsWithOtherGridsGiveTheFastestAndSizesTheLongest) {
  const auto launch = [](const std::string& id, const std::string& grid, const std::string& us,
                         const std::string& bandwidth) {
    return row("Grid Size", "", grid, id) + row("Duration", "us", us, id) +
           row("Memory Throughput", "Gbyte/s", bandwidth, id);
  };
  // 100 us x 1000 GB/s and 80 us x 1250 GB/s: the same bytes.
  const CounterSummary trials =
      read(kHeader + launch("0", "100", "100.00", "1,000.00") + launch("1", "200", "80.00", "1,250.00")).kernels.at(0);
  EXPECT_DOUBLE_EQ(*trials.duration_us, 80);
  EXPECT_THAT(trials.note, HasSubstr("autotune trials, the fastest shown"));
  const CounterSummary sizes =
      read(kHeader + launch("0", "100", "100.00", "1,000.00") + launch("1", "200", "200.00", "1,000.00")).kernels.at(0);
  EXPECT_DOUBLE_EQ(*sizes.duration_us, 200);
  EXPECT_THAT(sizes.note, HasSubstr("2 sizes, the longest shown"));
}

TEST(NcuCsv, AShareOverTheWholeIsTheWhole) {
  const Capture capture = read(fixture("liger_rms_norm_whole_process_ncu_details.csv"));
  for (const CounterSummary& kernel : capture.kernels)
    for (const model::Stall& stall : kernel.stalls) EXPECT_LE(stall.pct, 100) << kernel.name;
}

TEST(NcuCsv, LaunchesOfSeveralDevicesSayWhichOne) {
  std::string header = kHeader;
  header.insert(header.size() - 1, ",\"Device\"");
  std::string first = row("Duration", "us", "10"), second = row("Duration", "us", "20", "1");
  first.insert(first.size() - 1, ",\"0\"");
  second.insert(second.size() - 1, ",\"3\"");
  const Capture capture = read(header + first + second);
  ASSERT_EQ(capture.kernels.size(), 2u);
  EXPECT_EQ(capture.kernels[0].note, "on device 0");
  EXPECT_EQ(capture.kernels[1].note, "on device 3");
}

TEST(NcuCsv, ANegativeValueIsNone) {
  const Capture capture = read(kHeader + row("Duration", "us", "-10") + row("Registers Per Thread", "", "38"));
  EXPECT_FALSE(capture.kernels.at(0).duration_us.has_value());
}

TEST(NcuCsv, AHeaderWithoutLaunchesIsAnError) {
  const auto capture = read_ncu_csv(kHeader, "x.csv");
  ASSERT_FALSE(capture.ok());
  EXPECT_THAT(capture.error().found, HasSubstr("header without launches"));
}

}  // namespace
}  // namespace hone::counters
