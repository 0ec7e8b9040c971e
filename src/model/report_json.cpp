// The final report (hone.report/1), with the profile and the comparison it rests on inside.
#include "model/json_parts.hpp"
#include "model/report.hpp"

namespace hone::model {

namespace {

Json json_of(const GateCount& gate) {
  return Json::object({{"name", gate.name},
                       {"passed", gate.passed},
                       {"failed", gate.failed},
                       {"largest_error_over_bound", gate.largest_error_over_bound},
                       {"detail", gate.detail}});
}

Json json_of(const ThreeWayRow& row) {
  return Json::object({{"x_value", x_value_json(row.x_value)},
                       {"mode", row.mode},
                       {"provider", row.provider},
                       {"metric", row.metric},
                       {"unit", row.unit},
                       {"p20", row.value.p20},
                       {"p50", row.value.p50},
                       {"p80", row.value.p80},
                       {"samples", row.value.samples},
                       {"share_of_ceiling_pct", row.share_of_ceiling_pct},
                       {"source", word(row.source)},
                       {"paired", model::json_of(row.paired)}});
}

}  // namespace

const char* word(Outcome value) {
  switch (value) {
    case Outcome::applied: return "applied";
    case Outcome::at_ceiling: return "at-ceiling";
    case Outcome::nothing_found: return "nothing-found";
    case Outcome::inconclusive: return "inconclusive";
    case Outcome::reverted: return "reverted";
  }
  return "unknown";
}

std::string to_json(const Report& report) {
  return Json::object({{"schema", kReportSchema},
                       {"kernel", report.kernel},
                       {"created", report.created},
                       {"hone", Json::object({{"version", report.hone_version}, {"commit", report.hone_commit}})},
                       {"command", report.command},
                       {"applied", report.applied},
                       {"outcome", word(report.outcome)},
                       {"reason", report.reason},
                       {"winner", report.winner},
                       {"three_way", Json::list(report.three_way, [](const auto& row) { return json_of(row); })},
                       {"speedups", Json::list(report.speedups, [](const auto& row) { return model::json_of(row); })},
                       {"correctness", Json::list(report.correctness, [](const auto& gate) { return json_of(gate); })},
                       {"changed_files", model::json_of(report.changed_files)},
                       {"diff", report.diff},
                       {"recommendations", model::json_of(report.recommendations)},
                       {"reproduction", model::json_of(report.reproduction)},
                       {"revert", model::json_of(report.revert)},
                       {"plots", model::json_of(report.plots)},
                       {"profile", json_tree(report.profile)},
                       {"comparison", json_tree(report.comparison)}})
      .dump();
}

}  // namespace hone::model
