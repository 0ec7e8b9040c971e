#include "render/outcome.hpp"

#include <algorithm>

#include "model/speedup.hpp"
#include "render/documents/markdown.hpp"
#include "render/format.hpp"
#include "render/results_table.hpp"

namespace hone::render {

using model::Report;
using model::ResultRow;

std::string outcome_word(const Report& report) {
  switch (report.outcome) {
    case model::Outcome::applied: return "APPLIED";
    case model::Outcome::at_ceiling: return "NOTHING TO GAIN";
    case model::Outcome::nothing_found: return "NOTHING FOUND";
    case model::Outcome::inconclusive: return "INCONCLUSIVE";
    case model::Outcome::reverted: return "REVERTED";
  }
  return "NOT APPLIED";
}

std::vector<std::string> modes_of(const std::vector<ResultRow>& rows) {
  std::vector<std::string> modes;
  for (const ResultRow& row : rows)
    if (row.metric == "speed" && std::find(modes.begin(), modes.end(), row.mode) == modes.end())
      modes.push_back(row.mode);
  return modes;
}

std::string gain_of_mode(const std::vector<ResultRow>& rows, const std::string& mode) {
  double least = 0, most = 0;  // ratios
  int faster = 0, slower = 0, all = 0;
  for (const ResultRow& row : rows) {
    if (row.metric != "speed" || row.mode != mode) continue;
    ++all;
    slower += row.verdict == model::Verdict::slower ? 1 : 0;
    if (row.verdict != model::Verdict::faster) continue;
    least = faster == 0 ? row.ratio : std::max(least, row.ratio);
    most = faster == 0 ? row.ratio : std::min(most, row.ratio);
    ++faster;
  }
  const std::string sizes = " of " + count_of(all, "size");
  std::string text = "no speedup shown";
  if (faster > 0) {
    text = model::speed_change(least, most);
    if (faster < all) text += " at " + std::to_string(faster) + sizes;
  }
  return slower > 0 ? text + ", slower at " + std::to_string(slower) + sizes : text;
}

std::string outcome_text(const Report& report) {
  if (!report.applied) return sentence(known(report.reason, "the reason was not recorded"));
  std::string gains;
  for (const std::string& mode : modes_of(report.speedups))
    gains += (gains.empty() ? "" : "; ") + mode + " " + gain_of_mode(report.speedups, mode);
  return known(report.winner, "The winner") + " is in production" +
         (gains.empty() ? ", without a new measurement." : ": " + gains + ", each beyond its interval.");
}

int gates_failed(const Report& report) {
  int failed = 0;
  for (const model::GateCount& gate : report.correctness) failed += gate.failed;
  return failed;
}

int gates_passed(const Report& report) {
  int passed = 0;
  for (const model::GateCount& gate : report.correctness) passed += gate.passed;
  return passed;
}

}  // namespace hone::render
