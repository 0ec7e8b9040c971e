#include "source/triton/launch/star_kwargs.hpp"

#include <algorithm>

#include "source/triton/module/python.hpp"
#include "source/triton/module/reaching.hpp"

namespace hone::source {

namespace {

class DictionaryReader {
 public:
  DictionaryReader(const Module& module, int scope, std::string name) : module_(module), scope_(scope) {
    dictionary_.name = std::move(name);
  }

  StarDictionary read(Node expression, Node launch) {
    if (!expression.is(Kind::identifier)) {
      dictionary_.complete = add_literal(expression, "literal", false);
      return std::move(dictionary_);
    }
    bool complete = false;
    auto definitions = reaching_definitions(module_, scope_, dictionary_.name, expression, complete);
    std::uint32_t since = 0;
    dictionary_.complete = complete;
    for (auto definition = definitions.rbegin(); definition != definitions.rend(); ++definition) {
      const Node value = definition->assignment.value;
      const bool read =
          definition->assignment.how == Assignment::How::plain && definition->assignment.element < 0 &&
          add_literal(value, "dict literal at line " + std::to_string(definition->assignment.statement.line()),
                      definition->elsewhere);
      dictionary_.complete = dictionary_.complete && (read || definition->elsewhere);
      if (definition->condition.empty()) since = definition->assignment.statement.start();
    }
    if (definitions.empty()) {
      for (const Assignment& constant : module_.assignments(kNoFunction, dictionary_.name)) {
        dictionary_.complete =
            add_literal(constant.value, "dict literal at line " + std::to_string(constant.statement.line()), false);
      }
    }
    for (Node statement : module_.statements(scope_)) {
      Reach reach;
      if (statement.start() < since || statement.start() >= launch.start() || statement.contains(launch)) continue;
      if (!reaches(statement, launch, reach)) continue;
      if (statement.is(Kind::assignment)) read_store(statement, reach.elsewhere);
      if (statement.is(Kind::call)) read_mutation(statement, reach.elsewhere);
    }
    return std::move(dictionary_);
  }

 private:
  void put(const std::string& key, Node value, const std::string& how, bool elsewhere) {
    StarEntry entry{key, dictionary_.name + "[\"" + key + "\"] = " + text_of(value), value, how, elsewhere};
    for (StarEntry& known : dictionary_.entries) {
      if (known.key != key) continue;
      if (!elsewhere || known.elsewhere) known = std::move(entry);  // other vendors' values change nothing here
      return;
    }
    dictionary_.entries.push_back(std::move(entry));
  }

  bool add_literal(Node value, const std::string& how, bool elsewhere) {
    value = strip_parentheses(value);
    if (value.is(Kind::call) && value.child(Field::function).text() == "dict") {
      const Arguments arguments = arguments_of(value);
      for (const auto& [key, item] : arguments.keywords) put(key, item, how, elsewhere);
      return arguments.positional.empty() && arguments.double_splats.empty();
    }
    if (!value.is(Kind::dictionary)) return false;
    bool complete = true;
    for (Node pair : value.children()) {
      const auto key = pair.is(Kind::pair) ? string_value(pair.child(Field::key)) : std::nullopt;
      if (key) put(*key, pair.child(Field::value), how, elsewhere);
      complete = complete && key.has_value();
    }
    return complete;
  }

  // kwargs["KEY"] = value
  void read_store(Node statement, bool elsewhere) {
    const Node target = statement.child(Field::left);
    if (!target.is(Kind::subscript) || target.child(Field::value).text() != dictionary_.name) return;
    const auto key = string_value(target.child(Field::subscript));
    if (key)
      put(*key, statement.child(Field::right), "stored into the dict at line " + std::to_string(statement.line()),
          elsewhere);
    if (!key && !elsewhere) dictionary_.complete = false;
  }

  // kwargs.update({...}), kwargs.update(KEY=..), kwargs.setdefault("KEY", ..), or a helper that takes the dictionary.
  void read_mutation(Node call, bool elsewhere) {
    const Node callee = call.child(Field::function);
    const Arguments arguments = arguments_of(call);
    const std::string how = "updated at line " + std::to_string(call.line());
    if (callee.is(Kind::attribute) && callee.child(Field::object).text() == dictionary_.name) {
      const std::string_view method = callee.child(Field::attribute).text();
      if (method == "update") {
        bool complete = true;
        for (Node argument : arguments.positional) complete = add_literal(argument, how, elsewhere) && complete;
        for (const auto& [key, value] : arguments.keywords) put(key, value, how, elsewhere);
        if (!complete && !elsewhere) dictionary_.complete = false;
      } else if (method == "setdefault" && arguments.positional.size() == 2) {
        const auto key = string_value(arguments.positional[0]);
        const auto known = std::find_if(dictionary_.entries.begin(), dictionary_.entries.end(),
                                        [&](const StarEntry& e) { return key && e.key == *key; });
        if (key && known == dictionary_.entries.end()) put(*key, arguments.positional[1], how, elsewhere);
      }
      return;
    }
    for (Node argument : arguments.positional) {
      if (argument.is(Kind::identifier) && argument.text() == dictionary_.name && !elsewhere)
        dictionary_.complete = false;
    }
  }

  const Module& module_;
  int scope_;
  StarDictionary dictionary_;
};

}  // namespace

StarDictionary read_star_dictionary(const Module& module, int scope, Node expression, Node launch) {
  return DictionaryReader(module, scope, text_of(expression)).read(strip_parentheses(expression), launch);
}

}  // namespace hone::source
