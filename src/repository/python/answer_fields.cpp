#include "repository/python/answer_fields.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace hone::repository::python {

double number(const Json& object, const char* name, double otherwise) {
  const auto found = object.find(name);
  if (found == object.end()) return otherwise;
  return found->is_number() ? found->get<double>() : std::numeric_limits<double>::infinity();
}

std::int64_t integer(const Json& object, const char* name, std::int64_t otherwise) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? found->get<std::int64_t>() : otherwise;
}

std::string text(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

bool flag(const Json& object, const char* name, bool otherwise) {
  const auto found = object.find(name);
  return found != object.end() && found->is_boolean() ? found->get<bool>() : otherwise;
}

std::vector<std::string> texts(const Json& object, const char* name) {
  std::vector<std::string> all;
  const auto found = object.find(name);
  if (found != object.end() && found->is_array())
    for (const Json& each : *found) all.push_back(each.is_string() ? each.get<std::string>() : each.dump());
  return all;
}

std::string last_lines(const std::string& output) {
  const auto lines = base::split(base::trim(output), '\n');
  const std::ptrdiff_t count = std::min<std::ptrdiff_t>(3, static_cast<std::ptrdiff_t>(lines.size()));
  return base::join_text({lines.end() - count, lines.end()}, " | ");
}

}  // namespace hone::repository::python
