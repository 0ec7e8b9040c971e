#include "stages/records.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace hone::stages {

using nlohmann::json;

std::string Record::text_at(const std::string& name) const {
  const auto found = text.find(name);
  return found == text.end() ? std::string() : found->second;
}

double Record::number_at(const std::string& name, double otherwise) const {
  const auto found = numbers.find(name);
  return found == numbers.end() ? otherwise : found->second;
}

std::string to_line(const Record& record) {
  json object = {{"event", record.event}};
  for (const auto& [name, value] : record.text) object[name] = value;
  for (const auto& [name, value] : record.numbers) object[name] = std::isfinite(value) ? json(value) : json(nullptr);
  for (const auto& [name, values] : record.lists) object[name] = values;
  // Compiler messages may hold any bytes; a line must always be valid UTF-8.
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<Record> parse_line(std::string_view line) {
  const json object = json::parse(line, nullptr, false);
  if (!object.is_object() || !object.contains("event") || !object["event"].is_string()) return std::nullopt;
  Record record;
  record.event = object["event"].get<std::string>();
  for (const auto& [name, value] : object.items()) {
    if (name == "event" || value.is_null()) continue;
    if (value.is_string())
      record.text[name] = value.get<std::string>();
    else if (value.is_number())
      record.numbers[name] = value.get<double>();
    else if (value.is_array()) {
      std::vector<double> list;
      for (const json& item : value) {
        if (!item.is_number()) return std::nullopt;
        list.push_back(item.get<double>());
      }
      record.lists[name] = std::move(list);
    } else {
      return std::nullopt;
    }
  }
  return record;
}

std::optional<DocumentHead> parse_head(const std::string& text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  const auto word = [&](const char* name) {
    return object.contains(name) && object[name].is_string() ? object[name].get<std::string>() : std::string();
  };
  return DocumentHead{word("schema"), word("kernel")};
}

std::optional<ReportHead> parse_report_head(const std::string& text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object() || !object.contains("profile") || !object["profile"].is_object()) return std::nullopt;
  const json &created = object["profile"].value("created", json()), &applied = object.value("applied", json());
  if (!created.is_string() || !applied.is_boolean()) return std::nullopt;
  return ReportHead{created.get<std::string>(), applied.get<bool>()};
}

std::string request_json(const ProposalRequest& request) {
  const json object = {
      {"schema", "hone.proposal/1"},
      {"kernel", request.kernel},
      {"asked", "one change of the original source that makes the kernel faster and keeps its results"},
      {"original", request.original},
      {"best", request.best},
      {"bottleneck", request.bottleneck},
      {"write", {{"variant", request.variant_file}, {"hypothesis", "hypothesis.md"}}},
      {"nothing_more_exit_status", 10},
      {"tried", request.tried}};
  return object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string compare_json(const std::string& kernel, const std::string& device, const std::string& baseline,
                         const std::string& candidate, const std::vector<PairText>& pairs) {
  json list = json::array();
  for (const PairText& pair : pairs) {
    list.push_back({{"x_value", pair.x_value},
                    {"mode", pair.mode},
                    {"ratio", pair.ratio},
                    {"ci_low", pair.ci_low},
                    {"ci_high", pair.ci_high},
                    {"verdict", pair.verdict},
                    {"reason", pair.reason},
                    {"baseline_ms", pair.baseline_ms},
                    {"candidate_ms", pair.candidate_ms}});
  }
  const json object = {{"schema", "hone.compare/1"}, {"kernel", kernel},       {"device", device},
                       {"baseline", baseline},       {"candidate", candidate}, {"pairs", list}};
  return object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace hone::stages
