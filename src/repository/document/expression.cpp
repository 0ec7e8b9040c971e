// Evaluation. Parsing is in expression_parser.cpp.
#include "repository/document/expression.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"
#include "repository/document/expression_parser.hpp"

namespace hone::repository {

namespace {

using Term = Expression::Term;

// One reading of an expression. Number is std::int64_t or double.
template <class Number>
class Evaluation {
 public:
  Evaluation(const std::vector<Term>& terms, const std::string& text, const Origin& origin, const Scope& scope)
      : terms_(terms), text_(text), origin_(origin), scope_(scope) {}

  base::Result<Number> run() {
    const Number value = value_of(static_cast<int>(terms_.size()) - 1);
    if (error_) return *error_;
    if constexpr (std::is_same_v<Number, double>) {
      if (!std::isfinite(value)) return error_at(text_, origin_, 0, "a finite value", fmt::format("{}", value), "");
    }
    return value;
  }

 private:
  static constexpr bool kWhole = std::is_same_v<Number, std::int64_t>;

  Number fail(const Term& term, std::string expected, std::string found, std::string remedy) {
    if (!error_)
      error_ = error_at(text_, origin_, term.offset, std::move(expected), std::move(found), std::move(remedy));
    return Number{};
  }

  Number overflow(const Term& term) {
    return fail(term, "a value that fits in 64 bits", "'" + text_ + "' is larger", "use smaller sizes");
  }

  Number value_of(int index) {
    if (error_) return Number{};
    const Term& term = terms_[static_cast<std::size_t>(index)];
    switch (term.kind) {
      case Term::Kind::whole: return static_cast<Number>(term.whole);
      case Term::Kind::real:
        if constexpr (kWhole)
          return fail(term, "an integer", fmt::format("{}", term.real), "write it without a fraction");
        else
          return term.real;
      case Term::Kind::name: return value_of_name(term);
      case Term::Kind::call: return call(term);
      case Term::Kind::negate: return subtract(term, Number{}, value_of(term.operands[0]));
      case Term::Kind::truth_not: return value_of(term.operands[0]) == Number{} ? Number{1} : Number{};
      case Term::Kind::choose:
        return value_of(term.operands[0]) != Number{} ? value_of(term.operands[1]) : value_of(term.operands[2]);
      case Term::Kind::binary: return binary(term);
    }
    return Number{};
  }

  Number value_of_name(const Term& term) {
    if (const auto found = scope_.whole.find(term.word); found != scope_.whole.end())
      return static_cast<Number>(found->second);
    if (const auto found = scope_.real.find(term.word); found != scope_.real.end()) {
      if constexpr (kWhole)
        return fail(term, "an integer", "'" + term.word + "', which is a real one", "use sizes and knobs here");
      else
        return found->second;
    }
    std::vector<std::string> names;
    for (const auto& [name, value] : scope_.whole) names.push_back(name);
    if (!kWhole)
      for (const auto& [name, value] : scope_.real) names.push_back(name);
    return fail(term, "a name that is known here: " + base::join_text(names, ", "), "'" + term.word + "'",
                nearest_remedy(term.word, names));
  }

  Number subtract(const Term& term, Number a, Number b) {
    if constexpr (kWhole) {
      Number result;
      return __builtin_sub_overflow(a, b, &result) ? overflow(term) : result;
    } else {
      return a - b;
    }
  }
  Number add(const Term& term, Number a, Number b) {
    if constexpr (kWhole) {
      Number result;
      return __builtin_add_overflow(a, b, &result) ? overflow(term) : result;
    } else {
      return a + b;
    }
  }
  Number multiply(const Term& term, Number a, Number b) {
    if constexpr (kWhole) {
      Number result;
      return __builtin_mul_overflow(a, b, &result) ? overflow(term) : result;
    } else {
      return a * b;
    }
  }
  // The quotient, or the rest.
  Number divide(const Term& term, Number a, Number b, bool rest = false) {
    if (error_) return Number{};
    if (b == Number{}) return fail(term, "a divisor that is not zero", "'" + text_ + "' divides by zero", "");
    if constexpr (kWhole) {
      if (a == std::numeric_limits<Number>::min() && b == -1) return rest ? 0 : overflow(term);
      return rest ? a % b : a / b;
    } else {
      return rest ? std::fmod(a, b) : a / b;
    }
  }

  Number binary(const Term& term) {
    const std::string& op = term.word;
    const Number a = value_of(term.operands[0]);
    // The second operand may be there because the first guards it.
    if (op == "&&") return a != Number{} && value_of(term.operands[1]) != Number{} ? Number{1} : Number{};
    if (op == "||") return a != Number{} || value_of(term.operands[1]) != Number{} ? Number{1} : Number{};
    const Number b = value_of(term.operands[1]);
    if (op == "+") return add(term, a, b);
    if (op == "-") return subtract(term, a, b);
    if (op == "*") return multiply(term, a, b);
    if (op == "/") return divide(term, a, b);
    if (op == "%") return divide(term, a, b, true);
    const bool holds = op == "=="   ? a == b
                       : op == "!=" ? a != b
                       : op == "<"  ? a < b
                       : op == "<=" ? a <= b
                       : op == ">"  ? a > b
                                    : a >= b;
    return holds ? Number{1} : Number{};
  }

  Number call(const Term& term) {
    std::vector<Number> values;
    for (const int operand : term.operands) values.push_back(value_of(operand));
    if (error_) return Number{};
    if (term.word == "min") return *std::min_element(values.begin(), values.end());
    if (term.word == "max") return *std::max_element(values.begin(), values.end());
    if (term.word == "ceil_div") return ceil_div(term, values[0], values[1]);
    if (term.word == "round_up") return multiply(term, ceil_div(term, values[0], values[1]), values[1]);
    if (term.word == "power_of_two") return power_of_two(term, values[0]);
    if constexpr (kWhole) {
      return fail(term, "a function of integers", "'" + term.word + "'",
                  "use it in 'flops', 'bytes_read', 'bytes_written' or 'tolerance'");
    } else {
      if (!(values[0] > 0 || (term.word == "sqrt" && values[0] == 0)))
        return fail(term, "a positive number in " + term.word, fmt::format("{}", values[0]), "");
      return term.word == "sqrt" ? std::sqrt(values[0]) : std::log2(values[0]);
    }
  }

  Number ceil_div(const Term& term, Number a, Number b) {
    if (!(b > Number{})) return fail(term, "a divisor above zero in " + term.word, fmt::format("{}", b), "");
    if constexpr (kWhole)
      return a / b + (a % b > 0 ? 1 : 0);
    else
      return std::ceil(a / b);
  }

  Number power_of_two(const Term& term, Number value) {
    if (!(value <= Number{std::int64_t{1} << 62})) return overflow(term);
    Number power{1};
    while (power < value) power *= 2;
    return power;
  }

  const std::vector<Term>& terms_;
  const std::string& text_;
  const Origin& origin_;
  const Scope& scope_;
  std::optional<base::Error> error_;
};

}  // namespace

Expression::Expression(std::int64_t constant, Origin origin)
    : text_(std::to_string(constant)), origin_(std::move(origin)) {
  Term term;
  term.whole = constant;
  terms_.push_back(term);
}

Expression::Expression(double constant, Origin origin)
    : text_(fmt::format("{}", constant)), origin_(std::move(origin)) {
  Term term;
  term.kind = Term::Kind::real;
  term.real = constant;
  terms_.push_back(term);
}

base::Result<Expression> Expression::parse(const std::string& text, const Origin& origin) {
  HONE_TRY(terms, parse_terms(text, origin));
  Expression expression;
  expression.text_ = text;
  expression.origin_ = origin;
  expression.terms_ = std::move(*terms);
  return expression;
}

base::Result<std::int64_t> Expression::whole(const Scope& scope) const {
  return Evaluation<std::int64_t>(terms_, text_, origin_, scope).run();
}

base::Result<double> Expression::real(const Scope& scope) const {
  return Evaluation<double>(terms_, text_, origin_, scope).run();
}

std::vector<std::string> Expression::names() const {
  std::vector<std::string> names;
  for (const Term& term : terms_)
    if (term.kind == Term::Kind::name && std::find(names.begin(), names.end(), term.word) == names.end())
      names.push_back(term.word);
  return names;
}

base::Result<void> Expression::check_names(const std::vector<std::string>& known) const {
  for (const Term& term : terms_)
    if (term.kind == Term::Kind::name && std::find(known.begin(), known.end(), term.word) == known.end())
      return error_at(text_, origin_, term.offset,
                      known.empty() ? "no names here" : "a name that is known here: " + base::join_text(known, ", "),
                      "'" + term.word + "'", nearest_remedy(term.word, known));
  return {};
}

base::Error Expression::error(std::string expected, std::string found, std::string remedy) const {
  return error_at(text_, origin_, 0, std::move(expected), std::move(found), std::move(remedy));
}

}  // namespace hone::repository
