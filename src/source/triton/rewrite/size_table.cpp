#include "source/triton/rewrite/size_table.hpp"

#include <algorithm>
#include <charconv>

#include "source/triton/module/python.hpp"

namespace hone::source::rewrite {

bool SizeTable::has(const std::string& knob) const {
  return everywhere.count(knob) > 0 ||
         std::any_of(rows.begin(), rows.end(), [&](const SizeRow& row) { return row.values.count(knob) > 0; });
}

base::Result<SizeTable> table_of(const Subject& subject, const Rewrite& rewrite, const Request& request,
                                 const std::vector<KnobRange>& ranges) {
  const auto range_of = [&](const std::string& name) -> const KnobRange* {
    for (const KnobRange& range : ranges) {
      if (name == range.name) return &range;
    }
    return nullptr;
  };
  std::string names;
  for (const KnobRange& range : ranges) names += (names.empty() ? "" : ", ") + std::string(range.name);
  const auto check = [&](const std::string& name, long long value) -> std::string {
    const KnobRange* range = range_of(name);
    if (range == nullptr) return "the knobs " + names;
    if (value >= range->least && value <= range->most && (!range->power_of_two || is_power_of_two(value))) return "";
    return name + " as a " + (range->power_of_two ? "power of two" : "integer") + " from " +
           std::to_string(range->least) + " to " + std::to_string(range->most);
  };
  SizeTable table;
  table.reason = request.reason;
  for (const auto& [name, text] : request.values) {
    long long value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool number = error == std::errc() && end == text.data() + text.size();
    const std::string wrong = number || range_of(name) == nullptr ? check(name, value) : name + " as an integer";
    if (!wrong.empty()) return bad_value(subject, rewrite, wrong, name + "=" + text);
    table.everywhere[name] = value;
  }
  for (const SizeRow& row : request.by_size) {
    if (row.from > row.to || row.values.empty())
      return bad_value(subject, rewrite, "rows from a smaller to a larger size, each with a value",
                       std::to_string(row.from) + " to " + std::to_string(row.to));
    for (const auto& [name, value] : row.values) {
      const std::string wrong = check(name, value);
      if (!wrong.empty()) return bad_value(subject, rewrite, wrong, name + "=" + std::to_string(value));
    }
    table.rows.push_back(row);
  }
  std::sort(table.rows.begin(), table.rows.end(), [](const SizeRow& a, const SizeRow& b) { return a.from < b.from; });
  for (std::size_t i = 1; i < table.rows.size(); ++i) {
    if (table.rows[i].from <= table.rows[i - 1].to)
      return bad_value(subject, rewrite, "rows that do not overlap",
                       "two for size " + std::to_string(table.rows[i].from));
  }
  return table;
}

std::string condition_text(const SizeRow& row, const std::string& variable) {
  const std::string from = std::to_string(row.from), to = std::to_string(row.to);
  if (row.from == row.to) return variable + " == " + from;
  if (row.from <= 0) return variable + " <= " + to;
  if (row.to >= kAnySize) return variable + " >= " + from;
  return from + " <= " + variable + " <= " + to;
}

std::string one_line(const std::string& reason) {
  std::string text;
  for (const char c : reason) {
    const bool space = static_cast<unsigned char>(c) < 0x20 || c == ' ';
    if (space && (text.empty() || text.back() == ' ')) continue;
    text += space ? ' ' : c == '\\' ? '/' : c == '"' ? '\'' : c;
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::vector<std::string> wrapped(const std::string& text, const std::string& prefix, std::size_t width) {
  std::vector<std::string> lines;
  std::string line = prefix;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string part = text.substr(at, end - at);
    if (line.size() > prefix.size() && line.size() + 1 + part.size() > width) {
      lines.push_back(line);
      line = prefix;
    }
    line += (line.size() > prefix.size() ? " " : "") + part;
    at = end + 1;
  }
  if (line.size() > prefix.size()) lines.push_back(line);
  return lines;
}

std::string docstring(const std::string& about, const std::string& reason) {
  const std::string all = about + (reason.empty() ? "." : "; " + one_line(reason) + ".");
  if (all.size() < 100) return "    \"\"\"" + all + "\"\"\"\n";
  std::string text = "    \"\"\"\n";
  for (const std::string& line : wrapped(all, "    ", 116)) text += line + "\n";
  return text + "    \"\"\"\n";
}

std::string size_name(const Subject& subject, int function, Node before) {
  const Module& module = subject.module();
  const auto known_here = [&](const std::string& name) {
    if (name.empty() || name.find('.') != std::string::npos) return false;
    for (const Assignment& assignment : module.assignments(function, name)) {
      if (assignment.statement.end() <= before.start()) return true;
    }
    return subject.function(function).param(name) != nullptr;
  };
  for (int scope = kNoFunction; scope < static_cast<int>(module.functions().size()); ++scope) {
    for (Node call : module.calls(scope)) {
      const std::string callee = module.canonical(call.child(Field::function));
      if (callee.substr(callee.rfind('.') + 1) != "calculate_settings") continue;
      const Arguments arguments = arguments_of(call);
      if (arguments.positional.size() != 1) continue;
      const std::string name = dotted_name(arguments.positional[0]);
      if (known_here(name)) return name;
    }
  }
  for (const Launch* launch : subject.launches_in(function)) {
    for (const auto& [param, value] : launch->fact.bound_params) {
      if ((param == "n_cols" || param == "N" || param == "n" || param == "V") && known_here(value)) return value;
    }
  }
  return {};
}

Node top_level_of(Node node) {
  while (node && !node.parent().is(Kind::module)) node = node.parent();
  return node;
}

}  // namespace hone::source::rewrite
