// Expressions of a description: sizes, grids, bytes and constraints as texts over named integers.
//
// The same text has two readings. As integers it is computed in 64 bits with every overflow an error, and '/' rounds
// towards zero as in C. As real numbers it is computed in double precision, and '/' divides.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "repository/document/document.hpp"

namespace hone::repository {

// Names with their values. A real one has no place in a whole expression.
struct Scope {
  std::map<std::string, std::int64_t> whole;
  std::map<std::string, double> real;
};

// Where an expression stands: the place of its first character, and the key it is the value of.
struct Origin {
  std::string file;
  Place place;
  std::string key;  // "grid of softmax"
};

class Expression {
 public:
  Expression() : Expression(std::int64_t{0}, {}) {}
  Expression(std::int64_t constant, Origin origin);
  Expression(double constant, Origin origin);

  // + - * / %, comparisons, && || !, a ? b : c, parentheses, and the functions min, max, ceil_div, round_up, power_of_two
  // (the next one at or above), log2, sqrt. A usage error names the place inside the text.
  static base::Result<Expression> parse(const std::string& text, const Origin& origin);

  // Errors: an unknown name (with the nearest), an overflow, a division by zero, a real number among whole ones.
  base::Result<std::int64_t> whole(const Scope& scope) const;
  base::Result<double> real(const Scope& scope) const;

  std::vector<std::string> names() const;  // each once, in order
  // A usage error where a name is not among `known`.
  base::Result<void> check_names(const std::vector<std::string>& known) const;
  bool is_constant() const { return names().empty(); }
  const std::string& text() const { return text_; }
  const Origin& origin() const { return origin_; }
  // An error at the expression's first character.
  base::Error error(std::string expected, std::string found, std::string remedy) const;

  struct Term {
    enum class Kind { whole, real, name, call, negate, truth_not, choose, binary };
    Kind kind = Kind::whole;
    std::string word;  // a name, a function or an operator
    std::int64_t whole = 0;
    double real = 0;
    std::vector<int> operands;  // indices of terms before this one
    std::size_t offset = 0;     // in the text
  };

 private:
  std::string text_;
  Origin origin_;
  std::vector<Term> terms_;  // the last one is the whole expression
};

}  // namespace hone::repository
