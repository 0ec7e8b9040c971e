// Rows of hone bench: other load costs the row that it fell on its trust, and nothing else.
#include "cli/bench_table.hpp"

#include <gmock/gmock.h>

#include <sstream>

#include "base/text.hpp"

#include "tests/stages/stage_fixture.hpp"

namespace hone::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class BenchTable : public test::StepTest {
 protected:
  std::vector<BenchRow> bench() {
    model::Request request;
    request.kernel = kernel.kernel.name, request.dtype = "fp32";
    repository::liger::PythonProviders python({files, processes, timed.clock(), "scratch", "cpu"});
    std::vector<BenchRow> rows;
    const auto done = bench_kernel(kernel, timed, request, {"native", "eager"}, &python, progress, rows);
    EXPECT_TRUE(done) << base::describe(done.error());
    return rows;
  }
  test::FakeDescribed kernel;
  test::FakeTimed timed;
};

TEST_F(BenchTable, EveryRowIsTrustedOnAQuietMachine) {
  const auto rows = bench();
  EXPECT_THAT(rows, SizeIs(2 * 9));
  EXPECT_THAT(untrusted_rows(rows), SizeIs(0));
}

TEST_F(BenchTable, ADisturbedRowIsMarkedAndNamedAndTheOthersAreMeasured) {
  timed.load = [this](int samples) {
    return timed.kernel.events.back().find("backward 2048") != std::string::npos && samples % 3 == 0 ? 5.0 : 1.0;
  };
  const auto rows = bench();
  ASSERT_THAT(rows, SizeIs(2 * 9));
  int disturbed = 0;
  for (const BenchRow& row : rows) {
    EXPECT_GT(row.device_ms.p50, 0) << row.mode << " " << row.shape;
    disturbed += !row.untrusted.empty();
  }
  EXPECT_EQ(disturbed, 2) << "both providers of one row";
  const auto lines = untrusted_rows(rows);
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_THAT(lines.front(), HasSubstr("rms_norm backward fp32 "));
  EXPECT_THAT(lines.front(), HasSubstr("x 2048: "));
  std::ostringstream text;
  print_bench(text, rows, {}, {});
  EXPECT_THAT(text.str(), HasSubstr("%  disturbed\n"));
  EXPECT_THAT(bench_json(rows, {}), HasSubstr("\"untrusted\": \""));
}

TEST_F(BenchTable, FitsTheTerminal) {
  auto rows = bench();
  rows.push_back(rows.back());
  rows.back().missing = "liger_kernel has no rms_norm that computes what casting_mode=gemma asks for";
  for (const std::size_t width : {std::size_t{60}, std::size_t{80}, std::size_t{120}}) {
    std::ostringstream text;
    model::Ceilings ceilings;
    ceilings.by_name["copy_bytes_per_s"] = {1e12, 2e12, 3e12, 5};
    print_bench(text, rows, ceilings, {false, width});
    for (const std::string& line : base::split(text.str(), '\n')) EXPECT_LE(render::display_width(line), width) << line;
    for (const char* whole : {"rms_norm\n", "backward", "provider", "native", "ceiling"})
      EXPECT_THAT(text.str(), HasSubstr(whole)) << width;
  }
}

TEST_F(BenchTable, OfAnotherRepositoryNamesItsOwnProvidersAndSizes) {
  model::Request request;
  request.kernel = kernel.kernel.name, request.dtype = "fp32";
  std::vector<BenchRow> rows;
  const auto done = bench_kernel(kernel, timed, request, {kernel.own_provider()}, nullptr, progress, rows);
  ASSERT_TRUE(done) << base::describe(done.error());
  ASSERT_THAT(rows, SizeIs(9));
  EXPECT_TRUE(rows.front().own);
  EXPECT_EQ(rows.front().shape, kernel.x_name() + "=" + rows.front().x_value);
}

}  // namespace
}  // namespace hone::cli
