#include "source/cpp/condition.hpp"

#include <charconv>

#include "base/text.hpp"
#include "source/cpp/text_scan.hpp"

namespace hone::source {

namespace {

constexpr int kDeepestCondition = 32;     // of parentheses, signs and macros in a condition
constexpr int kMostConditionSteps = 200;  // macros that name macros twice grow without end

class Condition {
 public:
  using Value = std::optional<long long>;

  Condition(const std::string& text, const std::function<NameState(const std::string&)>& state_of, int depth,
            int& steps)
      : text_(text), state_of_(state_of), depth_(depth), steps_(steps) {}

  Value value() {
    const Value found = either();
    skip_space();
    return at_ == text_.size() ? found : std::nullopt;
  }

 private:
  Value either() {
    Value left = both();
    while (take("||")) {
      const Value right = both();
      left = truth(left, right, true);
    }
    return left;
  }

  Value both() {
    Value left = compared();
    while (take("&&")) {
      const Value right = compared();
      left = truth(left, right, false);
    }
    return left;
  }

  // One side alone decides where it has the value that `deciding` names.
  static Value truth(Value left, Value right, bool deciding) {
    if ((left && (*left != 0) == deciding) || (right && (*right != 0) == deciding)) return deciding;
    return left && right ? Value(!deciding) : std::nullopt;
  }

  Value compared() {
    const Value left = single();
    for (const char* sign : {"==", "!=", ">=", "<=", ">", "<"}) {
      if (!take(sign)) continue;
      const Value right = single();
      if (!left || !right) return std::nullopt;
      const std::string_view word(sign);
      if (word == "==") return *left == *right;
      if (word == "!=") return *left != *right;
      if (word == ">=") return *left >= *right;
      if (word == "<=") return *left <= *right;
      return word == ">" ? *left > *right : *left < *right;
    }
    return left;
  }

  Value single() {
    if (++depth_ > kDeepestCondition || ++steps_ > kMostConditionSteps) return std::nullopt;
    const Value found = unguarded();
    --depth_;
    return found;
  }

  Value unguarded() {
    skip_space();
    if (at_ < text_.size() && text_[at_] == '!' && text_.compare(at_, 2, "!=") != 0) {
      ++at_;
      const Value inner = single();
      return inner ? Value(*inner == 0) : std::nullopt;
    }
    if (take("(")) {
      const Value inner = either();
      return take(")") ? inner : std::nullopt;
    }
    const std::string word = take_word();
    if (word.empty()) return std::nullopt;
    if (word == "defined") {
      const bool parenthesis = take("(");
      const std::optional<bool> defined = state_of_(take_word()).defined;
      if (parenthesis && !take(")")) return std::nullopt;
      return defined ? Value(*defined) : std::nullopt;
    }
    if (word[0] >= '0' && word[0] <= '9') return integer(word);
    if (word == "true" || word == "false") return word == "true";
    const NameState state = state_of_(word);
    if (state.defined == true) return Condition(state.value, state_of_, depth_, steps_).value();
    return state.defined == false ? Value(0) : std::nullopt;
  }

  static Value integer(std::string word) {
    while (!word.empty() && std::string_view("uUlL").find(word.back()) != std::string_view::npos) word.pop_back();
    const bool hexadecimal = word.size() > 2 && (word[1] == 'x' || word[1] == 'X');
    const bool octal = !hexadecimal && word.size() > 1 && word[0] == '0';
    const char* first = word.data() + (hexadecimal ? 2 : 0);
    long long number = 0;
    const auto [end, error] =
        std::from_chars(first, word.data() + word.size(), number, hexadecimal ? 16 : (octal ? 8 : 10));
    return error == std::errc() && end == word.data() + word.size() ? Value(number) : std::nullopt;
  }

  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(std::string_view sign) {
    skip_space();
    if (text_.compare(at_, sign.size(), sign) != 0) return false;
    at_ += sign.size();
    return true;
  }
  std::string take_word() {
    skip_space();
    const std::size_t start = at_;
    at_ = skip_word(text_, at_);
    return text_.substr(start, at_ - start);
  }

  const std::string& text_;
  const std::function<NameState(const std::string&)>& state_of_;
  int depth_;
  int& steps_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<bool> condition_value(const std::string& condition,
                                    const std::function<NameState(const std::string&)>& state_of) {
  int steps = 0;
  const std::optional<long long> value = Condition(condition, state_of, 0, steps).value();
  return value ? std::optional<bool>(*value != 0) : std::nullopt;
}

}  // namespace hone::source
