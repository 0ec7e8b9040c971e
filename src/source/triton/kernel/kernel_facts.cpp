#include "source/triton/kernel/kernel_facts.hpp"

#include <algorithm>
#include <set>

#include "source/triton/kernel/pointers.hpp"
#include "source/triton/launch/autotune.hpp"
#include "source/triton/module/python.hpp"
#include "source/triton/module/unparse.hpp"

namespace hone::source {

namespace {

using Names = std::set<std::string, std::less<>>;

const Names kReductions = {"sum", "max", "min", "argmax", "argmin", "reduce", "xor_sum"};
const Names kScans = {"cumsum", "cumprod", "associative_scan"};
const Names kPrecisionOps = {
    "exp",     "exp2", "expm1", "log",    "log2",   "log10",     "log1p",     "rsqrt",      "sqrt",        "sqrt_rn",
    "sigmoid", "tanh", "erf",   "erfc",   "erfinv", "sin",       "cos",       "tan",        "sinh",        "cosh",
    "asin",    "acos", "atan",  "atan2",  "asinh",  "acosh",     "atanh",     "pow",        "div_rn",      "fdiv",
    "softmax", "cbrt", "rcbrt", "lgamma", "tgamma", "fast_expf", "fast_logf", "fast_tanhf", "fast_dividef"};
const Names kOtherMath = {"maximum", "minimum", "abs", "clamp", "fma"};
const Names kBuiltinMath = {"min", "max", "abs"};
const Names kAtomics = {"atomic_add",  "atomic_max", "atomic_min", "atomic_cas",
                        "atomic_xchg", "atomic_and", "atomic_or",  "atomic_xor"};

class KernelReader {
 public:
  KernelReader(ModuleSet& modules, const Module& module, int index)
      : modules_(modules),
        module_(module),
        index_(index),
        function_(module.functions()[static_cast<std::size_t>(index)]) {}

  model::KernelFact read() {
    read_signature();
    for (Node node : function_.body.descendants()) {
      if (!node.named() || module_.function_at(node) != index_) continue;
      switch (node.kind()) {
        case Kind::call: read_call(node); break;
        case Kind::for_statement:
        case Kind::while_statement: read_loop(node); break;
        case Kind::return_statement: read_return(node); break;
        default: break;
      }
    }
    read_unused();
    fact_.is_device_helper = fact_.program_id_lines.empty() && fact_.load_lines.empty() && fact_.store_lines.empty() &&
                             fact_.descriptor_load_lines.empty() && fact_.descriptor_store_lines.empty();
    trace_pointers(module_, function_, fact_);
    return std::move(fact_);
  }

 private:
  void read_signature() {
    fact_.name = function_.name;
    fact_.file = module_.path();
    fact_.line = function_.definition.line();
    fact_.end_line = function_.definition.end_line();
    fact_.decorator_line = function_.outer.line();
    for (const Decorator& decorator : function_.decorators) {
      fact_.decorators.push_back(decorator.name);
      fact_.decorator_lines.push_back(decorator.node.line());
      fact_.decorator_texts.push_back("@" + unparse(decorator.expression));
      const Node callee = decorator.called ? decorator.expression.child(Field::function) : decorator.expression;
      const std::string name = module_.canonical(callee);
      const std::string last = name.substr(name.rfind('.') + 1);
      if (name.rfind("triton.", 0) != 0) continue;
      if (last == "autotune") fact_.autotune = read_autotune(modules_, module_, decorator.expression);
      if (last == "heuristics") {
        fact_.heuristics = true;
        read_heuristics(decorator.expression);
      }
    }
    for (const Parameter& parameter : function_.params) {
      fact_.params.push_back(parameter.name);
      if (parameter.default_value) fact_.param_defaults.emplace_back(parameter.name, text_of(parameter.default_value));
      if (!parameter.annotation) continue;
      if (is_constexpr(module_, parameter.annotation)) {
        fact_.constexpr_params.push_back(parameter.name);
      } else {
        fact_.other_annotations.emplace_back(parameter.name, text_of(parameter.annotation));
      }
    }
  }

  void read_heuristics(Node call) {
    const Arguments arguments = arguments_of(call);
    Node values = arguments.positional.empty() ? Node() : arguments.positional[0];
    if (const Node* named = arguments.keyword("values")) values = *named;
    for (Node pair : strip_parentheses(values).children()) {
      if (!pair.is(Kind::pair)) continue;
      if (const auto key = string_value(pair.child(Field::key))) fact_.heuristics_params.push_back(*key);
    }
  }

  void read_call(Node call) {
    const Node callee = strip_parentheses(call.child(Field::function));
    const Arguments arguments = arguments_of(call);
    const int line = callee_line(call);
    const std::string op = language_op(module_, callee);
    if (!op.empty()) {
      read_language_call(call, callee, op, arguments, line);
      return;
    }
    if (callee.is(Kind::identifier)) {
      const std::string name(callee.text());
      const FunctionRef helper = modules_.function_named(module_, callee, index_);
      if (helper && is_jit(*helper.module, *helper)) {
        add_helper(helper, line, std::nullopt);
      } else if (!helper && kBuiltinMath.count(name) > 0) {
        fact_.other_math.push_back({line, name, "python builtin " + name});
      }
      return;
    }
    if (callee.is(Kind::attribute)) read_method_call(callee, arguments, line);
  }

  void read_language_call(Node call, Node callee, const std::string& op, const Arguments& arguments, int line) {
    const std::string spelled = dotted_name(callee);
    if (op == "program_id" || op == "num_programs") {
      read_axis(op, arguments, line);
    } else if (kReductions.count(op) > 0) {
      add_reduction(call, op, "reduction", arguments, line);
    } else if (kScans.count(op) > 0) {
      add_reduction(call, op, "scan", arguments, line);
    } else if (op == "sort") {
      add_reduction(call, op, "sort", arguments, line);
    } else if (op == "load" || op == "store") {
      (op == "load" ? fact_.load_lines : fact_.store_lines).push_back(line);
      for (const auto& [keyword, value] : arguments.keywords) {
        if (keyword != "cache_modifier" && keyword != "eviction_policy") continue;
        fact_.cache_hints.push_back(
            {line, value.parent().line(), op, keyword, string_value(value).value_or(text_of(value))});
      }
    } else if (op == "dot" || op == "dot_scaled") {
      fact_.dot_lines.push_back(line);
    } else if (op == "debug_barrier") {
      fact_.barrier_lines.push_back(line);
    } else if (kAtomics.count(op) > 0) {
      model::AtomicFact atomic{line, op, {}};
      for (const auto& [keyword, value] : arguments.keywords) {
        // The mask is part of the access, not of how the operation is carried out.
        if (keyword != "mask" && keyword != "val" && keyword != "pointer")
          atomic.keywords.emplace_back(keyword, text_of(value));
      }
      fact_.atomics.push_back(std::move(atomic));
    } else if (kPrecisionOps.count(op) > 0) {
      fact_.precision_ops.push_back({line, op, spelled});
    } else if (kOtherMath.count(op) > 0) {
      fact_.other_math.push_back({line, op, spelled});
    } else if (op == "float32") {
      fact_.float32_alloc_lines.push_back(line);
    } else if (op == "zeros" || op == "full") {
      if (mentions_float32(arguments, op == "zeros" ? 1 : 2)) fact_.float32_alloc_lines.push_back(line);
    } else if (op == "cast") {
      if (mentions_float32(arguments, 1)) fact_.float32_cast_lines.push_back(line);
    }
    // A combine function: tl.associative_scan(x, 0, combine), tl.reduce(x, 0, combine).
    if (op == "associative_scan" || op == "reduce") {
      for (Node argument : arguments.positional) add_combiner(argument, spelled, line);
      for (const auto& [keyword, value] : arguments.keywords) add_combiner(value, spelled, line);
    }
  }

  void add_combiner(Node argument, const std::string& via, int line) {
    if (!argument.is(Kind::identifier) && !argument.is(Kind::attribute)) return;
    const FunctionRef helper = modules_.function_named(module_, argument, index_);
    if (helper && is_jit(*helper.module, *helper)) add_helper(helper, line, via);
  }

  void read_method_call(Node callee, const Arguments& arguments, int line) {
    const std::string_view method = callee.child(Field::attribute).text();
    if (method == "to" || method == "cast") {
      if (mentions_float32(arguments, 0)) fact_.float32_cast_lines.push_back(line);
      return;
    }
    // Descriptors: desc.load([x, y]), desc.store([x, y], value) on a kernel parameter or a tl.make_tensor_descriptor.
    const Node object = strip_parentheses(callee.child(Field::object));
    const bool plain = object.is(Kind::identifier);
    if (plain && method == "load" && arguments.positional.size() == 1) fact_.descriptor_load_lines.push_back(line);
    if (plain && method == "store" && arguments.positional.size() == 2) fact_.descriptor_store_lines.push_back(line);
    if (const FunctionRef helper = modules_.function_named(module_, callee, index_);
        helper && is_jit(*helper.module, *helper)) {
      add_helper(helper, line, std::nullopt);
    }
  }

  void read_axis(const std::string& op, const Arguments& arguments, int line) {
    Node axis = arguments.positional.empty() ? Node() : arguments.positional[0];
    if (const Node* named = arguments.keyword("axis")) axis = *named;
    const std::string text = axis ? text_of(axis) : "0";
    auto& axes = op == "program_id" ? fact_.program_id_axes : fact_.num_programs_axes;
    if (std::find(axes.begin(), axes.end(), text) == axes.end()) {
      axes.insert(std::upper_bound(axes.begin(), axes.end(), text), text);
    }
    if (op == "program_id") fact_.program_id_lines.push_back(line);
  }

  void add_reduction(Node call, const std::string& op, const char* kind, const Arguments& arguments, int line) {
    model::ReductionFact reduction{line, op, kind, std::nullopt, text_of(call)};
    if (const Node* axis = arguments.keyword(op == "sort" ? "dim" : "axis")) {
      reduction.axis = text_of(*axis);
    } else if (arguments.positional.size() > 1) {
      reduction.axis = "positional:" + text_of(arguments.positional[1]);
    }
    fact_.reductions.push_back(std::move(reduction));
  }

  void add_helper(const FunctionRef& helper, int line, model::OptionalText via) {
    std::vector<FunctionRef> seen;
    fact_.calls_jit_helpers.push_back({line, helper->name, std::move(via), precision_ops_of(helper, seen)});
  }

  std::vector<std::string> precision_ops_of(const FunctionRef& helper, std::vector<FunctionRef>& seen) {
    std::vector<std::string> ops;
    if (std::find(seen.begin(), seen.end(), helper) != seen.end() || seen.size() > 32) return ops;
    seen.push_back(helper);
    for (Node call : helper.module->calls(helper.index)) {
      const Node callee = strip_parentheses(call.child(Field::function));
      const std::string op = language_op(*helper.module, callee);
      if (kPrecisionOps.count(op) > 0) ops.push_back(op);
      if (!op.empty() || !callee.is(Kind::identifier)) continue;
      const FunctionRef inner = modules_.function_named(*helper.module, callee, helper.index);
      if (!inner || !is_jit(*inner.module, *inner)) continue;
      for (std::string& more : precision_ops_of(inner, seen)) ops.push_back(std::move(more));
    }
    return ops;
  }

  bool is_float32(Node node) const { return language_op(module_, strip_parentheses(node)) == "float32"; }

  // The type is positional argument number `position`, or the keyword `dtype`.
  bool mentions_float32(const Arguments& arguments, std::size_t position) const {
    if (const Node* type = arguments.keyword("dtype")) return is_float32(*type);
    return arguments.positional.size() > position && is_float32(arguments.positional[position]);
  }

  void read_loop(Node loop) {
    model::LoopFact fact;
    fact.line = loop.line();
    for (Node at = loop.parent(); at && !(at == function_.body); at = at.parent()) {
      if (at.is(Kind::for_statement) || at.is(Kind::while_statement)) ++fact.depth;
    }
    if (loop.is(Kind::while_statement)) {
      fact.stmt = "while";
      fact.kind = "while";
      fact.iter = text_of(loop.child(Field::condition));
    } else {
      fact.stmt = "for";
      fact.target = text_of(loop.child(Field::left));
      const Node iterated = loop.child(Field::right);
      fact.iter = text_of(iterated);
      fact.kind = "other";
      if (iterated.is(Kind::call)) {
        const Node callee = iterated.child(Field::function);
        const std::string op = language_op(module_, callee);
        if (op == "range") fact.kind = "tl.range";
        if (op == "static_range") fact.kind = "static_range";
        if (op.empty() && callee.text() == "range") fact.kind = "range";
      }
    }
    for (Node inner : loop.child(Field::body).descendants()) {
      if (!inner.is(Kind::call)) continue;
      const Node callee = strip_parentheses(inner.child(Field::function));
      const std::string op = language_op(module_, callee);
      fact.loads_inside = fact.loads_inside || op == "load" || op == "dot" ||
                          (op.empty() && callee.child(Field::attribute).text() == "load");
    }
    fact_.loops.push_back(std::move(fact));
  }

  // Early: not the last statement of the body.
  void read_return(Node statement) {
    Node last;
    for (Node child : function_.body.children()) last = child;
    if (!(statement == last)) fact_.early_return_lines.push_back(statement.line());
  }

  void read_unused() {
    std::set<std::string_view> read;
    for (Node node : function_.body.descendants()) {
      if (!node.is(Kind::identifier)) continue;
      const Node parent = node.parent();
      const Field role = node.field();
      if (role == Field::attribute && parent.is(Kind::attribute)) continue;
      if (role == Field::name && (parent.is(Kind::keyword_argument) || parent.is(Kind::named_expression))) continue;
      if (role == Field::left && (parent.is(Kind::assignment) || parent.is(Kind::augmented_assignment))) continue;
      read.insert(node.text());
    }
    for (const std::string& name : fact_.params) {
      if (read.count(name) == 0) fact_.unused_params.push_back(name);
    }
  }

  ModuleSet& modules_;
  const Module& module_;
  int index_;
  const Function& function_;
  model::KernelFact fact_;
};

}  // namespace

std::string language_op(const Module& module, Node callee) {
  static const std::string_view prefixes[] = {"triton.language.", "triton.experimental.gluon.language."};
  const std::string name = module.canonical(callee);
  for (const std::string_view prefix : prefixes) {
    if (name.size() > prefix.size() && name.compare(0, prefix.size(), prefix) == 0)
      return name.substr(name.rfind('.') + 1);
  }
  return {};
}

bool is_constexpr(const Module& module, Node annotation) {
  const Node inner = annotation.is(Kind::type) ? annotation.first_named_child() : annotation;
  if (const auto quoted = string_value(inner)) {
    return *quoted == "constexpr" ||
           (quoted->size() > 10 && quoted->compare(quoted->size() - 10, 10, ".constexpr") == 0);
  }
  return language_op(module, inner) == "constexpr";
}

model::KernelFact read_kernel(ModuleSet& modules, const Module& module, int function) {
  return KernelReader(modules, module, function).read();
}

}  // namespace hone::source
