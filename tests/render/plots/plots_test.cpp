#include "render/plots/plots.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "render/documents/report_html.hpp"
#include "tests/render/golden.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/sample_documents.hpp"

namespace hone::render {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Tags opened and closed in pairs, attributes quoted: what an XML parser asks of these files.
std::vector<std::string> xml_faults(const std::string& text) {
  std::vector<std::string> faults, open;
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    const std::size_t end = text.find('>', at);
    if (end == std::string::npos) return {"a tag without an end"};
    const std::string tag = text.substr(at + 1, end - at - 1);
    if (std::count(tag.begin(), tag.end(), '"') % 2 != 0 || tag.find('<') != std::string::npos) faults.push_back(tag);
    const std::string name = tag.substr(0, tag.find_first_of(" /", 1));
    if (tag[0] == '/') {
      if (open.empty() || "/" + open.back() != tag) faults.push_back("closed but not open: " + tag);
      if (!open.empty()) open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
  }
  for (const std::string& tag : open) faults.push_back("left open: " + tag);
  return faults;
}

TEST(Plots, OfAReportAreTheSameTextEachTime) {
  const auto plots = report_plots(test::sample_report_applied());
  std::vector<std::string> names;
  for (const Plot& plot : plots) {
    names.push_back(plot.file_name);
    // The roofline is the profile's, and has its golden there.
    if (plot.file_name != "roofline.svg") test::expect_golden(golden(plot.file_name), plot.svg);
    EXPECT_THAT(xml_faults(plot.svg), IsEmpty()) << plot.file_name;
    EXPECT_THAT(plot.svg, Not(HasSubstr("nan")));
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"speed_forward.svg", "speed_backward.svg", "memory.svg", "share_of_ceiling.svg",
                                      "sweep_forward.svg", "sweep_backward.svg", "roofline.svg"}));
}

TEST(Plots, OnlyThoseThatHaveValues) {
  const auto roofline = report_plots(test::sample_report_nothing_to_gain());
  ASSERT_EQ(roofline.size(), 1u) << "where nothing was measured anew, the profile's";
  EXPECT_EQ(roofline.front().file_name, "roofline.svg");
  EXPECT_EQ(report_plots(test::sample_report_reverted()).size(), 3u);
  model::Report captured = test::sample_report_nothing_to_gain();
  captured.profile = test::sample_gpu_profile();
  std::vector<std::string> names;
  for (const Plot& plot : report_plots(captured)) names.push_back(plot.file_name);
  EXPECT_THAT(names, ::testing::IsSupersetOf({"stalls_1.svg", "stalls_2.svg"})) << "a bar for each captured kernel";
  EXPECT_THAT(report_plots(model::Report{}), IsEmpty());
}

TEST(Plots, NamesStandSideBySideWithoutLines) {
  model::Report report = test::sample_report_applied();
  for (auto& row : report.three_way)
    if (row.x_value == "1024") row.x_value = "llama <3> & \"8b\" " + std::string(300, 'x');
  const std::string svg = speed_plot(report, "forward");
  EXPECT_THAT(svg, Not(HasSubstr("<polyline")));
  EXPECT_THAT(svg, HasSubstr("llama &lt;3&gt;"));
  EXPECT_THAT(xml_faults(svg), IsEmpty());
}

TEST(Plots, ASeriesThatLiesUnderAnotherIsDrawnWider) {
  EXPECT_THAT(memory_plot(test::sample_report_applied()), HasSubstr("stroke-width=\"6\""));
  EXPECT_THAT(speed_plot(test::sample_report_applied(), "forward"), Not(HasSubstr("stroke-width=\"6\"")));
}

TEST(Plots, BarsShowTheSpreadWhereTheMarkerDoesNotHideIt) {
  model::Report report = test::sample_report_applied();
  const auto lines = [](const std::string& svg) {
    std::size_t count = 0;
    for (std::size_t at = svg.find("stroke-width=\"1.5\""); at != std::string::npos;
         at = svg.find("stroke-width=\"1.5\"", at + 1))
      ++count;
    return count;
  };
  EXPECT_EQ(lines(speed_plot(report, "forward")), 0u);
  for (auto& row : report.three_way) row.value.p80 *= 2;
  EXPECT_EQ(lines(speed_plot(report, "forward")), 3u * 12u);
}

TEST(Plots, TakeOddValues) {
  for (const double value :
       {0.0, -1.0, 1e-300, 1e300, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    model::Report report = test::sample_report_applied();
    report.three_way[0].value = {value, value, value, 1};
    report.three_way[1].share_of_ceiling_pct = value;
    report.comparison.sweep[0].ratio = value;
    for (const Plot& plot : report_plots(report)) {
      EXPECT_THAT(xml_faults(plot.svg), IsEmpty());
      EXPECT_THAT(plot.svg, Not(HasSubstr("=\"nan"))) << plot.file_name << " " << value;
      EXPECT_THAT(plot.svg, Not(HasSubstr("=\"inf"))) << plot.file_name << " " << value;
    }
  }
  EXPECT_THAT(speed_plot(model::Report{}, "forward"), HasSubstr("nothing was measured"));
  EXPECT_THAT(sweep_plot(model::ComparisonDocument{}, "x", "forward"), HasSubstr("No configuration was timed."));
}

TEST(SweepPlot, LeavesOutTheSlowestBeyondThirtyAndSaysSo) {
  model::ComparisonDocument comparison;
  comparison.kernel = "k";
  for (int i = 0; i < 40; ++i)
    comparison.sweep.push_back({"forward", "1024", {{"BLOCK_ROW", i}, {"same", 1}}, 1 + i / 100.0, false});
  const std::string svg = sweep_plot(comparison, "hidden_size", "forward");
  EXPECT_THAT(svg, HasSubstr("10 slower settings left out"));
  EXPECT_THAT(svg, HasSubstr(">BLOCK_ROW=29<"));
  EXPECT_THAT(svg, Not(HasSubstr(">BLOCK_ROW=30<")));
}

TEST(ReportHtml, IsOneFileThatFetchesNothing) {
  const std::string html = report_html(test::sample_report_applied());
  test::expect_golden(golden("report_applied.html"), html);
  for (const char* outside : {"<script", "<link", "src=", "@import", "url("})
    EXPECT_THAT(html, Not(HasSubstr(outside)));
  EXPECT_THAT(html, HasSubstr("prefers-color-scheme"));
  std::size_t at = 0;
  for (const char* section :
       {"1. Summary", "2. Baseline profile", "3. Variant comparison", "4. Winning changes", "5. Rejected approaches",
        "6. Plots", "7. Correctness", "8. Recommendations", "9. Reproduction"}) {
    at = html.find(std::string("<h2>") + section + "</h2>", at);
    ASSERT_NE(at, std::string::npos) << section;
  }
}

TEST(ReportHtml, ShowsTheOutcomeFirstAndEscapesWhatTheReportCarries) {
  model::Report report = test::sample_report_reverted();
  report.reason = "reverted: <img src=x onerror=alert(1)>";
  report.diff += "+<script>\n";
  report.kernel = "</title><b>";
  const std::string html = report_html(report);
  EXPECT_LT(html.find("<b>REVERTED</b>"), html.find("1. Summary"));
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("</title><b>")));
  EXPECT_THAT(report_html(model::Report{}), HasSubstr("No gate ran, so nothing may be applied."));
}

}  // namespace
}  // namespace hone::render
