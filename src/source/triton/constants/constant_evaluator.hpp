// Evaluates the part of Python in which lists of autotune configurations are written: literals, arithmetic,
// comparisons, lists and comprehensions, `for`, `if`, `append`, `return`, and calls of such functions. Anything else is
// unknown.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "source/triton/module/module_set.hpp"

namespace hone::source {

struct Value {
  enum class Kind { unknown, none, boolean, integer, text, list, dictionary, config };
  Kind kind = Kind::unknown;
  long long number = 0;  // of an integer; 0 or 1 of a boolean
  std::string text;
  std::shared_ptr<std::vector<Value>> items;  // of a list
  std::shared_ptr<std::vector<std::pair<std::string, Value>>>
      fields;  // of a dictionary, or of a configuration with its options

  bool known() const { return kind != Kind::unknown; }
};

std::string shown(const Value& value);

// The outcomes of a function or expression. More than one where a condition depends on the environment: `otherwise` is
// the outcome where that condition holds, e.g. a switch that turns autotuning off.
struct Outcomes {
  Value usual;
  std::optional<Value> otherwise;
};

Outcomes evaluate(ModuleSet& modules, const Module& module, Node expression);

}  // namespace hone::source
