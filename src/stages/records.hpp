// Flat JSON objects, one a line: what the journals are made of. The only place of the stages that knows the JSON library.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::stages {

// {"event": ..., text..., numbers..., lists...}; names of the three kinds never overlap.
struct Record {
  std::string event;
  std::map<std::string, std::string> text;
  std::map<std::string, double> numbers;
  std::map<std::string, std::vector<double>> lists;

  std::string text_at(const std::string& name) const;  // empty when absent
  double number_at(const std::string& name, double otherwise = 0) const;
};

// One line without its end. Numbers that are not finite are written as null and read back as absent.
std::string to_line(const Record& record);
std::optional<Record> parse_line(std::string_view line);  // nothing for a torn or foreign line

// "schema" and "kernel" of a document without reading the rest; nothing when it is no JSON object.
struct DocumentHead {
  std::string schema, kernel;
};
std::optional<DocumentHead> parse_head(const std::string& json);

// Of report.json: which profile it rests on, and whether it says that a variant is in production.
struct ReportHead {
  std::string profile_created;
  bool applied = false;
};
std::optional<ReportHead> parse_report_head(const std::string& json);

// request.json of the proposer protocol (hone.proposal/1).
struct ProposalRequest {
  std::string kernel, best, original, variant_file, bottleneck;
  std::vector<std::map<std::string, std::string>> tried;
};
std::string request_json(const ProposalRequest& request);

// The answer of `hone compare` (hone.compare/1).
struct PairText {
  std::string x_value, mode, verdict, reason;
  double ratio = 0, ci_low = 0, ci_high = 0, baseline_ms = 0, candidate_ms = 0;
};
std::string compare_json(const std::string& kernel, const std::string& device, const std::string& baseline,
                         const std::string& candidate, const std::vector<PairText>& pairs);

}  // namespace hone::stages
