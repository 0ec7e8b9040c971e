// Typed reading of a parsed document: every access names its field, the first fault is kept, and nothing throws.
// A reader asks for all its fields in order and looks at the fault once, at the end.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "model/json_value.hpp"
#include "model/values.hpp"

namespace hone::model {

// A value as an error shows it: kind and the beginning of its text.
std::string shown(const Json& value);

// The first fault of a document.
class JsonFault {
 public:
  void note(const std::string& field, const std::string& expected, const std::string& found);
  bool any() const { return any_; }
  base::Error error(const std::string& where, const std::string& remedy) const;

 private:
  bool any_ = false;
  std::string field_, expected_, found_;
};

// One object of the document. A value that is missing or of the wrong kind notes a fault and reads as empty.
class JsonFields {
 public:
  JsonFields(const Json* value, std::string path, JsonFault& fault);

  bool has(const std::string& name) const;  // present and not null
  std::vector<std::string> names() const;   // of the members, in their order
  std::string path_of(const std::string& name) const;

  JsonFields object(const std::string& name) const;                // required
  std::vector<JsonFields> objects(const std::string& name) const;  // required array of objects

  std::string text(const std::string& name) const;                                 // required
  std::string text_or(const std::string& name, const std::string& missing) const;  // null counts as missing
  std::vector<std::string> texts(const std::string& name) const;                   // missing: none
  std::string x_value(const std::string& name = "x_value") const;                  // a number or a text
  std::vector<std::string> x_values(const std::string& name) const;                // missing: none
  double number(const std::string& name) const;                                    // required
  double not_negative(const std::string& name) const;                              // required, >= 0
  double number_or(const std::string& name, double missing) const;
  std::optional<double> optional_number(const std::string& name) const;  // missing or null: nothing
  std::vector<double> numbers(const std::string& name) const;            // missing: none
  std::int64_t integer(const std::string& name) const;                   // required
  std::int64_t integer_or(const std::string& name, std::int64_t missing) const;
  int count_or(const std::string& name, int missing) const;  // 0 to 2^31 - 1
  std::uint64_t seed_or(const std::string& name, std::uint64_t missing) const;
  bool boolean_or(const std::string& name, bool missing) const;
  std::map<std::string, std::int64_t> integers(const std::string& name) const;  // {"BLOCK_ROW": 4}; required
  std::map<std::string, std::string> text_map(const std::string& name) const;   // missing: none
  std::vector<std::pair<std::string, JsonFields>> named_objects(const std::string& name) const;  // missing: none

  // A word of a closed vocabulary.
  template <class Enum>
  Enum word(const std::string& name) const {
    const std::optional<Enum> value = parse<Enum>(text(name));
    return value ? *value : refuse_word<Enum>(name);
  }
  template <class Enum>
  Enum word_or(const std::string& name, Enum missing) const {
    return has(name) ? word<Enum>(name) : missing;
  }

  void refuse(const std::string& name, const std::string& expected, const std::string& found) const;

 private:
  template <class Enum>
  Enum refuse_word(const std::string& name) const {
    const Json* value = find(name);
    if (value == nullptr || value->text() == nullptr) return Enum{};
    std::string words;
    for (int i = 0; parse<Enum>(model::word(static_cast<Enum>(i))) == static_cast<Enum>(i); ++i)
      words += std::string(words.empty() ? "" : ", ") + model::word(static_cast<Enum>(i));
    refuse(name, "one of " + words, shown(*value));
    return Enum{};
  }

  const Json* find(const std::string& name) const;      // a fault where it is missing or null
  const Json* optional(const std::string& name) const;  // nullptr where it is missing or null
  template <class Value>
  Value required(const std::string& name, std::optional<Value> (Json::*read)() const, const char* expected) const;
  template <class Value>
  Value or_missing(const std::string& name, Value missing, std::optional<Value> (Json::*read)() const,
                   const char* expected) const;

  const Json* value_;  // nullptr after a fault: reads as an empty object without further faults
  std::string path_;
  JsonFault* fault_;
};

// x values are sizes or names: written as a JSON number where that reads back as the same text.
Json x_value_json(const std::string& x_value);

}  // namespace hone::model
