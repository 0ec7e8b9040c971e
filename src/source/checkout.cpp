#include "source/checkout.hpp"

#include <algorithm>
#include <set>

#include "base/regular_file.hpp"
#include "source/source_text.hpp"
#include "source/triton/module/module.hpp"
#include "source/triton/module/python.hpp"

namespace hone::source {

namespace {

constexpr int kHighest = 12;

// How the benchmark script names its kernel: exact names, and patterns with `*` where an f-string puts something in.
void collect_names(const Module& module, Node value, std::set<std::string>& names, int depth) {
  value = strip_parentheses(value);
  if (const auto text = string_value(value)) {
    names.insert(*text);
    return;
  }
  if (value.is(Kind::string)) {
    std::string pattern;
    for (Node part : value.children()) {
      if (part.is(Kind::string_content)) pattern += part.text();
      if (part.is(Kind::interpolation)) pattern += '*';
    }
    names.insert(pattern);
  } else if (value.is(Kind::identifier) && depth < 4) {
    for (int scope = module.function_at(value);; scope = module.functions()[static_cast<std::size_t>(scope)].parent) {
      for (const Assignment& assignment : module.assignments(scope, std::string(value.text()))) {
        collect_names(module, assignment.value, names, depth + 1);
      }
      if (scope == kNoFunction) break;
    }
  } else if (value.is(Kind::conditional_expression)) {
    for (Node part : value.children()) collect_names(module, part, names, depth + 1);
  }
}

bool matches(const std::string& pattern, const std::string& name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string::npos) return pattern == name;
  const std::string head = pattern.substr(0, star), tail = pattern.substr(pattern.rfind('*') + 1);
  return !head.empty() && name.size() >= head.size() + tail.size() && name.compare(0, head.size(), head) == 0 &&
         name.compare(name.size() - tail.size(), tail.size(), tail) == 0;
}

}  // namespace

std::optional<Checkout> checkout_at(base::FileSystem& files, const std::string& path) {
  const std::string ops = base::join(path, "src/liger_kernel/ops");
  if (files.is_directory(ops)) return Checkout{path, ops};
  return std::nullopt;
}

std::optional<Checkout> checkout_around(base::FileSystem& files, const std::string& path) {
  std::string at = path;
  for (int i = 0; i < kHighest; ++i) {
    if (auto found = checkout_at(files, at)) return found;
    const std::string above = base::parent(at);
    if (above == at) break;
    at = above;
  }
  return std::nullopt;
}

void PreflightReader::count_rows() {
  counted_ = true;
  const auto text =
      base::read_regular(files_, base::join(root_, "benchmark/data/all_benchmark_data.csv"), kLargestSource);
  if (!text) return;
  // kernel_name is the first column; a quoted field of an earlier row may hold line breaks.
  bool quoted = false, first_column = true, header = true;
  std::string name;
  for (const char c : *text) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '\n') {
      if (!name.empty() && !header) ++rows_[name];
      name.clear();
      first_column = true;
      header = false;
    } else if (c == ',') {
      first_column = false;
    } else if (first_column && c != '\r' && c != '"') {
      name += c;
    }
  }
  if (!name.empty() && !header) ++rows_[name];
}

model::Preflight PreflightReader::read(const std::string& op, const std::vector<std::string>& own) {
  if (!counted_) count_rows();
  model::Preflight preflight;
  preflight.applies = true;
  preflight.benchmark_script = "benchmark/scripts/benchmark_" + op + ".py";
  preflight.test_file = "test/transformers/test_" + op + ".py";
  const std::string script = base::join(root_, preflight.benchmark_script);
  preflight.benchmark_exists = files_.exists(script);
  preflight.test_exists = files_.exists(base::join(root_, preflight.test_file));
  std::set<std::string> patterns;
  if (preflight.benchmark_exists) {
    const auto text = base::read_regular(files_, script, kLargestSource);
    // Only a script that names another kernel needs to be understood.
    const bool plain = text && text->find("\"" + op + "\"") != std::string::npos;
    auto module = text && !plain ? Module::read(preflight.benchmark_script, *text)
                                 : base::Result<std::unique_ptr<Module>>(base::Error{});
    if (module) {
      for (Node node : (*module)->tree().root().descendants()) {
        if (node.is(Kind::keyword_argument) && node.child(Field::name).text() == "kernel_name") {
          collect_names(**module, node.child(Field::value), patterns, 0);
        } else if (node.is(Kind::pair) && string_value(node.child(Field::key)) == "kernel_name") {
          collect_names(**module, node.child(Field::value), patterns, 0);
        }
      }
    }
  }
  if (rows_.count(op) > 0 || patterns.empty()) patterns = {op};
  for (const std::string& pattern : patterns) {
    bool any = false;
    for (const auto& [name, count] : rows_) {
      if (!matches(pattern, name)) continue;
      preflight.csv_rows[name] = count;
      any = true;
    }
    if (!any && pattern.find('*') == std::string::npos) preflight.csv_rows[pattern] = 0;
  }
  if (preflight.csv_rows.empty()) preflight.csv_rows[op] = 0;
  if (patterns.count(op) == 0)
    preflight.notes.push_back(preflight.benchmark_script + " measures under another name than " + op);
  for (const auto& [name, count] : preflight.csv_rows) {
    if (count == 0) preflight.notes.push_back("all_benchmark_data.csv has no " + name + " rows");
  }
  const std::string kernel_benchmark = "benchmark/scripts/benchmark_" + op + "_kernel.py";
  if (files_.exists(base::join(root_, kernel_benchmark)))
    preflight.notes.push_back("the kernel alone is benchmarked by " + kernel_benchmark);
  for (std::size_t i = 1; i < own.size(); ++i) {
    preflight.notes.push_back(own[i] + " has no benchmark or test of its own name; it belongs to " + op);
  }
  return preflight;
}

}  // namespace hone::source
