#include "repository/python/answer_fields.hpp"

#include <algorithm>
#include <limits>

#include "base/text.hpp"

namespace hone::repository::python {

Json answer_in(const std::string& line) {
  auto answer = model::parse_json(line, "", "");
  return answer ? std::move(*answer) : Json();
}

const Json& member(const Json& object, const char* name) {
  static const Json none;
  const Json* found = object.find(name);
  return found != nullptr ? *found : none;
}

const Json::Array& list(const Json& object, const char* name) {
  static const Json::Array none;
  const Json::Array* items = member(object, name).items();
  return items != nullptr ? *items : none;
}

double number(const Json& object, const char* name, double otherwise) {
  const Json* found = object.find(name);
  return found == nullptr ? otherwise : found->number().value_or(std::numeric_limits<double>::infinity());
}

std::int64_t integer(const Json& object, const char* name, std::int64_t otherwise) {
  return member(object, name).integer().value_or(otherwise);
}

std::string text(const Json& object, const char* name) {
  const std::string* text = member(object, name).text();
  return text != nullptr ? *text : "";
}

bool flag(const Json& object, const char* name, bool otherwise) {
  const bool* flag = member(object, name).boolean();
  return flag != nullptr ? *flag : otherwise;
}

std::vector<std::string> texts(const Json& object, const char* name) {
  std::vector<std::string> all;
  for (const Json& each : list(object, name)) all.push_back(each.text() != nullptr ? *each.text() : each.dump_plain());
  return all;
}

std::string last_lines(const std::string& output) {
  const auto lines = base::split(base::trim(output), '\n');
  const std::ptrdiff_t count = std::min<std::ptrdiff_t>(3, static_cast<std::ptrdiff_t>(lines.size()));
  return base::join_text({lines.end() - count, lines.end()}, " | ");
}

}  // namespace hone::repository::python
