#include "tests/support/json_schema.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace hone::test {

namespace {

using Json = nlohmann::json;

const std::map<std::string, Json>& all_schemas() {
  static const std::map<std::string, Json> all = [] {
    std::map<std::string, Json> read;
    const std::string suffix = ".schema.json";
    for (const auto& entry : std::filesystem::directory_iterator(std::string(HONE_SOURCE_DIR) + "/docs/schemas")) {
      const std::string file = entry.path().filename().string();
      if (file.size() <= suffix.size() || file.substr(file.size() - suffix.size()) != suffix) continue;
      std::ifstream in(entry.path());
      read[file.substr(0, file.size() - suffix.size())] = Json::parse(in);
    }
    return read;
  }();
  return all;
}

bool is_type(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "number") return value.is_number();
  // A float without a fraction is an integer to JSON Schema.
  return type == "integer" &&
         (value.is_number_integer() || (value.is_number() && value == std::floor(value.get<double>())));
}

class Check {
 public:
  std::vector<std::string> faults;

  explicit Check(const Json& root) : root_(root) {}

  void check(const Json& schema, const Json& value, const std::string& place) {
    if (schema.contains("$ref")) {
      const std::string reference = schema["$ref"].get<std::string>();
      const Json::json_pointer pointer(reference.starts_with("#") ? reference.substr(1) : "/" + reference);
      if (!root_.contains(pointer)) return fault(place, "a reference to " + reference + " that leads nowhere");
      check(root_.at(pointer), value, place);
    }
    if (schema.contains("const") && value != schema["const"])
      fault(place, "expected " + schema["const"].dump() + shown(value));
    if (schema.contains("enum") &&
        std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end())
      fault(place, "expected one of " + schema["enum"].dump() + shown(value));
    if (schema.contains("type")) check_type(schema["type"], value, place);
    if (schema.contains("minimum") && value.is_number() && value < schema["minimum"])
      fault(place, "expected at least " + schema["minimum"].dump() + shown(value));
    if (schema.contains("anyOf")) check_any(schema["anyOf"], value, place);
    if (value.is_object()) check_members(schema, value, place);
    if (value.is_array() && schema.contains("items"))
      for (std::size_t i = 0; i < value.size(); ++i)
        check(schema["items"], value[i], place + "[" + std::to_string(i) + "]");
  }

 private:
  void fault(const std::string& place, const std::string& what) {
    faults.push_back((place.empty() ? "document" : place) + ": " + what);
  }
  static std::string shown(const Json& value) { return ", found " + value.dump().substr(0, 80); }

  void check_type(const Json& types, const Json& value, const std::string& place) {
    const auto fits = [&](const Json& type) { return is_type(value, type.get<std::string>()); };
    if (types.is_string() ? !fits(types) : std::none_of(types.begin(), types.end(), fits))
      fault(place, "expected " + types.dump() + shown(value));
  }

  // The alternative that fits best tells what is wrong: the one that gets furthest.
  void check_any(const Json& alternatives, const Json& value, const std::string& place) {
    std::vector<std::string> fewest;
    for (const Json& each : alternatives) {
      Check alternative(root_);
      alternative.check(each, value, place);
      if (alternative.faults.empty()) return;
      if (fewest.empty() || alternative.faults.size() < fewest.size()) fewest = alternative.faults;
    }
    faults.insert(faults.end(), fewest.begin(), fewest.end());
  }

  void check_members(const Json& schema, const Json& value, const std::string& place) {
    for (const Json& name : schema.value("required", Json::array()))
      if (!value.contains(name.get<std::string>())) fault(place, "no '" + name.get<std::string>() + "'");
    const Json properties = schema.value("properties", Json::object());
    const Json patterns = schema.value("patternProperties", Json::object());
    for (const auto& [name, member] : value.items()) {
      const std::string at = place.empty() ? name : place + "." + name;
      if (properties.contains(name)) {
        check(properties[name], member, at);
        continue;
      }
      bool known = false;
      for (const auto& [pattern, of_pattern] : patterns.items()) {
        if (!std::regex_search(name, std::regex(pattern))) continue;
        known = true;
        check(of_pattern, member, at);
      }
      if (known || !schema.contains("additionalProperties")) continue;
      const Json& more = schema["additionalProperties"];
      if (more == false)
        fault(place, "'" + name + "' is in no schema");
      else
        check(more, member, at);
    }
  }

  const Json& root_;
};

void collect_unknown(const Json& schema, std::set<std::string>& unknown) {
  static const std::set<std::string> known = {
      "$schema", "$id",     "$ref",  "$defs", "title",      "description",       "type",     "const",
      "enum",    "minimum", "anyOf", "items", "properties", "patternProperties", "required", "additionalProperties"};
  for (const auto& [name, value] : schema.items()) {
    if (known.count(name) == 0) unknown.insert(name);
    if (name == "$defs" || name == "properties" || name == "patternProperties")
      for (const auto& [key, each] : value.items()) collect_unknown(each, unknown);
    if (name == "items" || (name == "additionalProperties" && value.is_object())) collect_unknown(value, unknown);
    if (name == "anyOf")
      for (const Json& each : value) collect_unknown(each, unknown);
  }
}

}  // namespace

std::vector<std::string> schema_faults(const std::string& name, const Json& document) {
  const auto schema = all_schemas().find(name);
  if (schema == all_schemas().end()) return {"no schema '" + name + "' in docs/schemas"};
  Check check(schema->second);
  check.check(schema->second, document, "");
  return check.faults;
}

std::vector<std::string> schema_faults(const std::string& name, const std::string& document) {
  const Json parsed = Json::parse(document, nullptr, false);
  if (parsed.is_discarded()) return {"no JSON: " + document.substr(0, 200)};
  return schema_faults(name, parsed);
}

std::vector<std::string> schema_names() {
  std::vector<std::string> names;
  for (const auto& [name, schema] : all_schemas()) names.push_back(name);
  return names;
}

std::vector<std::string> unknown_keywords(const std::string& name) {
  std::set<std::string> unknown;
  collect_unknown(all_schemas().at(name), unknown);
  return {unknown.begin(), unknown.end()};
}

std::string schema_of(const Json& document) {
  const std::string text = document.is_object() ? document.value("schema", "") : "";
  const std::size_t slash = text.find('/');
  return text.rfind("hone.", 0) == 0 && slash != std::string::npos ? text.substr(5, slash - 5) : "";
}

}  // namespace hone::test
