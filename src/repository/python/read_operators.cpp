#include "repository/python/read_operators.hpp"

#include <algorithm>
#include <set>

#include "base/size_text.hpp"
#include "base/text.hpp"

namespace hone::repository::python {

namespace {

constexpr std::int64_t kMostAxes = 8, kMostOutputs = 64;

// What names of an operator's own must not hide in its Python expressions.
const std::set<std::string> kReserved = {"torch", "F", "math", "up", "device", "dtype_bytes"};

class OperatorReader {
 public:
  OperatorReader(TableReader& table, const std::string& name) : table_(table) { operator_.name = name; }

  OperatorDescription run() {
    read_sizes();
    read_options();
    read_inputs();
    read_call();
    read_passes();
    return std::move(operator_);
  }

 private:
  Reading& reading() { return table_.reading(); }
  std::string what(const std::string& key) const { return table_.what() + "." + key; }

  void claim(const std::string& name, const Place& place) {
    if (!is_identifier(name))
      reading().fail(place, "a name of letters, digits and '_'", "'" + name + "'", "correct the name");
    else if (kReserved.count(name) || !names_.insert(name).second)
      reading().fail(place, "a name of its own", "'" + name + "', which means something else already",
                     "choose another name");
  }

  void check(const Expression& expression, std::vector<std::string> more = {}) {
    more.insert(more.begin(), extents_.begin(), extents_.end());
    if (auto known = expression.check_names(more); !known) reading().fail(known.error());
  }

  void read_sizes() {
    operator_.x_name = table_.required_text("x_name", "what the tables run over");
    operator_.x = table_.text("x", "columns");
    claim(operator_.x, table_.place("x"));
    extents_.push_back(operator_.x);
    table_.required("sizes", "the values of " + operator_.x_name + " to measure");
    operator_.sizes = table_.wholes("sizes", 1, base::kLargestSize);
    if (const Node* node = table_.table("size")) {
      TableReader sizes(reading(), *node, what("size"));
      for (const Node::Member& member : node->members) {
        claim(member.name, member.place);
        extents_.push_back(member.name);
        operator_.extents[member.name] = sizes.whole(member.name, 1, base::kLargestSize, 1);
      }
      sizes.finish();
    }
    if (const Node* node = table_.table("gate")) {
      TableReader gate(reading(), *node, what("gate"));
      for (const std::string& extent : extents_)
        if (auto value = gate.expression(extent)) {
          check(*value);
          operator_.gate.emplace(extent, std::move(*value));
        }
      gate.finish();
    }
  }

  // Texts, or true and false.
  void read_options() {
    const Node* node = table_.table("option");
    if (!node) return;
    TableReader options(reading(), *node, what("option"));
    for (const Node::Member& member : node->members) {
      claim(member.name, member.place);
      OptionDecl option;
      option.name = member.name;
      const auto& items = member.value.items;
      option.truth = !items.empty() && items.front().kind == Node::Kind::truth;
      if (option.truth) {
        (void)options.node(member.name);
        for (const Node& item : items)
          if (item.kind == Node::Kind::truth)
            option.values.push_back(item.truth ? "true" : "false");
          else
            options.wrong_kind(member.name, item, "true and false alone");
      } else {
        option.values = options.texts(member.name);
      }
      if (option.values.empty()) options.wrong_kind(member.name, member.value, "an array of its values");
      operator_.options.push_back(std::move(option));
    }
    options.finish();
  }

  void read_inputs() {
    const Node* node = table_.required("input", "the tensors that the operator is called with");
    if (!node) return;
    TableReader inputs(reading(), *node, what("input"));
    for (const Node::Member& member : node->members) {
      claim(member.name, member.place);
      if (const Node* input = inputs.table(member.name)) read_input(*input, member.name);
    }
    inputs.finish();
  }

  void read_input(const Node& node, const std::string& name) {
    TableReader table(reading(), node, what("input." + name));
    InputDecl input;
    input.fixed.name = name;
    input.fixed.type = table.choice("type", {"dtype", "fp32", "int64", "int32"}, "dtype");
    input.fixed.gradient = table.truth("gradient", false);
    const Node* shape = table.required("shape", "its extents, [] for a single number");
    if (shape && shape->kind == Node::Kind::array && shape->items.empty())
      ;  // a single number
    else
      input.shape = table.expressions("shape", kMostAxes);
    for (const Expression& extent : input.shape) check(extent);
    read_order(table, input);
    read_values(table, input);
    table.finish();
    operator_.inputs.push_back(std::move(input));
  }

  void read_order(TableReader& table, InputDecl& input) {
    const Node* order = table.node("order");
    if (!order) return;
    std::set<std::int64_t> seen;
    for (const Node& item : order->items)
      if (item.kind == Node::Kind::whole && item.whole >= 0 &&
          item.whole < static_cast<std::int64_t>(input.shape.size()) && seen.insert(item.whole).second)
        input.fixed.order.push_back(static_cast<int>(item.whole));
    if (order->kind != Node::Kind::array || input.fixed.order.size() != input.shape.size() ||
        order->items.size() != input.shape.size())
      table.wrong_kind("order", *order, "each axis of the shape once, the outermost in memory first");
  }

  void read_values(TableReader& table, InputDecl& input) {
    input.fixed.distribution = "normal";
    const Node* node = table.table("values");
    if (!node) return;
    TableReader values(reading(), *node, table.what() + ".values");
    input.fixed.distribution = values.choice(
        "distribution", {"normal", "uniform", "integers", "zeros", "ones", "softmax", "log_softmax", "formula"},
        "normal");
    const std::string& distribution = input.fixed.distribution;
    std::vector<std::string> bounds;
    if (distribution == "normal") bounds = {"mean", "deviation"};
    if (distribution == "uniform") bounds = {"low", "high"};
    if (distribution == "integers") {
      bounds = {"low", "below"};
      values.required("below", "the first number above the range");
    }
    for (const std::string& bound : bounds)
      if (auto value = values.expression(bound)) {
        check(*value);
        input.bounds.emplace(bound, std::move(*value));
      }
    if (distribution == "formula")
      input.fixed.formula = values.required_text("formula", "a Python expression that gives the tensor");
    values.finish();
  }

  void read_call() {
    operator_.callable = table_.required_text("callable", "what is called, by its name in the module");
    table_.required("arguments", "the arguments of the call, Python expressions");
    operator_.arguments = table_.texts("arguments");
    operator_.formula = table_.required_text("formula", "a Python expression that gives the outputs");
    operator_.loss = table_.truth("loss", false);
    if (const Node* outputs = table_.node("outputs")) {
      for (const Node& item : outputs->items)
        if (item.kind == Node::Kind::whole && item.whole >= 0 && item.whole < kMostOutputs)
          operator_.outputs.push_back(static_cast<int>(item.whole));
        else
          table_.wrong_kind("outputs", item, "the place of an output, from 0");
      if (operator_.outputs.empty()) table_.wrong_kind("outputs", *outputs, "the places of the outputs that count");
    }
    if (const Node* node = table_.table("overwrites")) {
      TableReader overwrites(reading(), *node, what("overwrites"));
      operator_.overwrites_forward = inputs_in(overwrites, "forward");
      operator_.overwrites_backward = inputs_in(overwrites, "backward");
      operator_.overwrites_gradients = overwrites.truth("gradients", false);
      overwrites.finish();
    }
  }

  std::vector<std::string> inputs_in(TableReader& table, const std::string& key) {
    std::vector<std::string> names = table.texts(key);
    for (const std::string& name : names)
      if (std::none_of(operator_.inputs.begin(), operator_.inputs.end(),
                       [&](const InputDecl& input) { return input.fixed.name == name; }))
        reading().fail(table.place(key), "inputs of " + operator_.name, "'" + name + "'", "correct the name");
    return names;
  }

  void read_passes() {
    const Node* node = table_.required("pass", "the minimum traffic of forward and, where there is one, of backward");
    if (!node) return;
    TableReader passes(reading(), *node, what("pass"));
    passes.required("forward", "its minimum traffic");
    for (const std::string& name : {std::string("forward"), std::string("backward")}) {
      const Node* pass = passes.table(name);
      if (!pass) continue;
      TableReader table(reading(), *pass, what("pass." + name));
      PassDecl decl{name, table.expression("bytes_read"), table.expression("bytes_written"), table.expression("flops"),
                    table.expression("matrix_flops")};
      for (const auto* each : {&decl.bytes_read, &decl.bytes_written, &decl.flops, &decl.matrix_flops})
        if (*each) check(**each, {"dtype_bytes"});
      table.finish();
      operator_.passes.push_back(std::move(decl));
    }
    passes.finish();
  }

  TableReader& table_;
  OperatorDescription operator_;
  std::vector<std::string> extents_;
  std::set<std::string> names_;  // extents, options and inputs: the Python expressions know all of them
};

}  // namespace

OperatorDescription read_operator(TableReader& table, const std::string& name) {
  return OperatorReader(table, name).run();
}

base::Result<std::vector<OperatorDescription>> read_operators(const std::string& text, const std::string& file,
                                                              const std::string& code) {
  HONE_TRY(root, parse_document(text, file));
  Reading reading{file, std::nullopt};
  TableReader top(reading, *root, "the document");
  std::vector<OperatorDescription> all;
  if (const Node* operators = top.required("operator", "[operator.NAME] tables")) {
    TableReader names(reading, *operators, "[operator]");
    for (const Node::Member& member : operators->members) {
      const Node* node = names.table(member.name);
      if (!node) continue;
      TableReader table(reading, *node, "[operator." + member.name + "]");
      all.push_back(read_operator(table, member.name));
      all.back().code = code;
      table.finish();
    }
    names.finish();
  }
  top.finish();
  if (reading.error) return *reading.error;
  return all;
}

}  // namespace hone::repository::python
