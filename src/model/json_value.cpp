#include "model/json_value.hpp"

#include <cassert>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>
#include <unordered_set>

namespace hone::model {

namespace {

constexpr std::size_t line_width = 110;

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Builds the tree from the parser's events, so that the limits hold while the text is read. The library's own parser keeps
// its state on the heap, but its tree would be as deep as the text asks for.
class TreeBuilder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit TreeBuilder(const JsonLimits& limits) : limits_(limits) {}

  bool null() override { return place(Json()); }
  bool boolean(bool value) override { return place(Json(value)); }
  bool number_integer(number_integer_t value) override { return place(Json(static_cast<std::int64_t>(value))); }
  bool number_unsigned(number_unsigned_t value) override { return place(Json(static_cast<std::uint64_t>(value))); }
  bool number_float(number_float_t value, const string_t& written) override {
    if (!std::isfinite(value)) return refuse("the number " + written.substr(0, 40) + ", which is too large");
    return place(Json(value));
  }
  bool string(string_t& value) override { return place(Json(std::move(value))); }
  bool binary(binary_t&) override { return refuse("binary data"); }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    if (!open_.back().names.insert(name).second)
      return refuse("the member \"" + name.substr(0, 80) + "\" twice in one object");
    open_.back().pending = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    // The library words a number beyond double's range as one, and every other fault as a syntax error.
    if (error.id == 406) return refuse("a number too large for a double at byte " + std::to_string(position));
    return refuse("no valid JSON at byte " + std::to_string(position));
  }

  Json take() { return std::move(root_); }
  const std::string& problem() const { return problem_; }

 private:
  struct Open {
    Json value;
    std::string pending;                    // the member name that waits for its value
    std::unordered_set<std::string> names;  // of an object's members so far
  };

  bool refuse(std::string what) {
    problem_ = std::move(what);
    return false;
  }

  bool count() {
    return ++values_ <= limits_.values || refuse("more than " + std::to_string(limits_.values) + " values");
  }

  bool open(Json container) {
    if (open_.size() >= static_cast<std::size_t>(limits_.depth))
      return refuse("values nested deeper than " + std::to_string(limits_.depth));
    open_.push_back({std::move(container), {}, {}});
    return count();
  }

  bool close() {
    Json done = std::move(open_.back().value);
    open_.pop_back();
    attach(std::move(done));
    return true;
  }

  bool place(Json value) {
    if (!count()) return false;
    attach(std::move(value));
    return true;
  }

  void attach(Json value) {
    if (open_.empty())
      root_ = std::move(value);
    else if (open_.back().value.members() != nullptr)
      open_.back().value.add(std::move(open_.back().pending), std::move(value));
    else
      open_.back().value.push(std::move(value));
  }

  JsonLimits limits_;
  std::size_t values_ = 0;
  std::vector<Open> open_;
  Json root_;
  std::string problem_;
};

std::string scalar(const Json& value) {
  if (value.is_null()) return "null";
  if (const bool* boolean = value.boolean()) return *boolean ? "true" : "false";
  if (const std::string* text = value.text()) return quoted(*text);
  if (const auto integer = value.integer()) {
    const double number = *value.number();
    if (number != 0 || !std::signbit(number)) return std::to_string(*integer);
    return "-0.0";
  }
  if (const auto integer = value.unsigned_integer()) return std::to_string(*integer);
  return shortest(*value.number());
}

// One line, or nothing once it is longer than `limit`.
bool append_line(const Json& value, std::size_t limit, std::string& line) {
  const auto* items = value.items();
  const auto* members = value.members();
  if (items == nullptr && members == nullptr) {
    line += scalar(value);
    return line.size() <= limit;
  }
  line += items != nullptr ? '[' : '{';
  const std::size_t count = items != nullptr ? items->size() : members->size();
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) line += ", ";
    if (members != nullptr) line += quoted((*members)[i].name) + ": ";
    if (!append_line(items != nullptr ? (*items)[i] : (*members)[i].value, limit, line)) return false;
  }
  line += items != nullptr ? ']' : '}';
  return line.size() <= limit;
}

bool is_row_of_numbers(const Json& value) {
  const auto* items = value.items();
  if (items == nullptr) return false;
  for (const Json& item : *items)
    if (!item.is_number()) return false;
  return true;
}

void append_block(const Json& value, std::size_t indent, std::string& text) {
  std::string line;
  const std::size_t room = line_width > indent ? line_width - indent : 0;
  const bool unbroken = is_row_of_numbers(value);  // raw samples: a line of their own, however long
  // The document itself is always broken up, one member a line.
  if ((indent > 0 || value.members() == nullptr || value.members()->empty()) &&
      append_line(value, unbroken ? std::numeric_limits<std::size_t>::max() : room, line)) {
    text += line;
    return;
  }
  const auto* items = value.items();
  const auto* members = value.members();
  if (items == nullptr && members == nullptr) {
    text += scalar(value);
    return;
  }
  const std::size_t count = items != nullptr ? items->size() : members->size();
  const std::string margin(indent + 2, ' ');
  text += items != nullptr ? "[\n" : "{\n";
  for (std::size_t i = 0; i < count; ++i) {
    text += margin;
    if (members != nullptr) text += quoted((*members)[i].name) + ": ";
    append_block(items != nullptr ? (*items)[i] : (*members)[i].value, indent + 2, text);
    text += i + 1 < count ? ",\n" : "\n";
  }
  text += std::string(indent, ' ') + (items != nullptr ? ']' : '}');
}

}  // namespace

Json::Json(double value) {
  if (std::isfinite(value)) state_ = value;
}

Json Json::array(std::vector<Json> items) {
  Json value;
  value.state_ = std::move(items);
  return value;
}

Json Json::object(std::initializer_list<std::pair<std::string, Json>> members) {
  Json value;
  Object& object = value.state_.emplace<Object>();
  object.reserve(members.size());
  for (const auto& [name, member] : members) object.push_back({name, member});
  return value;
}

bool Json::is_number() const { return number().has_value(); }

std::optional<double> Json::number() const {
  if (const auto* value = std::get_if<double>(&state_)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&state_)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<std::uint64_t>(&state_)) return static_cast<double>(*value);
  return std::nullopt;
}

std::optional<std::int64_t> Json::integer() const {
  if (const auto* value = std::get_if<std::int64_t>(&state_)) return *value;
  if (const auto* value = std::get_if<std::uint64_t>(&state_)) {
    if (*value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return static_cast<std::int64_t>(*value);
    return std::nullopt;
  }
  const auto* value = std::get_if<double>(&state_);
  // 2^53: beyond it a double no longer tells neighbouring integers apart.
  constexpr double exact = 9007199254740992.0;
  if (value == nullptr || std::trunc(*value) != *value || std::fabs(*value) > exact) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::optional<std::uint64_t> Json::unsigned_integer() const {
  if (const auto* value = std::get_if<std::uint64_t>(&state_)) return *value;
  const auto value = integer();
  if (!value || *value < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

const Json* Json::find(std::string_view name) const {
  const Object* object = members();
  if (object == nullptr) return nullptr;
  for (const Member& member : *object)
    if (member.name == name) return &member.value;
  return nullptr;
}

void Json::add(std::string name, Json value) {
  assert(members() != nullptr);
  std::get<Object>(state_).push_back({std::move(name), std::move(value)});
}

void Json::push(Json item) {
  assert(items() != nullptr);
  std::get<Array>(state_).push_back(std::move(item));
}

void Json::set(std::string name, Json value) {
  for (Member& member : std::get<Object>(state_))
    if (member.name == name) return void(member.value = std::move(value));
  add(std::move(name), std::move(value));
}

std::string Json::dump() const {
  std::string text;
  append_block(*this, 0, text);
  return text + "\n";
}

std::string Json::dump_line() const {
  std::string line;
  append_line(*this, std::numeric_limits<std::size_t>::max(), line);
  return line;
}

template <class Library>
Library Json::to_library() const {
  return std::visit(
      [](const auto& held) -> Library {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, Array>) {
          Library made = Library::array();
          for (const Json& item : held) made.push_back(item.to_library<Library>());
          return made;
        } else if constexpr (std::is_same_v<Held, Object>) {
          Library made = Library::object();
          for (const Member& member : held) made[member.name] = member.value.to_library<Library>();
          return made;
        } else {
          return held;
        }
      },
      state_);
}

std::string Json::dump_plain(int indent, Keys keys) const {
  constexpr auto replace = nlohmann::json::error_handler_t::replace;  // compiler messages may hold any bytes
  return keys == Keys::sorted ? to_library<nlohmann::json>().dump(indent, ' ', false, replace)
                              : to_library<nlohmann::ordered_json>().dump(indent, ' ', false, replace);
}

base::Result<Json> parse_json(const std::string& text, const std::string& where, const std::string& remedy,
                              const JsonLimits& limits) {
  const auto refuse = [&](const std::string& found) {
    return base::Error{base::ErrorKind::preflight, "one JSON document", found, where, remedy};
  };
  if (text.size() > limits.bytes)
    return refuse(std::to_string(text.size()) + " bytes, more than the limit of " + std::to_string(limits.bytes));
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return refuse("an empty file");
  TreeBuilder builder(limits);
  const bool complete = nlohmann::json::sax_parse(text, &builder);
  if (!complete) return refuse(builder.problem().empty() ? "no valid JSON" : builder.problem());
  return builder.take();
}

std::string shortest(double value) {
  char buffer[64];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return error == std::errc() ? std::string(buffer, end) : std::string("0");
}

}  // namespace hone::model
