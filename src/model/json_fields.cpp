#include "model/json_fields.hpp"

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

JsonFields::JsonFields(const Json* value, std::string path, JsonFault& fault)
    : value_(value), path_(std::move(path)), fault_(&fault) {
  if (value_ != nullptr && value_->members() == nullptr) {
    fault_->note(path_.empty() ? "(the document)" : path_, "an object", shown(*value_));
    value_ = nullptr;
  }
}

std::string JsonFields::path_of(const std::string& name) const { return path_.empty() ? name : path_ + "." + name; }

void JsonFields::refuse(const std::string& name, const std::string& expected, const std::string& found) const {
  fault_->note(path_of(name), expected, found);
}

const Json* JsonFields::optional(const std::string& name) const {
  const Json* value = value_ == nullptr ? nullptr : value_->find(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

const Json* JsonFields::find(const std::string& name) const {
  if (value_ == nullptr) return nullptr;
  const Json* value = value_->find(name);
  if (value == nullptr)
    refuse(name, "the field '" + name + "'", "no such field");
  else if (value->is_null())
    refuse(name, "a value", "null");
  return value == nullptr || value->is_null() ? nullptr : value;
}

bool JsonFields::has(const std::string& name) const { return optional(name) != nullptr; }

std::vector<std::string> JsonFields::names() const {
  std::vector<std::string> result;
  if (value_ != nullptr)
    for (const auto& member : *value_->members()) result.push_back(member.name);
  return result;
}

JsonFields JsonFields::object(const std::string& name) const { return {find(name), path_of(name), *fault_}; }

std::vector<JsonFields> JsonFields::objects(const std::string& name) const {
  std::vector<JsonFields> fields;
  const Json* value = find(name);
  if (value == nullptr) return fields;
  if (value->items() == nullptr) {
    refuse(name, "an array", shown(*value));
    return fields;
  }
  for (std::size_t i = 0; i < value->items()->size(); ++i)
    fields.emplace_back(&(*value->items())[i], path_of(name) + "[" + std::to_string(i) + "]", *fault_);
  return fields;
}

std::vector<std::pair<std::string, JsonFields>> JsonFields::named_objects(const std::string& name) const {
  std::vector<std::pair<std::string, JsonFields>> fields;
  const Json* value = optional(name);
  if (value == nullptr) return fields;
  if (value->members() == nullptr) {
    refuse(name, "an object", shown(*value));
    return fields;
  }
  for (const auto& member : *value->members())
    fields.emplace_back(member.name, JsonFields(&member.value, path_of(name) + "." + member.name, *fault_));
  return fields;
}

std::string JsonFields::text(const std::string& name) const {
  const Json* value = find(name);
  if (value == nullptr) return {};
  if (value->text() == nullptr) {
    refuse(name, "a text", shown(*value));
    return {};
  }
  return *value->text();
}

std::string JsonFields::text_or(const std::string& name, const std::string& missing) const {
  return has(name) ? text(name) : missing;
}

std::vector<std::string> JsonFields::texts(const std::string& name) const {
  std::vector<std::string> result;
  const Json* value = optional(name);
  if (value == nullptr) return result;
  if (value->items() == nullptr) {
    refuse(name, "an array of texts", shown(*value));
    return result;
  }
  for (const Json& item : *value->items()) {
    if (item.text() == nullptr)
      refuse(name, "an array of texts", "in it " + shown(item));
    else
      result.push_back(*item.text());
  }
  return result;
}

std::string JsonFields::x_value(const std::string& name) const {
  const Json* value = find(name);
  if (value == nullptr) return {};
  const auto text = x_value_text(*value);
  if (!text) refuse(name, "a number or a text", shown(*value));
  return text.value_or("");
}

std::vector<std::string> JsonFields::x_values(const std::string& name) const {
  std::vector<std::string> result;
  const Json* value = optional(name);
  if (value == nullptr) return result;
  if (value->items() == nullptr) {
    refuse(name, "an array of numbers or texts", shown(*value));
    return result;
  }
  for (const Json& item : *value->items()) {
    const auto text = x_value_text(item);
    if (!text)
      refuse(name, "an array of numbers or texts", "in it " + shown(item));
    else
      result.push_back(*text);
  }
  return result;
}

template <class Value>
Value JsonFields::required(const std::string& name, std::optional<Value> (Json::*read)() const,
                           const char* expected) const {
  const Json* value = find(name);
  if (value == nullptr) return {};
  const auto result = (value->*read)();
  if (!result) refuse(name, expected, shown(*value));
  return result.value_or(Value{});
}

template <class Value>
Value JsonFields::or_missing(const std::string& name, Value missing, std::optional<Value> (Json::*read)() const,
                             const char* expected) const {
  return has(name) ? required(name, read, expected) : missing;
}

double JsonFields::number(const std::string& name) const { return required(name, &Json::number, "a number"); }

double JsonFields::not_negative(const std::string& name) const {
  const double value = number(name);
  if (value < 0) refuse(name, "a number that is not negative", shortest(value));
  return value;
}

double JsonFields::number_or(const std::string& name, double missing) const {
  return or_missing(name, missing, &Json::number, "a number");
}

std::optional<double> JsonFields::optional_number(const std::string& name) const {
  if (!has(name)) return std::nullopt;
  return number(name);
}

std::vector<double> JsonFields::numbers(const std::string& name) const {
  std::vector<double> result;
  const Json* value = optional(name);
  if (value == nullptr) return result;
  if (value->items() == nullptr) {
    refuse(name, "an array of numbers", shown(*value));
    return result;
  }
  for (const Json& item : *value->items()) {
    if (!item.is_number())
      refuse(name, "an array of numbers", "in it " + shown(item));
    else
      result.push_back(*item.number());
  }
  return result;
}

std::int64_t JsonFields::integer(const std::string& name) const {
  return required(name, &Json::integer, "a 64-bit integer");
}

std::int64_t JsonFields::integer_or(const std::string& name, std::int64_t missing) const {
  return or_missing(name, missing, &Json::integer, "a 64-bit integer");
}

int JsonFields::count_or(const std::string& name, int missing) const {
  const std::int64_t value = integer_or(name, missing);
  if (value >= 0 && value <= std::numeric_limits<int>::max()) return static_cast<int>(value);
  refuse(name, "a count from 0 to 2147483647", std::to_string(value));
  return missing;
}

std::uint64_t JsonFields::seed_or(const std::string& name, std::uint64_t missing) const {
  return or_missing(name, missing, &Json::unsigned_integer, "an integer from 0 to 2^64 - 1");
}

bool JsonFields::boolean_or(const std::string& name, bool missing) const {
  const Json* value = optional(name);
  if (value == nullptr) return missing;
  if (value->boolean() == nullptr) refuse(name, "true or false", shown(*value));
  return value->boolean() != nullptr ? *value->boolean() : missing;
}

std::map<std::string, std::int64_t> JsonFields::integers(const std::string& name) const {
  std::map<std::string, std::int64_t> result;
  const Json* value = find(name);
  if (value == nullptr) return result;
  if (value->members() == nullptr) {
    refuse(name, "an object of integers", shown(*value));
    return result;
  }
  for (const auto& member : *value->members()) {
    const auto number = member.value.integer();
    if (!number)
      refuse(name + "." + member.name, "a 64-bit integer", shown(member.value));
    else
      result[member.name] = *number;
  }
  return result;
}

std::map<std::string, std::string> JsonFields::text_map(const std::string& name) const {
  std::map<std::string, std::string> result;
  const Json* value = optional(name);
  if (value == nullptr) return result;
  if (value->members() == nullptr) {
    refuse(name, "an object of texts", shown(*value));
    return result;
  }
  for (const auto& member : *value->members()) {
    if (member.value.text() == nullptr)
      refuse(name + "." + member.name, "a text", shown(member.value));
    else
      result[member.name] = *member.value.text();
  }
  return result;
}

}  // namespace hone::model
