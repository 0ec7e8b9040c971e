#include "source/triton/launch/setting_source.hpp"

#include <algorithm>

#include "source/triton/constants/constant_evaluator.hpp"
#include "source/triton/module/python.hpp"
#include "source/triton/module/reaching.hpp"

namespace hone::source {

namespace {

constexpr int kDeepestSetting = 40;
constexpr int kMostSettingSteps = 4000;             // of one setting
constexpr long long kLargestSettingsBlock = 65536;  // liger_kernel.ops.utils.calculate_settings: MAX_FUSED_SIZE

std::string at_line(Node node) { return "line " + std::to_string(node.line()); }

// A wrapper such as `def next_pow2(n): return triton.next_power_of_2(n)`: another name, no policy of its own.
bool is_power_of_2_alias(const FunctionRef& function) {
  Node only;
  int statements = 0;
  for (Node child : function->body.children()) {
    if (child.is(Kind::expression_statement) && child.first_named_child().is(Kind::string)) continue;
    only = child;
    ++statements;
  }
  if (statements != 1 || !only.is(Kind::return_statement)) return false;
  const Node value = strip_parentheses(only.first_named_child());
  if (!value.is(Kind::call)) return false;
  const std::string callee = function.module->canonical(value.child(Field::function));
  const Arguments arguments = arguments_of(value);
  return callee.rfind("triton.", 0) == 0 && callee.size() > 15 &&
         callee.compare(callee.size() - 15, 15, "next_power_of_2") == 0 && arguments.positional.size() == 1 &&
         arguments.positional[0].is(Kind::identifier);
}

}  // namespace

bool is_autograd_class(const Module& module, const Class& candidate) {
  for (const Node& base : candidate.bases) {
    const std::string name = module.canonical(base);
    if (name == "torch.autograd.Function" || name == "torch.autograd.function.Function" ||
        name == "autograd.Function" || name == "torch.autograd.function.InplaceFunction") {
      return true;
    }
  }
  return false;
}

std::vector<FunctionRef> launched_kernels(ModuleSet& modules, const Module& module, Node call, int scope) {
  const Node callee = strip_parentheses(call.child(Field::function));
  if (!callee.is(Kind::subscript)) return {};
  std::vector<FunctionRef> kernels;
  for (const FunctionRef& ref : modules.functions_named(module, callee.child(Field::value), scope)) {
    if (is_jit(*ref.module, *ref)) kernels.push_back(ref);
  }
  return kernels;
}

bool launches_kernels(ModuleSet& modules, const FunctionRef& function) {
  for (Node call : function.module->calls(function.index)) {
    if (!launched_kernels(modules, *function.module, call, function.index).empty()) return true;
  }
  return false;
}

Origin OriginFinder::find(const Module& module, int scope, Node node) {
  steps_ = 0;
  return expression(module, scope, node, 0);
}

// Several values met in one: a policy word outweighs plain numbers.
Origin OriginFinder::combined(const std::vector<Origin>& parts) const {
  static const char* order[] = {kFromCalculateSettings, kFromNextPowerOf2, kFromAutotune, kFromHelper,
                                kConditional,           kFromCaller};
  if (!parts.empty() &&
      std::all_of(parts.begin(), parts.end(), [](const Origin& part) { return part.source == kHardCoded; })) {
    return {kHardCoded, parts.back().detail, std::nullopt};
  }
  for (const char* word : order) {
    for (const Origin& part : parts) {
      if (part.source == word) return {part.source, part.detail, std::nullopt};
    }
  }
  return {};
}

Origin OriginFinder::expression(const Module& module, int scope, Node node, int depth) {
  node = strip_parentheses(node);
  if (!node || depth > kDeepestSetting || ++steps_ > kMostSettingSteps) return {};
  ++depth;
  switch (node.kind()) {
    case Kind::integer:
    case Kind::float_:
    case Kind::true_:
    case Kind::false_:
    case Kind::none:
    case Kind::string: return {kHardCoded, "literal " + text_of(node) + " at " + at_line(node), integer_value(node)};
    case Kind::unary_operator:
      if (const auto number = integer_value(node))
        return {kHardCoded, "literal " + text_of(node) + " at " + at_line(node), number};
      return expression(module, scope, node.child(Field::argument), depth);
    case Kind::identifier: return name(module, scope, node, depth);
    case Kind::conditional_expression: return {kConditional, text_of(node) + " at " + at_line(node), std::nullopt};
    case Kind::binary_operator: {
      const Origin left = expression(module, scope, node.child(Field::left), depth);
      const Origin right = expression(module, scope, node.child(Field::right), depth);
      Origin both = combined({left, right});
      if (both.source != kOther)
        both.detail = text_of(node) + " at " + at_line(node) + (both.detail.empty() ? "" : "; " + both.detail);
      return both;
    }
    case Kind::named_expression: return expression(module, scope, node.child(Field::value), depth);
    case Kind::call: return call(module, scope, node, -1, depth);
    case Kind::attribute: {
      const std::string attribute(node.child(Field::attribute).text());
      const Node object = node.child(Field::object);
      if (is_context(module, scope, object)) return context_attribute(module, scope, attribute, -1, depth);
      if (attribute == "best_config" || attribute == "configs")
        return {kFromAutotune, text_of(node) + " at " + at_line(node), std::nullopt};
      // A field of a configuration object, e.g. best_config.num_warps.
      if (attribute == "num_warps" || attribute == "num_stages" || attribute == "kwargs")
        return expression(module, scope, object, depth);
      return {kOther, text_of(node) + " at " + at_line(node), std::nullopt};
    }
    case Kind::subscript: {
      // config.kwargs["BLOCK_M"] of an autotuned kernel's best configuration
      const Node value = node.child(Field::value);
      if (value.is(Kind::attribute) && value.child(Field::attribute).text() == "kwargs")
        return expression(module, scope, value, depth);
      return {kOther, text_of(node) + " at " + at_line(node), std::nullopt};
    }
    default: return {kOther, text_of(node) + " at " + at_line(node), std::nullopt};
  }
}

bool OriginFinder::is_context(const Module& module, int scope, Node node) const {
  if (!node.is(Kind::identifier) || scope == kNoFunction) return false;
  const Function& function = module.functions()[static_cast<std::size_t>(scope)];
  return function.class_index != kNoClass && !function.params.empty() && function.params[0].name == node.text() &&
         is_autograd_class(module, module.classes()[static_cast<std::size_t>(function.class_index)]);
}

Origin OriginFinder::name(const Module& module, int scope, Node node, int depth) {
  const std::string wanted(node.text());
  for (int at = scope; at != kNoFunction; at = module.functions()[static_cast<std::size_t>(at)].parent) {
    const Function& function = module.functions()[static_cast<std::size_t>(at)];
    bool complete = false;
    const std::vector<Definition> definitions = reaching_definitions(module, at, wanted, node, complete);
    const Parameter* parameter_here = function.param(wanted);
    std::vector<Origin> origins;
    for (const Definition& found : definitions) {
      if (found.elsewhere && definitions.size() > 1) continue;
      origins.push_back(definition(module, at, found.assignment, depth));
    }
    if (parameter_here != nullptr && !complete) {
      // `if x is None: x = policy(..)`: the policy decides unless the caller does.
      const bool only_a_placeholder = !origins.empty() && parameter_here->default_value.is(Kind::none);
      if (!only_a_placeholder) origins.push_back(parameter(module, at, *parameter_here, depth));
    }
    if (origins.empty()) {
      if (parameter_here != nullptr || !module.assignments(at, wanted).empty()) return {};
      continue;
    }
    const bool same =
        std::all_of(origins.begin(), origins.end(), [&](const Origin& o) { return o.source == origins[0].source; });
    if (origins.size() == 1 || (same && origins[0].source != kHardCoded)) return origins[0];
    const bool same_constant = std::all_of(origins.begin(), origins.end(), [&](const Origin& o) {
      return o.constant && o.constant == origins[0].constant;
    });
    if (same && same_constant) return origins[0];
    std::string detail;
    for (auto origin = origins.rbegin(); origin != origins.rend(); ++origin)
      detail += (detail.empty() ? "" : "; or ") + origin->detail;
    return {kConditional, detail, std::nullopt};
  }
  const auto [owner, values] = modules_.constant(module, wanted);
  if (owner == nullptr) return {kOther, wanted + " at " + at_line(node), std::nullopt};
  const Assignment& value = values->back();
  Origin origin = definition(*owner, kNoFunction, value, depth);
  if (origin.source == kHardCoded) {
    origin.detail = "module constant " + wanted + " = " + text_of(value.value) + " (" + owner->path() + ":" +
                    std::to_string(value.statement.line()) + ")";
  }
  return values->size() > 1 ? Origin{kConditional, origin.detail, std::nullopt} : origin;
}

Origin OriginFinder::definition(const Module& module, int scope, const Assignment& assignment, int depth) {
  if (assignment.how == Assignment::How::loop || assignment.how == Assignment::How::with_item) {
    return {kOther, text_of(assignment.target) + " at " + at_line(assignment.statement), std::nullopt};
  }
  Origin origin = assignment.element >= 0 ? element_of(module, scope, assignment.value, assignment.element, depth)
                                          : expression(module, scope, assignment.value, depth);
  const bool leaf = assignment.value.is(Kind::call) || assignment.value.is(Kind::conditional_expression) ||
                    assignment.value.is(Kind::integer) || assignment.value.is(Kind::binary_operator);
  if (leaf && origin.detail.find(" = ") == std::string::npos && assignment.statement.is(Kind::assignment)) {
    origin.detail =
        text_of(assignment.statement.child(Field::left)) + " = " + text_of(assignment.value) + " at " +
        at_line(assignment.statement) +
        (origin.source == kFromHelper || origin.detail.find("->") != std::string::npos ? "; " + origin.detail : "");
  }
  return origin;
}

// Element `element` of a value that is unpacked.
Origin OriginFinder::element_of(const Module& module, int scope, Node value, int element, int depth) {
  value = strip_parentheses(value);
  if (!value || depth > kDeepestSetting || ++steps_ > kMostSettingSteps) return {};
  if (value.is(Kind::call)) return call(module, scope, value, element, depth + 1);
  if (value.is(Kind::attribute) && is_context(module, scope, value.child(Field::object))) {
    return context_attribute(module, scope, std::string(value.child(Field::attribute).text()), element, depth + 1);
  }
  const std::vector<Node> elements = elements_of(value);
  if (static_cast<std::size_t>(element) < elements.size()) {
    return expression(module, scope, elements[static_cast<std::size_t>(element)], depth + 1);
  }
  if (value.is(Kind::identifier) && scope != kNoFunction) {
    bool complete = false;
    for (const Definition& found : reaching_definitions(module, scope, std::string(value.text()), value, complete)) {
      if (found.assignment.how == Assignment::How::plain && found.assignment.element < 0) {
        return element_of(module, scope, found.assignment.value, element, depth + 1);
      }
    }
  }
  return {kOther, text_of(value) + " at " + at_line(value), std::nullopt};
}

Origin OriginFinder::parameter(const Module& module, int scope, const Parameter& parameter, int depth) {
  const Function& function = module.functions()[static_cast<std::size_t>(scope)];
  const FunctionRef self{&module, scope};
  std::vector<Origin> origins;
  bool default_used = false, called = false;
  std::size_t position = 0;
  while (position < function.params.size() && function.params[position].name != parameter.name) ++position;
  for (const auto& [caller, site] : module.calls_named(function.name)) {
    if (caller != scope) {
      const Node callee = strip_parentheses(site.child(Field::function));
      if (!(modules_.function_named(module, callee, caller) == self)) continue;
      called = true;
      const Arguments arguments = arguments_of(site);
      const Node* named = arguments.keyword(parameter.name);
      const Node given = named                                    ? *named
                         : position < arguments.positional.size() ? arguments.positional[position]
                                                                  : Node();
      if (!given) {
        default_used = true;
        continue;
      }
      Origin origin = expression(module, caller, given, depth + 1);
      const bool through_caller = origin.source == kFromCaller || (origin.source == kHardCoded && !origin.constant);
      if (through_caller && parameter.default_value.is(Kind::none)) continue;  // None travels: no decision there
      if (!origin.detail.empty())
        origin.detail += " -> parameter of " + function.qualified_name + " (line " +
                         std::to_string(function.definition.line()) + ")";
      origins.push_back(std::move(origin));
    }
  }
  if (parameter.default_value && !parameter.default_value.is(Kind::none) && (default_used || !called)) {
    Origin origin = expression(module, function.parent, parameter.default_value, depth + 1);
    const bool named_constant = strip_parentheses(parameter.default_value).is(Kind::identifier);
    origin.detail = "default of parameter " + parameter.name + " = " + text_of(parameter.default_value) + " of " +
                    function.qualified_name + " (line " + std::to_string(parameter.node.line()) + ")" +
                    (named_constant ? "; " + origin.detail : "");
    if (!named_constant) origin.source = kFromCaller;
    origins.push_back(std::move(origin));
  }
  if (origins.empty()) {
    return {kFromCaller,
            "parameter " + parameter.name + " of " + function.qualified_name + " (line " +
                std::to_string(parameter.node.line()) + ")",
            std::nullopt};
  }
  const bool same =
      std::all_of(origins.begin(), origins.end(), [&](const Origin& o) { return o.source == origins[0].source; });
  if (same &&
      (origins.size() == 1 || origins[0].source != kHardCoded || origins[0].constant == origins.back().constant))
    return origins[0];
  return same ? Origin{kHardCoded, origins[0].detail + "; and others", std::nullopt} : combined(origins);
}

Origin OriginFinder::call(const Module& module, int scope, Node node, int element, int depth) {
  const Node callee = strip_parentheses(node.child(Field::function));
  const std::string canonical = module.canonical(callee);
  const std::string last = canonical.substr(canonical.rfind('.') + 1);
  const Arguments arguments = arguments_of(node);
  if (last == "calculate_settings") {
    Origin settings{kFromCalculateSettings, text_of(node) + " at " + at_line(node), std::nullopt};
    // It gives (BLOCK_SIZE, num_warps); only the first is rounded, and longer rows than its largest are refused.
    if (element <= 0 && !arguments.positional.empty())
      settings.rounded_up = model::RoundedUp{text_of(arguments.positional[0]), kLargestSettingsBlock, {}};
    return settings;
  }
  if (last == "next_power_of_2")
    return rounded(module, node, arguments.positional.empty() ? Node() : arguments.positional[0], "");
  if (canonical == "min" || canonical == "max" || canonical == "int" || canonical == "float" || canonical == "bool") {
    std::vector<Origin> parts;
    for (Node argument : arguments.positional) parts.push_back(expression(module, scope, argument, depth + 1));
    Origin all = combined(parts);
    // What bounds it may be conditional; what it is made of decides.
    if (all.source != kOther)
      all.detail = text_of(node) + " at " + at_line(node) + (all.detail.empty() ? "" : "; " + all.detail);
    all.rounded_up = bounded(module, arguments.positional, parts, canonical == "min");
    return all;
  }
  if (canonical == "getattr" && arguments.positional.size() >= 2 &&
      is_context(module, scope, arguments.positional[0])) {
    if (const auto attribute = string_value(arguments.positional[1]))
      return context_attribute(module, scope, *attribute, element, depth + 1);
  }
  const FunctionRef function = modules_.function_named(module, callee, scope);
  if (!function || is_jit(*function.module, *function))
    return {kOther, text_of(node) + " at " + at_line(node), std::nullopt};
  if (is_power_of_2_alias(function)) {
    return rounded(
        module, node, arguments.positional.empty() ? Node() : arguments.positional[0],
        ", another name of triton.next_power_of_2 (line " + std::to_string(function->definition.line()) + ")");
  }
  if (launches_kernels(modules_, function)) return returned(function, element, depth + 1);
  return {kFromHelper,
          text_of(node) + " at " + at_line(node) + ": " + function->qualified_name + " (" + function.module->path() +
              ":" + std::to_string(function->definition.line()) + ")",
          std::nullopt};
}

// next_power_of_2(argument); of `min(128, n)` it is at most 128.
Origin OriginFinder::rounded(const Module& module, Node node, Node argument, const std::string& detail) {
  Origin origin{kFromNextPowerOf2, text_of(node) + " at " + at_line(node) + detail, std::nullopt};
  argument = strip_parentheses(argument);
  if (!argument) return origin;
  model::RoundedUp up{text_of(argument), std::nullopt, {}};
  if (argument.is(Kind::call) && module.canonical(argument.child(Field::function)) == "min") {
    std::string free;
    for (Node part : arguments_of(argument).positional) {
      const auto bound = number(module, part);
      if (!bound) {
        free = text_of(part);
      } else if (!up.largest || *bound < *up.largest) {
        up.largest = *bound;
      }
    }
    if (free.empty() || !up.largest) return origin;  // a constant, or a bound nobody knows
    long long power = 1;
    while (power < *up.largest && power < (1LL << 40)) power *= 2;
    up = {free, power, {}};
  }
  origin.rounded_up = std::move(up);
  return origin;
}

// min(LARGEST, rounded) and max(SMALLEST, rounded): still rounded up, where the other bound is a number.
std::optional<model::RoundedUp> OriginFinder::bounded(const Module& module, const std::vector<Node>& arguments,
                                                      const std::vector<Origin>& parts, bool by_min) {
  std::optional<model::RoundedUp> up;
  std::optional<long long> smallest;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].rounded_up) {
      if (up) return std::nullopt;
      up = parts[i].rounded_up;
      continue;
    }
    const auto bound = number(module, arguments[i]);
    if (!bound) return std::nullopt;
    smallest = smallest ? std::min(*smallest, *bound) : *bound;
  }
  if (up && by_min && smallest) up->largest = up->largest ? std::min(*up->largest, *smallest) : *smallest;
  return up;
}

// A number, evaluated; of a module constant with a value for each device, the last, which is NVIDIA's `else`.
std::optional<long long> OriginFinder::number(const Module& module, Node node) {
  node = strip_parentheses(node);
  Value value = evaluate(modules_, module, node).usual;
  if (!value.known() && node.is(Kind::identifier)) {
    const auto [owner, values] = modules_.constant(module, std::string(node.text()));
    if (owner != nullptr) value = evaluate(modules_, *owner, values->back().value).usual;
  }
  return value.kind == Value::Kind::integer ? std::optional<long long>(value.number) : std::nullopt;
}

// What an operation's host function returns as element `element`.
Origin OriginFinder::returned(const FunctionRef& function, int element, int depth) {
  if (depth > kDeepestSetting) return {};
  for (Node inner : function->body.descendants()) {
    if (!inner.is(Kind::return_statement) || function.module->function_at(inner) != function.index) continue;
    const Node value = strip_parentheses(inner.first_named_child());
    Origin origin = element < 0 ? expression(*function.module, function.index, value, depth + 1)
                                : element_of(*function.module, function.index, value, element, depth + 1);
    if (origin.source != kOther) {
      origin.detail += " in " + function->qualified_name;
      return origin;
    }
  }
  return {};
}

Origin OriginFinder::context_attribute(const Module& module, int scope, const std::string& attribute, int element,
                                       int depth) {
  if (depth > kDeepestSetting) return {};
  const Function& here = module.functions()[static_cast<std::size_t>(scope)];
  const Class& owner = module.classes()[static_cast<std::size_t>(here.class_index)];
  for (const int method : owner.methods) {
    const Function& function = module.functions()[static_cast<std::size_t>(method)];
    if (function.params.empty()) continue;
    for (Node statement : module.statements(method)) {
      if (!statement.is(Kind::assignment)) continue;
      const Node target = statement.child(Field::left);
      if (!target.is(Kind::attribute) || target.child(Field::attribute).text() != attribute) continue;
      if (target.child(Field::object).text() != function.params[0].name) continue;
      const Node value = statement.child(Field::right);
      Origin origin = element < 0 ? expression(module, method, value, depth + 1)
                                  : element_of(module, method, value, element, depth + 1);
      if (!origin.detail.empty())
        origin.detail += " -> ctx." + attribute + " (" + std::to_string(statement.line()) + ")";
      return origin;
    }
  }
  return {};
}

}  // namespace hone::source
