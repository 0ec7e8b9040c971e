// Recursive descent with the operators' levels as a table, weakest first.
#include "repository/document/expression_parser.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"

namespace hone::repository {

namespace {

using Term = Expression::Term;

constexpr std::size_t kLongestText = 2000, kMostTerms = 500;
constexpr int kDeepest = 50;

struct Function {
  const char* name;
  std::size_t least, most;  // arguments
};
constexpr Function kFunctions[] = {{"min", 2, 8},          {"max", 2, 8},  {"ceil_div", 2, 2}, {"round_up", 2, 2},
                                   {"power_of_two", 1, 1}, {"log2", 1, 1}, {"sqrt", 1, 1}};

// Each level binds tighter than the one before; longer words stand before their beginnings.
const std::vector<std::vector<std::string>>& levels() {
  static const std::vector<std::vector<std::string>> all = {
      {"||"}, {"&&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/", "%"}};
  return all;
}

class Parser {
 public:
  Parser(const std::string& text, const Origin& origin) : text_(text), origin_(origin) {}

  base::Result<std::vector<Term>> run() {
    if (text_.size() > kLongestText)
      return error_at(text_.substr(0, 40) + "...", origin_, 0,
                      fmt::format("an expression of at most {} characters", kLongestText),
                      fmt::format("{}", text_.size()), "split it with a derived size");
    choice();
    skip_space();
    if (!error_ && at_ < text_.size()) fail(at_, "the end of the expression, or an operator", here());
    if (error_) return *error_;
    return std::move(terms_);
  }

 private:
  void fail(std::size_t offset, std::string expected, std::string found, std::string remedy = "") {
    if (!error_)
      error_ = error_at(text_, origin_, offset, std::move(expected), std::move(found),
                        remedy.empty() ? "correct the expression there" : std::move(remedy));
  }

  std::string here() const {
    if (at_ >= text_.size()) return "the end of '" + text_ + "'";
    return "'" + text_.substr(at_, 12) + "'";
  }

  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  bool take(const std::string& word) {
    skip_space();
    if (text_.compare(at_, word.size(), word) != 0) return false;
    at_ += word.size();
    return true;
  }

  int keep(Term term) {
    if (terms_.size() >= kMostTerms)
      fail(term.offset, fmt::format("at most {} terms", kMostTerms), "more", "split it with a derived size");
    terms_.push_back(std::move(term));
    return static_cast<int>(terms_.size()) - 1;
  }

  int choice() {
    if (++depth_ > kDeepest) fail(at_, fmt::format("at most {} levels of parentheses", kDeepest), "more");
    if (error_) return 0;
    int value = level(0);
    skip_space();
    Term term;
    term.offset = at_;
    if (!error_ && take("?")) {
      const int yes = choice();
      if (!error_ && !take(":")) fail(at_, "':' of 'a ? b : c'", here());
      const int no = error_ ? 0 : choice();
      term.kind = Term::Kind::choose;
      term.operands = {value, yes, no};
      value = keep(std::move(term));
    }
    --depth_;
    return value;
  }

  int level(std::size_t index) {
    if (index == levels().size()) return unary();
    int left = level(index + 1);
    while (!error_) {
      skip_space();
      const std::size_t offset = at_;
      const auto& words = levels()[index];
      const auto word = std::find_if(words.begin(), words.end(), [&](const std::string& w) { return take(w); });
      if (word == words.end()) return left;
      Term term;
      term.kind = Term::Kind::binary;
      term.word = *word;
      term.offset = offset;
      const int right = level(index + 1);
      term.operands = {left, right};
      left = keep(std::move(term));
    }
    return left;
  }

  int unary() {
    skip_space();
    Term term;
    term.offset = at_;
    const bool negated = take("-");
    if (!negated && !(text_.compare(at_, 2, "!=") != 0 && take("!"))) return primary();
    if (++depth_ > kDeepest) fail(at_, fmt::format("at most {} levels of parentheses", kDeepest), "more");
    if (error_) return 0;
    term.kind = negated ? Term::Kind::negate : Term::Kind::truth_not;
    term.operands = {unary()};
    --depth_;
    return keep(std::move(term));
  }

  int primary() {
    skip_space();
    if (take("(")) {
      const int value = choice();
      if (!error_ && !take(")")) fail(at_, "')'", here());
      return value;
    }
    const char first = at_ < text_.size() ? text_[at_] : '\0';
    if (std::isdigit(static_cast<unsigned char>(first)) || first == '.') return number();
    if (std::isalpha(static_cast<unsigned char>(first)) || first == '_') return name();
    fail(at_, "a number, a name or '('", here());
    return 0;
  }

  int number() {
    Term term;
    term.offset = at_;
    const char* const begin = text_.data() + at_;
    const char* const end = text_.data() + text_.size();
    const auto [whole_end, whole_error] = std::from_chars(begin, end, term.whole);
    const bool fraction = whole_end != end && (*whole_end == '.' || *whole_end == 'e' || *whole_end == 'E');
    if (whole_error == std::errc() && !fraction) {
      at_ += static_cast<std::size_t>(whole_end - begin);
    } else {
      const auto [real_end, real_error] = std::from_chars(begin, end, term.real);
      if (real_error != std::errc() || real_end == begin || !std::isfinite(term.real)) {
        fail(at_, "a number", here());
        return 0;
      }
      term.kind = Term::Kind::real;
      at_ += static_cast<std::size_t>(real_end - begin);
    }
    return keep(std::move(term));
  }

  int name() {
    Term term;
    term.offset = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      term.word += text_[at_++];
    if (!take("(")) {
      term.kind = Term::Kind::name;
      return keep(std::move(term));
    }
    term.kind = Term::Kind::call;
    const auto* known = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                     [&](const Function& f) { return term.word == f.name; });
    if (known == std::end(kFunctions)) {
      std::vector<std::string> names;
      for (const Function& function : kFunctions) names.emplace_back(function.name);
      fail(term.offset, "a function: " + base::join_text(names, ", "), "'" + term.word + "'",
           nearest_remedy(term.word, names));
      return 0;
    }
    do term.operands.push_back(choice());
    while (!error_ && take(","));
    if (!error_ && !take(")")) fail(at_, "')' behind the arguments of " + term.word, here());
    if (!error_ && (term.operands.size() < known->least || term.operands.size() > known->most))
      fail(term.offset, fmt::format("{} to {} arguments of {}", known->least, known->most, term.word),
           std::to_string(term.operands.size()));
    return keep(std::move(term));
  }

  const std::string& text_;
  const Origin& origin_;
  std::vector<Term> terms_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::optional<base::Error> error_;
};

}  // namespace

base::Result<std::vector<Expression::Term>> parse_terms(const std::string& text, const Origin& origin) {
  return Parser(text, origin).run();
}

base::Error error_at(const std::string& text, const Origin& origin, std::size_t offset, std::string expected,
                     std::string found, std::string remedy) {
  Place place = origin.place;
  for (std::size_t i = 0; i < std::min(offset, text.size()); ++i) {
    if (text[i] == '\n') {
      ++place.line;
      place.column = 1;
    } else if ((static_cast<unsigned char>(text[i]) & 0xc0u) != 0x80u) {  // columns count characters, not bytes
      ++place.column;
    }
  }
  if (!origin.key.empty()) found += " in " + origin.key;
  if (remedy.empty()) remedy = "correct the expression there";
  return {base::ErrorKind::usage, std::move(expected), std::move(found), at(origin.file, place), std::move(remedy)};
}

std::string nearest_remedy(const std::string& name, const std::vector<std::string>& known) {
  const std::vector<std::string> near = base::nearest(name, known);
  if (!near.empty()) return "did you mean " + base::join_text(near, " or ") + "?";
  return known.empty() ? "leave it out" : "use one of: " + base::join_text(known, ", ");
}

}  // namespace hone::repository
