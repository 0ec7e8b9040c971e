#include "stages/records.hpp"

#include <algorithm>

namespace hone::stages {

namespace {

std::optional<model::Json> object_in(const std::string& text) {
  auto json = model::parse_json(text, "", "");
  if (!json || json->members() == nullptr) return std::nullopt;
  return std::move(*json);
}

std::string text_in(const model::Json& object, std::string_view name) {
  const model::Json* value = object.find(name);
  return value != nullptr && value->text() != nullptr ? *value->text() : "";
}

}  // namespace

std::string JournalLine::text_at(std::string_view name) const { return text_in(json, name); }

std::optional<JournalLine> parse_line(std::string_view line) {
  auto json = object_in(std::string(line));
  if (!json || json->find("event") == nullptr || json->find("event")->text() == nullptr) return std::nullopt;
  const auto nested = [](const model::Json::Member& member) { return member.value.members() != nullptr; };
  if (std::any_of(json->members()->begin(), json->members()->end(), nested)) return std::nullopt;
  std::string event = text_in(*json, "event"), key = text_in(*json, "key");
  return JournalLine{std::move(event), std::move(key), std::move(*json)};
}

std::optional<DocumentHead> parse_head(const std::string& text) {
  const auto json = object_in(text);
  if (!json) return std::nullopt;
  return DocumentHead{text_in(*json, "schema"), text_in(*json, "kernel")};
}

std::optional<ReportHead> parse_report_head(const std::string& text) {
  const auto json = object_in(text);
  const model::Json *profile = json ? json->find("profile") : nullptr,
                    *applied = json ? json->find("applied") : nullptr;
  const model::Json* created = profile != nullptr ? profile->find("created") : nullptr;
  if (created == nullptr || created->text() == nullptr || applied == nullptr || applied->boolean() == nullptr)
    return std::nullopt;
  return ReportHead{*created->text(), *applied->boolean()};
}

}  // namespace hone::stages
