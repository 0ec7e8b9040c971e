#include "source/triton/launch/launch_grid.hpp"

#include "source/source_text.hpp"
#include "source/triton/module/python.hpp"
#include "source/triton/module/unparse.hpp"

namespace hone::source {

namespace {

struct GridPieces {
  std::vector<Node> indices;  // what stands in the brackets
  bool is_tuple = false;      // several, or one with a comma
};

GridPieces pieces_of(Node call) {
  GridPieces pieces;
  const Node subscript = strip_parentheses(call.child(Field::function));
  bool comma = false;
  for (Node child : subscript.all_children()) {
    if (child.field() == Field::subscript && child.named()) pieces.indices.push_back(child);
    comma = comma || child.text() == ",";
  }
  pieces.is_tuple = pieces.indices.size() > 1 || comma;
  return pieces;
}

std::string text_between(Node first, Node last, const Module& module) {
  const std::string_view whole = module.tree().text();
  return collapse_white_space(to_utf8(whole.substr(first.start(), last.end() - first.start())));
}

// The last assignment before `use` by line, here or in an enclosing function or at module level.
const Assignment* last_assignment(const Module& module, int scope, const std::string& name, Node use) {
  for (int at = scope;; at = module.functions()[static_cast<std::size_t>(at)].parent) {
    const Assignment* last = nullptr;
    for (const Assignment& assignment : module.assignments(at, name)) {
      if (assignment.how == Assignment::How::augmented) continue;
      if (assignment.statement.start() < use.start() || (at != scope && last == nullptr)) last = &assignment;
    }
    if (last != nullptr || at == kNoFunction) return last;
  }
}

std::string form_of(Node grid) {
  if (grid.is(Kind::lambda)) return "lambda";
  if (grid.is(Kind::tuple) || grid.is(Kind::expression_list)) return "tuple";
  if (grid.is(Kind::list)) return "list";
  return "expression";
}

std::optional<int> dimensions_of(Node grid) {
  if (grid.is(Kind::lambda)) grid = strip_parentheses(grid.child(Field::body));
  if (grid.is(Kind::tuple) || grid.is(Kind::expression_list) || grid.is(Kind::list)) {
    return static_cast<int>(elements_of(grid).size());
  }
  return std::nullopt;
}

// A grid function: `def grid(meta): return (...)`.
Node returned_by(const Module& module, const std::string& name, int scope) {
  const int index = module.find_function(name, scope);
  if (index == kNoFunction) return {};
  for (Node inner : module.functions()[static_cast<std::size_t>(index)].body.descendants()) {
    if (inner.is(Kind::return_statement) && module.function_at(inner) == index) return inner.first_named_child();
  }
  return {};
}

}  // namespace

Node resolved_grid(const Module& module, int scope, Node call) {
  const GridPieces pieces = pieces_of(call);
  if (pieces.indices.empty()) return {};
  Node grid = strip_parentheses(pieces.indices[0]);
  if (pieces.is_tuple || !grid.is(Kind::identifier)) return grid;
  for (int hops = 0; hops < 8 && grid.is(Kind::identifier); ++hops) {
    const Assignment* assignment = last_assignment(module, scope, std::string(grid.text()), call);
    if (assignment == nullptr || assignment->how != Assignment::How::plain || assignment->element >= 0) break;
    grid = strip_parentheses(assignment->value);
  }
  return grid;
}

void read_grid(const Module& module, int scope, Node call, model::LaunchFact& fact) {
  const GridPieces pieces = pieces_of(call);
  fact.grid_assigned_line = call.line();
  if (pieces.indices.empty()) {
    fact.grid_form = "expression";
    return;
  }
  const Node first = pieces.indices.front();
  fact.grid_text = pieces.indices.size() == 1 ? text_of(first) : text_between(first, pieces.indices.back(), module);
  if (pieces.is_tuple) {
    fact.grid_form = "tuple";
    fact.grid_resolved = fact.grid_text;
    std::string joined;
    for (const Node& index : pieces.indices) joined += (joined.empty() ? "" : ", ") + unparse(index);
    fact.grid_unparsed = "(" + joined + (pieces.indices.size() == 1 ? ",)" : ")");
    fact.grid_ndim = static_cast<int>(pieces.indices.size());
    return;
  }
  const Node direct = strip_parentheses(first);
  Node grid = direct;
  if (direct.is(Kind::identifier)) {
    const std::string name(direct.text());
    const Assignment* assignment = last_assignment(module, scope, name, call);
    if (assignment != nullptr) {
      fact.grid_assigned_line = assignment->statement.line();
      grid = resolved_grid(module, scope, call);
      fact.grid_form = "name->" + form_of(grid);
    } else if (const Node result = returned_by(module, name, scope)) {
      fact.grid_assigned_line =
          module.functions()[static_cast<std::size_t>(module.find_function(name, scope))].definition.line();
      grid = strip_parentheses(result);
      fact.grid_form = "name->function";
    } else {
      fact.grid_form = "name";
    }
  } else {
    fact.grid_form = form_of(grid);
  }
  fact.grid_resolved = text_of(grid);
  fact.grid_unparsed = unparse(grid);
  fact.grid_is_lambda = grid.is(Kind::lambda);
  fact.grid_ndim = dimensions_of(grid);
}

}  // namespace hone::source
