#include "source/triton/host/buffer_origin.hpp"

#include <algorithm>
#include <set>

#include "source/triton/launch/setting_source.hpp"
#include "source/triton/module/reaching.hpp"

namespace hone::source {

namespace {

constexpr int kDeepestOrigin = 40;
constexpr int kMostOriginSteps = 3000;

// Methods that give the same memory, at least when the layout allows it.
bool is_view(std::string_view method) {
  static const std::set<std::string_view> views = {
      "view",           "reshape",   "contiguous", "transpose", "permute", "detach",     "squeeze", "unsqueeze",
      "flatten",        "unflatten", "expand",     "narrow",    "view_as", "as_strided", "t",       "select",
      "requires_grad_", "detach_",   "movedim",    "swapaxes",  "unbind",  "chunk",      "split",   "data_ptr",
      "full_tensor",    "to_local",  "to",         "zero_",     "fill_",   "copy_",      "add_",    "mul_"};
  return views.count(method) > 0;
}

bool is_view_attribute(std::string_view attribute) {
  return attribute == "data" || attribute == "T" || attribute == "mT";
}

// The index of a parameter by name, without the star of `*args`.
int position_of(const Function& function, const std::string& name) {
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    std::string bare = function.params[i].name;
    bare.erase(0, bare.find_first_not_of('*'));
    if (bare == name) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

std::vector<BufferOrigin> BufferTracer::trace(const Module& module, int scope, Node node) {
  found_.clear();
  steps_ = 0;
  expression(module, scope, node, -1, BufferOrigin{}, nullptr, 0);
  return std::move(found_);
}

void BufferTracer::end(const BufferOrigin& path, BufferKind kind, Node at) {
  BufferOrigin origin = path;
  origin.kind = kind;
  origin.text = text_of(at);
  if (origin.line == 0) origin.line = at.line();
  found_.push_back(std::move(origin));
}

void BufferTracer::expression(const Module& module, int scope, Node node, int element, const BufferOrigin& path,
                              const Entry* entry, int depth) {
  node = strip_parentheses(node);
  if (!node || depth > kDeepestOrigin || ++steps_ > kMostOriginSteps) return;
  ++depth;
  switch (node.kind()) {
    case Kind::identifier: return name(module, scope, node, element, path, entry, depth);
    case Kind::conditional_expression: {
      std::vector<Node> parts;
      for (Node part : node.children()) parts.push_back(part);
      if (parts.size() != 3) return;
      BufferOrigin branch = path;
      branch.conditions.push_back(text_of(parts[1]));
      if (branch.line == 0) branch.line = node.line();
      expression(module, scope, parts[0], element, branch, entry, depth);
      return expression(module, scope, parts[2], element, branch, entry, depth);
    }
    case Kind::tuple:
    case Kind::list:
    case Kind::expression_list: {
      const std::vector<Node> elements = elements_of(node);
      if (element >= 0 && static_cast<std::size_t>(element) < elements.size()) {
        expression(module, scope, elements[static_cast<std::size_t>(element)], -1, path, entry, depth);
      }
      return;
    }
    case Kind::subscript:  // a slice of the same memory
      return expression(module, scope, node.child(Field::value), -1, path, entry, depth);
    case Kind::attribute: {
      const std::string_view attribute = node.child(Field::attribute).text();
      if (attribute == "saved_tensors" || attribute == "saved_variables")
        return end(path, BufferKind::saved_tensor, node);
      if (is_view_attribute(attribute))
        return expression(module, scope, node.child(Field::object), element, path, entry, depth);
      return;
    }
    case Kind::call: return call(module, scope, node, element, path, entry, depth);
    case Kind::binary_operator:
    case Kind::unary_operator: return end(path, BufferKind::fresh, node);
    default: return;
  }
}

void BufferTracer::name(const Module& module, int scope, Node node, int element, const BufferOrigin& path,
                        const Entry* entry, int depth) {
  if (scope == kNoFunction) return;
  const std::string wanted(node.text());
  bool complete = false;
  for (const Definition& found : reaching_definitions(module, scope, wanted, node, complete)) {
    const Assignment& assignment = found.assignment;
    if (assignment.how != Assignment::How::plain) continue;
    BufferOrigin next = path;
    if (!found.condition.empty()) next.conditions.push_back(found.condition);
    if (next.line == 0) next.line = assignment.statement.line();
    expression(module, scope, assignment.value, assignment.element >= 0 ? assignment.element : element, next, entry,
               depth);
  }
  if (!complete) parameter(module, scope, wanted, path, entry, depth);
}

void BufferTracer::parameter(const Module& module, int scope, const std::string& wanted, const BufferOrigin& path,
                             const Entry* entry, int depth) {
  const Function& function = module.functions()[static_cast<std::size_t>(scope)];
  const int position = position_of(function, wanted);
  if (position < 0) return;
  const Node declaration = function.params[static_cast<std::size_t>(position)].node;
  const bool method = function.class_index != kNoClass &&
                      is_autograd_class(module, module.classes()[static_cast<std::size_t>(function.class_index)]);
  if (method && position > 0) {
    if (function.name == "forward") return end(path, BufferKind::forward_input, declaration);
    if (function.name == "backward") return end(path, BufferKind::incoming_gradient, declaration);
  }
  const auto pass_on = [&](const Module& caller_module, int caller, Node site, const Entry* outer) {
    const Arguments arguments = arguments_of(site);
    const Node* named = arguments.keyword(wanted);
    const auto at = static_cast<std::size_t>(position);
    const Node given = named ? *named : at < arguments.positional.size() ? arguments.positional[at] : Node();
    if (given) expression(caller_module, caller, given, -1, path, outer, depth + 1);
  };
  if (entry != nullptr && entry->function == scope && entry->function_module == &module) {
    return pass_on(*entry->module, entry->scope, entry->call, entry->outer);
  }
  const FunctionRef self{&module, scope};
  for (const auto& [caller, site] : module.calls_named(function.name)) {
    const Node callee = strip_parentheses(site.child(Field::function));
    if (caller != scope && modules_.function_named(module, callee, caller) == self)
      pass_on(module, caller, site, nullptr);
  }
}

void BufferTracer::call(const Module& module, int scope, Node node, int element, const BufferOrigin& path,
                        const Entry* entry, int depth) {
  const Node callee = strip_parentheses(node.child(Field::function));
  const Arguments arguments = arguments_of(node);
  const std::string canonical = module.canonical(callee);
  if (canonical.rfind("torch.", 0) == 0) return end(path, BufferKind::fresh, node);
  if (callee.is(Kind::attribute)) {
    const std::string_view method = callee.child(Field::attribute).text();
    if (method == "from_tensor") {  // a tensor descriptor of the memory
      const Node* named = arguments.keyword("tensor");
      const Node given = named ? *named : arguments.positional.empty() ? Node() : arguments.positional[0];
      return expression(module, scope, given, -1, path, entry, depth);
    }
    if (is_view(method)) return expression(module, scope, callee.child(Field::object), -1, path, entry, depth);
    if (canonical.empty() || module.imports().count(canonical.substr(0, canonical.find('.'))) == 0)
      return end(path, BufferKind::fresh, node);
  }
  const FunctionRef function = modules_.function_named(module, callee, scope);
  if (!function || is_jit(*function.module, *function)) return;
  const Entry inner{&module, scope, node, function.index, function.module, entry};
  for (Node statement : function->body.descendants()) {
    if (!statement.is(Kind::return_statement) || function.module->function_at(statement) != function.index) continue;
    expression(*function.module, function.index, statement.first_named_child(), element, path, &inner, depth + 1);
  }
}

}  // namespace hone::source
