#include "source/triton/kernel/pointers.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "source/triton/kernel/kernel_facts.hpp"
#include "source/triton/module/python.hpp"
#include "source/triton/module/reaching.hpp"

namespace hone::source {

namespace {

constexpr int kDeepestPointer = 24;
constexpr std::size_t kMostAccesses = 200;  // of one kernel, for pairs of them
// Larger expressions than any address are not searched, so that the work stays proportional to the text.
constexpr std::uint32_t kLargestExpression = 256;

class PointerTracer {
 public:
  PointerTracer(const Module& module, const Function& function, model::KernelFact& fact)
      : module_(module), function_(function), scope_(module.function_at(function.body)), fact_(fact) {}

  void trace() {
    for (Node call : module_.calls(scope_)) {
      const Node callee = strip_parentheses(call.child(Field::function));
      const std::string op = language_op(module_, callee);
      const bool atomic = op.rfind("atomic_", 0) == 0;
      const Arguments arguments = arguments_of(call);
      Node pointer = arguments.positional.empty() ? Node() : arguments.positional[0];
      if (const Node* named = arguments.keyword("pointer")) pointer = *named;
      if (op == "arange") {
        for (Node bound : arguments.positional) ranged_.insert(dotted_name(strip_parentheses(bound)));
      }
      if (op == "load" || op == "store" || atomic) {
        if (pointer && addresses_.size() < kMostAccesses) addresses_.push_back(pointer);
        const std::size_t mask_at = op == "load" ? 1 : 2;
        const bool masked = arguments.keyword("mask") != nullptr || arguments.positional.size() > mask_at;
        add_access(call, {callee_line(call), op != "load", base_of(pointer, 0), masked, atomic, {}});
      } else if (op.empty() && callee.is(Kind::attribute)) {
        const std::string_view method = callee.child(Field::attribute).text();
        const Node object = strip_parentheses(callee.child(Field::object));
        if (!object.is(Kind::identifier)) continue;
        const bool load = method == "load" && arguments.positional.size() == 1;
        const bool store = method == "store" && arguments.positional.size() == 2;
        if (load || store) add_access(call, {callee_line(call), store, base_of(object, 0), false, false, {}});
      }
    }
    trace_offsets();
  }

 private:
  // Calls come in source order, so what is known already stands before.
  void add_access(Node call, model::AccessFact access) {
    if (!access.store && calls_.size() < kMostAccesses) {
      for (std::size_t i = 0; i < calls_.size(); ++i) {
        const model::AccessFact& earlier = fact_.accesses[i];
        Reach reach;
        if (earlier.store && !earlier.base.empty() && !calls_[i].contains(call) && reaches(calls_[i], call, reach))
          access.after_stores.push_back(static_cast<int>(i));
      }
    }
    calls_.push_back(call);
    fact_.accesses.push_back(std::move(access));
  }

  bool is_constexpr_param(const std::string& name) const {
    return std::find(fact_.constexpr_params.begin(), fact_.constexpr_params.end(), name) !=
           fact_.constexpr_params.end();
  }

  // The pointer parameter an address is built on: the leftmost run-time parameter of the sum that is no factor of a
  // product.
  std::string base_of(Node expression, int depth) {
    expression = strip_parentheses(expression);
    if (!expression || depth > kDeepestPointer) return {};
    switch (expression.kind()) {
      case Kind::identifier: {
        const std::string name(expression.text());
        if (function_.param(name) != nullptr) return is_constexpr_param(name) ? "" : name;
        const auto known = bases_.find(name);
        if (known != bases_.end()) return known->second;
        bases_[name] = "";  // a cycle ends here
        for (const Assignment& value : module_.assignments(scope_, name)) {
          if (value.how != Assignment::How::plain || value.element >= 0) continue;
          const std::string base = base_of(value.value, depth + 1);
          if (!base.empty()) return bases_[name] = base;
        }
        return "";
      }
      case Kind::binary_operator: {
        const std::string_view op = expression.child(Field::operator_).text();
        if (op != "+" && op != "-") return {};
        const std::string left = base_of(expression.child(Field::left), depth + 1);
        return !left.empty() ? left : op == "+" ? base_of(expression.child(Field::right), depth + 1) : "";
      }
      case Kind::conditional_expression: {
        for (Node part : expression.children()) {
          const std::string base = base_of(part, depth + 1);
          if (!base.empty()) return base;
        }
        return {};
      }
      case Kind::call: {
        const Arguments arguments = arguments_of(expression);
        const Node callee = expression.child(Field::function);
        const std::string op = language_op(module_, callee);
        if (op == "make_block_ptr" || op == "advance" || op == "make_tensor_descriptor" || op == "multiple_of" ||
            op == "max_contiguous" || op == "cast") {
          if (const Node* named = arguments.keyword("base")) return base_of(*named, depth + 1);
          if (!arguments.positional.empty()) return base_of(arguments.positional[0], depth + 1);
        }
        if (op.empty() && callee.is(Kind::attribute) && callee.child(Field::attribute).text() == "to") {
          return base_of(callee.child(Field::object), depth + 1);
        }
        return {};
      }
      default: return {};
    }
  }

  // Is the value a 32-bit program index: tl.program_id(..) that was not widened, or derived from one by sums and
  // products?
  bool is_narrow_index(Node expression, int depth) {
    expression = strip_parentheses(expression);
    if (!expression || depth > kDeepestPointer) return false;
    switch (expression.kind()) {
      case Kind::call: return language_op(module_, expression.child(Field::function)) == "program_id";
      case Kind::subscript: return is_narrow_index(expression.child(Field::value), depth + 1);  // rows[:, None]
      case Kind::binary_operator:
        return !is_wide(expression, depth + 1) && (is_narrow_index(expression.child(Field::left), depth + 1) ||
                                                   is_narrow_index(expression.child(Field::right), depth + 1));
      case Kind::identifier: {
        const std::string name(expression.text());
        const auto known = narrow_.find(name);
        if (known != narrow_.end()) return known->second;
        narrow_[name] = false;
        bool narrow = false;
        for (const Assignment& value : module_.assignments(scope_, name)) {
          if (value.element >= 0) continue;
          narrow = narrow || (value.how == Assignment::How::loop ? loop_starts_narrow(value.value, depth + 1)
                                                                 : is_narrow_index(value.value, depth + 1));
        }
        return narrow_[name] = narrow && !is_wide(expression, depth + 1);
      }
      default: return false;
    }
  }

  bool loop_starts_narrow(Node iterated, int depth) {
    if (!iterated.is(Kind::call)) return false;
    for (Node bound : arguments_of(iterated).positional) {
      if (is_narrow_index(bound, depth)) return true;
    }
    return false;
  }

  // Widened to 64 bits somewhere on the way.
  bool is_wide(Node expression, int depth) {
    if (depth > kDeepestPointer || expression.subtree_end() - expression.index() > kLargestExpression) return false;
    const auto widens = [&](Node call) {
      const Node callee = strip_parentheses(call.child(Field::function));
      for (Node argument : arguments_of(call).positional) {
        if (language_op(module_, argument) != "int64") continue;
        const std::string_view method = callee.child(Field::attribute).text();
        if (method == "to" || method == "cast") return true;
      }
      return false;
    };
    if (expression.is(Kind::call) && widens(expression)) return true;
    for (Node inner : expression.descendants()) {
      if (inner.is(Kind::call) && widens(inner)) return true;
      if (!inner.is(Kind::identifier) || inner.field() == Field::attribute) continue;
      if (is_wide_name(std::string(inner.text()), depth + 1)) return true;
    }
    return expression.is(Kind::identifier) && is_wide_name(std::string(expression.text()), depth + 1);
  }

  bool is_wide_name(const std::string& name, int depth) {
    const auto known = wide_.find(name);
    if (known != wide_.end()) return known->second;
    wide_[name] = false;
    for (const Assignment& value : module_.assignments(scope_, name)) {
      if (value.how == Assignment::How::plain && value.element < 0 && is_wide(value.value, depth))
        return wide_[name] = true;
    }
    return false;
  }

  // A product of a narrow program index with a size, standing in an address: past 2^31 elements it wraps before it
  // reaches the pointer. The terms of an address are looked for through sums, names and broadcasts, not inside factors:
  // an index of rows is small, the offset it becomes is not.
  void trace_offsets() {
    for (Node pointer : addresses_) offset_terms(pointer, 0);
    std::sort(fact_.int32_offset_lines.begin(), fact_.int32_offset_lines.end());
  }

  void offset_terms(Node expression, int depth) {
    expression = strip_parentheses(expression);
    if (!expression || depth > kDeepestPointer) return;
    ++depth;
    switch (expression.kind()) {
      case Kind::identifier: {
        const std::string name(expression.text());
        if (!searched_.insert(name).second) return;
        for (const Assignment& value : module_.assignments(scope_, name)) {
          if (value.how != Assignment::How::loop && value.element < 0) offset_terms(value.value, depth);
        }
        return;
      }
      case Kind::subscript: return offset_terms(expression.child(Field::value), depth);
      case Kind::call: {
        const std::string op = language_op(module_, expression.child(Field::function));
        const Arguments arguments = arguments_of(expression);
        const bool hint = op == "multiple_of" || op == "max_contiguous";
        if (hint && !arguments.positional.empty()) offset_terms(arguments.positional[0], depth);
        return;
      }
      case Kind::binary_operator: {
        const std::string_view op = expression.child(Field::operator_).text();
        if (op == "*") return offset_product(expression);
        if (op != "+" && op != "-") return;
        offset_terms(expression.child(Field::left), depth);
        return offset_terms(expression.child(Field::right), depth);
      }
      default: return;
    }
  }

  void offset_product(Node product) {
    if (product.subtree_end() - product.index() > kLargestExpression) return;
    const Node left = product.child(Field::left), right = product.child(Field::right);
    const bool left_index = is_narrow_index(left, 0);
    if (!left_index && !is_narrow_index(right, 0)) return;
    const Node factor = strip_parentheses(left_index ? right : left);
    if (!is_size(factor) || is_wide(product, 0)) return;
    auto& lines = fact_.int32_offset_lines;
    if (std::find(lines.begin(), lines.end(), product.line()) == lines.end()) lines.push_back(product.line());
    auto& factors = fact_.row_offset_params;
    const std::string text = text_of(factor);
    if (std::find(factors.begin(), factors.end(), text) == factors.end()) factors.push_back(text);
  }

  // A parameter, or a product or sum with one, that is no size of a tile: the step to the next tile of a row is bounded
  // by the row.
  bool is_size(Node factor) const {
    bool size = false, tile = false;
    const auto look = [&](Node inner) {
      if (!inner.is(Kind::identifier) || inner.field() == Field::attribute) return;
      const std::string name(inner.text());
      tile = tile || ranged_.count(name) > 0 || name.find("BLOCK") != std::string::npos;
      size = size || function_.param(name) != nullptr;
    };
    look(factor);
    for (Node inner : factor.descendants()) look(inner);
    return size && !tile;
  }

  const Module& module_;
  const Function& function_;
  int scope_;
  model::KernelFact& fact_;
  std::vector<Node> calls_;  // of fact_.accesses
  std::map<std::string, std::string> bases_;
  std::map<std::string, bool> narrow_, wide_;
  std::vector<Node> addresses_;              // the pointer of each access
  std::set<std::string> searched_, ranged_;  // names looked into for terms; names that tl.arange runs to
};

}  // namespace

void trace_pointers(const Module& module, const Function& function, model::KernelFact& fact) {
  PointerTracer(module, function, fact).trace();
}

}  // namespace hone::source
