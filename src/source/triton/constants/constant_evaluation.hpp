// The evaluator behind evaluate(): one class, its methods by topic in constant_expressions, constant_calls and
// constant_statements. Lists are never shared with themselves, and the steps of one evaluation are bounded.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "source/triton/constants/constant_evaluator.hpp"
#include "source/triton/module/python.hpp"

namespace hone::source {

namespace constants {

inline constexpr int kDeepestCall = 12;
inline constexpr int kMostSteps = 200'000;  // of loops and expressions together
inline constexpr std::size_t kMostItems = 20'000;

Value integer(long long number);
Value boolean(bool truth);
Value list_of(std::vector<Value> items);
bool is_number(const Value& value);
std::optional<bool> truth(const Value& value);

}  // namespace constants

using Variables = std::map<std::string, Value>;

class Evaluator {
 public:
  explicit Evaluator(ModuleSet& modules) : modules_(modules) {}

  Value expression(const Module& module, int scope, Node node, Variables& variables, int depth);
  std::optional<Value> take_alternative() {
    auto taken = std::move(alternative_);
    alternative_.reset();
    return taken;
  }

 private:
  enum class Flow { next, returned, broken, continued, lost };

  Value call(const Module& module, int scope, Node node, Variables& variables, int depth);
  Value run_function(const FunctionRef& function, const Arguments& arguments, const Module& module, int scope,
                     Variables& variables, int depth);
  Value make_config(const Module& module, int scope, Node node, Variables& variables, int depth);
  Value comprehension(const Module& module, int scope, Node node, Variables& variables, int depth);
  void comprehend(const Module& module, int scope, const std::vector<Node>& clauses, std::size_t at, Node body,
                  Variables& variables, std::vector<Value>& items, bool& lost, int depth);
  Value binary(const Module& module, int scope, Node node, Variables& variables, int depth);
  Value comparison(const Module& module, int scope, Node node, Variables& variables, int depth);
  Flow block(const Module& module, int scope, Node body, Variables& variables, Value& result, int depth);
  Flow statement(const Module& module, int scope, Node node, Variables& variables, Value& result, int depth);
  Flow branch(const Module& module, int scope, Node node, Variables& variables, Value& result, int depth);
  bool append(Value& list, const std::vector<Value>& more);
  bool bind(Node target, const Value& value, Variables& variables);
  bool depends_on_environment(const Module& module, Node condition);

  ModuleSet& modules_;
  int steps_ = 0;
  std::optional<Value> alternative_;
};

}  // namespace hone::source
