// One description of a type's fields, from which its JSON is written and read back:
//
//   void fields(auto& archive, of<Stall> auto& stall) {
//     archive.required("reason", stall.reason);
//     archive.optional("pct", stall.pct, As::not_negative);
//   }
//
// A FieldWriter makes members of them, in this order. A FieldReader looks for them: a required one must be there; an optional
// one that is missing or null leaves the value as it is. A field may be a number, a text, a word of a vocabulary, an optional,
// a vector, a map by name, or a type that has fields of its own. Every fault names its place, the first is kept, and nothing
// throws.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/text.hpp"
#include "model/json_value.hpp"
#include "model/values.hpp"

namespace hone::model {

// The second parameter of a description: a value to be read, or a constant one to be written.
template <class Value, class Plain>
concept of = std::same_as<std::remove_const_t<Value>, Plain>;

// What the type of a field does not say.
enum class As {
  plain,
  not_negative,       // a number: one below 0 is refused
  x_value,            // a text, a size or a name: written as a JSON number where that reads back as the same text
  null_if_empty,      // written as null where it equals a new value of its type
  left_out_if_empty,  // not written then
};

Json x_value_json(const std::string& x_value);

// A value as an error shows it: kind and the beginning of its text.
std::string shown(const Json& value);

// A value as it is written.
template <class T>
Json json_of(const T& value, As as = As::plain);

class FieldWriter {
 public:
  static constexpr bool reads = false;

  template <class T>
  void required(std::string name, const T& value, As as = As::plain) {
    bool empty = false;
    if constexpr (std::equality_comparable<T> && std::default_initializable<T>)
      empty = (as == As::null_if_empty || as == As::left_out_if_empty) && value == T{};
    if (!empty || as == As::null_if_empty) object_.add(std::move(name), empty ? Json() : json_of(value, as));
  }
  void optional(std::string name, const auto& value, As as = As::plain) { required(std::move(name), value, as); }
  // An object of fields that are members of the same value.
  void required_object(std::string name, auto describe) {
    FieldWriter inner;
    describe(inner);
    object_.add(std::move(name), inner.take());
  }
  void optional_object(std::string name, auto describe) { required_object(std::move(name), describe); }
  // What follows from other fields is not read back.
  void written(std::string name, Json value) { object_.add(std::move(name), std::move(value)); }
  void check(bool, const auto&...) {}

  Json take() { return std::move(object_); }

 private:
  Json object_ = Json::object();
};

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

class FieldReader {
 public:
  static constexpr bool reads = true;

  // Where a value stands. Its text is made for an error only.
  struct Place {
    const Place* outer;
    std::string_view name;  // of a member; its data is null for an item
    std::size_t item = 0;
  };

  FieldReader(const Json& object, JsonFault& fault, const Place* place = nullptr);

  template <class T>
  void required(std::string_view name, T& value, As as = As::plain) {
    if (const Json* json = find(name)) read(*json, {place_, name}, as, value);
  }
  template <class T>
  void optional(std::string_view name, T& value, As as = As::plain) {
    if (has(name)) required(name, value, as);
  }
  void required_object(std::string_view name, auto describe) {
    const Place place{place_, name};
    if (const Json* json = find(name)) {
      FieldReader inner(*json, *fault_, &place);
      describe(inner);
    }
  }
  void optional_object(std::string_view name, auto describe) {
    if (has(name)) required_object(name, describe);
  }
  void written(std::string_view, const auto&) {}
  // `found`: a function that gives the text.
  void check(bool holds, std::string_view name, const std::string& expected, const auto& found) const {
    if (!holds) refuse(name, expected, found());
  }

  bool has(std::string_view name) const;  // present and not null
  const Json& object() const { return *object_; }
  void refuse(std::string_view name, const std::string& expected, const std::string& found) const;

 private:
  const Json* find(std::string_view name) const;  // a fault where it is missing or null
  void refuse(const Place& place, const std::string& expected, const std::string& found) const;

  void read(const Json& json, const Place& place, As as, std::string& value) const;
  void read(const Json& json, const Place& place, As as, double& value) const;
  void read(const Json& json, const Place& place, As as, bool& value) const;
  void read(const Json& json, const Place& place, As as, int& value) const;  // a count, 0 to 2^31 - 1
  void read(const Json& json, const Place& place, As as, std::int64_t& value) const;
  void read(const Json& json, const Place& place, As as, std::uint64_t& value) const;
  template <class T>
  void read(const Json& json, const Place& place, As as, std::optional<T>& value) const {
    read(json, place, as, value.emplace());
  }
  template <class T>
  void read(const Json& json, const Place& place, As as, std::vector<T>& values) const {
    values.clear();
    if (json.items() == nullptr) return refuse(place, "an array", shown(json));
    values.reserve(json.items()->size());
    for (const Json& item : *json.items()) {
      const Place at{&place, {}, values.size()};
      read(item, at, as, values.emplace_back());
    }
  }
  template <class T>
  void read(const Json& json, const Place& place, As as, std::map<std::string, T>& values) const {
    values.clear();
    if (json.members() == nullptr) return refuse(place, "an object", shown(json));
    for (const auto& [name, value] : *json.members()) read(value, {&place, name}, as, values[name]);
  }
  template <class T>
  void read(const Json& json, const Place& place, As, T& value) const {
    if constexpr (std::is_enum_v<T>) {
      if (json.text() == nullptr) return refuse(place, "a text", shown(json));
      const std::optional<T> known = parse<T>(*json.text());
      if (!known) refuse(place, "one of " + base::join_text({kWords<T>.begin(), kWords<T>.end()}, ", "), shown(json));
      value = known.value_or(value);
    } else {
      FieldReader inner(json, *fault_, &place);
      fields(inner, value);
    }
  }
  const Json* object_;
  const Place* place_;
  JsonFault* fault_;
};

// Of a document, before its other fields.
void schema_field(auto& archive, const std::string& schema) {
  std::string found = schema;
  archive.required("schema", found);
  archive.check(found == schema, "schema", schema, [&] { return "'" + found.substr(0, 80) + "'"; });
}

template <class Document>
Json write_document(const char* schema, const Document& document) {
  FieldWriter writer;
  schema_field(writer, schema);
  fields(writer, document);
  return writer.take();
}

// An error names the field, in `where`.
template <class Document>
base::Result<Document> read_document(const Json& tree, const std::string& schema, const std::string& where,
                                     const std::string& remedy) {
  JsonFault fault;
  FieldReader reader(tree, fault);
  schema_field(reader, schema);
  Document document;
  fields(reader, document);
  if (fault.any()) return fault.error(where, remedy);
  return document;
}

template <class Document>
base::Result<Document> parse_document(const std::string& text, const std::string& schema, const std::string& where,
                                      const std::string& remedy) {
  HONE_TRY(tree, parse_json(text, where, remedy));
  return read_document<Document>(*tree, schema, where, remedy);
}

// How an optional, a vector or a map is written by what it holds.
template <class T>
Json json_of_items(const std::optional<T>& value, As as) {
  return value ? json_of(*value, as) : Json();
}
template <class T>
Json json_of_items(const std::vector<T>& values, As as) {
  return Json::list(values, [&](const T& value) { return json_of(value, as); });
}
template <class T>
Json json_of_items(const std::map<std::string, T>& values, As as) {
  Json object = Json::object();
  for (const auto& [name, value] : values) object.add(name, json_of(value, as));
  return object;
}

template <class T>
Json json_of(const T& value, As as) {
  if constexpr (std::is_enum_v<T>) {
    return word(value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return as == As::x_value ? x_value_json(value) : Json(value);
  } else if constexpr (requires { json_of_items(value, as); }) {
    return json_of_items(value, as);
  } else if constexpr (std::is_convertible_v<const T&, Json>) {
    return value;
  } else {
    FieldWriter writer;
    fields(writer, value);
    return writer.take();
  }
}

}  // namespace hone::model
