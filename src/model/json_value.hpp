// A JSON document as a plain ordered tree: members keep the order they are written in, numbers keep their exact value.
// It stands between the documents and the JSON library, so that one translation unit pays for the library, and so that
// text from outside is bounded: depth, size and repeated names are refused while parsing, never met later.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"

namespace hone::model {

// A template, so that it is completed only where Json is: a vector of a class still incomplete may not be destroyed.
template <class Value>
struct JsonMember {
  std::string name;
  Value value;
};

class Json {
 public:
  using Member = JsonMember<Json>;
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;

  Json() = default;  // null
  Json(std::nullptr_t) {}
  Json(bool value) : state_(value) {}
  Json(std::signed_integral auto value) : state_(static_cast<std::int64_t>(value)) {}
  Json(std::unsigned_integral auto value) : state_(static_cast<std::uint64_t>(value)) {}
  Json(double value);  // null where the value is not finite: JSON has no word for it
  Json(const char* value) : state_(std::string(value)) {}
  Json(std::string value) : state_(std::move(value)) {}
  template <std::convertible_to<Json> T>
  Json(const std::optional<T>& value) : Json(value ? Json(*value) : Json()) {}
  template <std::convertible_to<Json> T>
  Json(const std::vector<T>& items) : state_(Array(items.begin(), items.end())) {}
  template <std::convertible_to<Json> T>
  Json(const std::map<std::string, T>& members) : Json(object()) {
    for (const auto& [name, value] : members) add(name, value);
  }

  static Json array(std::vector<Json> items = {});
  static Json object(std::initializer_list<std::pair<std::string, Json>> members = {});
  // One item of the array for each element of a container.
  template <class Container, class Function>
  static Json list(const Container& container, Function to_item) {
    std::vector<Json> items;
    items.reserve(container.size());
    for (const auto& element : container) items.push_back(to_item(element));
    return array(std::move(items));
  }

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(state_); }
  bool is_number() const;
  const bool* boolean() const { return std::get_if<bool>(&state_); }
  const std::string* text() const { return std::get_if<std::string>(&state_); }
  const Array* items() const { return std::get_if<Array>(&state_); }
  const Object* members() const { return std::get_if<Object>(&state_); }
  std::optional<double> number() const;         // any number
  std::optional<std::int64_t> integer() const;  // a number that is whole and fits
  std::optional<std::uint64_t> unsigned_integer() const;

  const Json* find(std::string_view name) const;  // a member of an object; nullptr where there is none
  void add(std::string name, Json value);         // precondition: an object without that member
  void set(std::string name, Json value);         // precondition: an object; the last value of a name stands
  void push(Json item);                           // precondition: an array

  // Two spaces of indent; what fits into 110 columns stays on one line, so that a table has a line for each row.
  std::string dump() const;
  std::string dump_line() const;  // the whole document on one line
  // Each value on a line of its own, or all on one where there is no indent. A double keeps its point ("4.0"), by which
  // Python tells a float from an int.
  enum class Keys { as_written, sorted };
  std::string dump_plain(int indent = -1, Keys keys = Keys::sorted) const;

 private:
  template <class Library>
  Library to_library() const;

  std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object> state_ = nullptr;
};

// Limits of a document that comes from outside.
struct JsonLimits {
  std::size_t bytes = std::size_t{64} << 20;
  std::size_t values = 4'000'000;
  int depth = 64;
};

// The document, or what is wrong and at which byte. Refuses what is over the limits, numbers that do not fit a double,
// repeated member names, and anything after the document's end. `where` names the file; `remedy` ends the error.
base::Result<Json> parse_json(const std::string& text, const std::string& where, const std::string& remedy,
                              const JsonLimits& limits = {});

// The shortest text that reads back as exactly this number ("4096", "0.1", "1e+300").
std::string shortest(double value);

}  // namespace hone::model
