#include "model/fields.hpp"

#include <charconv>
#include <limits>
#include <system_error>

namespace hone::model {

namespace {

std::string kind_of(const Json& value) {
  if (value.is_null()) return "null";
  if (value.boolean() != nullptr) return "a boolean";
  if (value.text() != nullptr) return "a text";
  if (value.items() != nullptr) return "an array";
  if (value.members() != nullptr) return "an object";
  return "the number";
}

std::optional<std::string> x_value_text(const Json& value) {
  if (value.text() != nullptr) return *value.text();
  if (const auto whole = value.integer()) return std::to_string(*whole);
  if (const auto number = value.number()) return shortest(*number);
  return std::nullopt;
}

std::string text_of(const FieldReader::Place& place) {
  const std::string outer = place.outer == nullptr ? "" : text_of(*place.outer);
  if (place.name.data() == nullptr) return outer + "[" + std::to_string(place.item) + "]";
  return (outer.empty() ? "" : outer + ".") + std::string(place.name);
}

}  // namespace

std::string shown(const Json& value) {
  if (value.is_null()) return "null";
  if (value.items() != nullptr || value.members() != nullptr) return kind_of(value);
  std::string text = value.dump_line();
  if (text.size() > 80) text = text.substr(0, 77) + "...";
  return kind_of(value) + " " + text;
}

Json x_value_json(const std::string& x_value) {
  const char* begin = x_value.data();
  const char* end = begin + x_value.size();
  std::int64_t whole = 0;
  if (const auto [stop, error] = std::from_chars(begin, end, whole); error == std::errc() && stop == end)
    if (std::to_string(whole) == x_value) return Json(whole);
  double number = 0;
  if (const auto [stop, error] = std::from_chars(begin, end, number); error == std::errc() && stop == end) {
    const Json json(number);
    if (json.is_number() && number != 0 && shortest(number) == x_value) return json;
  }
  return Json(x_value);
}

void JsonFault::note(const std::string& field, const std::string& expected, const std::string& found) {
  if (any_) return;
  any_ = true;
  field_ = field;
  expected_ = expected;
  found_ = found;
}

base::Error JsonFault::error(const std::string& where, const std::string& remedy) const {
  return {base::ErrorKind::preflight, expected_, found_, where + ", field " + field_, remedy};
}

FieldReader::FieldReader(const Json& object, JsonFault& fault, const Place* place)
    : object_(&object), place_(place), fault_(&fault) {
  static const Json nothing = Json::object();
  if (object.members() != nullptr) return;
  object_ = &nothing;
  fault_->note(place == nullptr ? "(the document)" : text_of(*place), "an object", shown(object));
}

bool FieldReader::has(std::string_view name) const {
  const Json* value = object_->find(name);
  return value != nullptr && !value->is_null();
}

const Json* FieldReader::find(std::string_view name) const {
  if (has(name)) return object_->find(name);
  if (object_->find(name) == nullptr)
    refuse(name, "the field '" + std::string(name) + "'", "no such field");
  else
    refuse(name, "a value", "null");
  return nullptr;
}

void FieldReader::refuse(std::string_view name, const std::string& expected, const std::string& found) const {
  refuse(Place{place_, name}, expected, found);
}

void FieldReader::refuse(const Place& place, const std::string& expected, const std::string& found) const {
  fault_->note(text_of(place), expected, found);
}

void FieldReader::read(const Json& json, const Place& place, As as, std::string& value) const {
  const std::optional<std::string> text = as == As::x_value        ? x_value_text(json)
                                          : json.text() != nullptr ? std::optional(*json.text())
                                                                   : std::nullopt;
  if (!text) return refuse(place, as == As::x_value ? "a number or a text" : "a text", shown(json));
  value = *text;
}

void FieldReader::read(const Json& json, const Place& place, As as, double& value) const {
  if (!json.is_number()) return refuse(place, "a number", shown(json));
  value = *json.number();
  if (as == As::not_negative && value < 0) refuse(place, "a number that is not negative", shortest(value));
}

void FieldReader::read(const Json& json, const Place& place, As, bool& value) const {
  if (json.boolean() == nullptr) return refuse(place, "true or false", shown(json));
  value = *json.boolean();
}

void FieldReader::read(const Json& json, const Place& place, As as, int& value) const {
  std::int64_t count = 0;
  read(json, place, as, count);
  if (count < 0 || count > std::numeric_limits<int>::max())
    return refuse(place, "a count from 0 to 2147483647", std::to_string(count));
  value = static_cast<int>(count);
}

void FieldReader::read(const Json& json, const Place& place, As, std::int64_t& value) const {
  if (!json.integer()) return refuse(place, "a 64-bit integer", shown(json));
  value = *json.integer();
}

void FieldReader::read(const Json& json, const Place& place, As, std::uint64_t& value) const {
  if (!json.unsigned_integer()) return refuse(place, "an integer from 0 to 2^64 - 1", shown(json));
  value = *json.unsigned_integer();
}

}  // namespace hone::model
