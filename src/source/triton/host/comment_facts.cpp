#include "source/triton/host/comment_facts.hpp"

#include <algorithm>
#include <cctype>

#include "source/open_tasks.hpp"
#include "source/source_text.hpp"
#include "source/triton/module/module_set.hpp"
#include "source/triton/module/python.hpp"

namespace hone::source {

namespace {

bool speaks_of_performance(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* word : {"speed", "fast", "slow", "perf", "memory", "optimi", "latency", "throughput", "efficien",
                           "occupancy", "spill", "autotun", "overhead", "bandwidth", "_kernel", "cache"}) {
    if (text.find(word) != std::string::npos) return true;
  }
  return false;
}

bool is_docstring(Node string) { return string.parent().is(Kind::expression_statement); }

// The comment and those on the lines straight after it: one remark.
std::string remark_from(const std::vector<Node>& comments, std::size_t first) {
  std::string text(comments[first].text());
  for (std::size_t i = first + 1; i < comments.size() && comments[i].line() == comments[i - 1].line() + 1; ++i) {
    if (!open_task_tag(comments[i].text()).empty()) break;
    text += ' ';
    text += comments[i].text();
  }
  return text;
}

// The text of a comment without its '#' signs and the space after them.
std::string_view uncommented(std::string_view text) {
  while (!text.empty() && text.front() == '#') text.remove_prefix(1);
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  return text;
}

bool starts_own_line(Node comment, const Module& module) {
  const std::string& text = module.tree().text();
  for (std::size_t at = comment.start(); at > 0 && text[at - 1] != '\n'; --at) {
    if (text[at - 1] != ' ' && text[at - 1] != '\t') return false;
  }
  return true;
}

}  // namespace

std::vector<model::TodoComment> read_todo_comments(const Module& module) {
  std::vector<model::TodoComment> found;
  std::vector<Node> comments;
  for (Node node : module.tree().root().descendants()) {
    if (node.is(Kind::comment)) comments.push_back(node);
    if (!node.is(Kind::string) || !is_docstring(node)) continue;
    int line = node.line();
    std::string_view rest = node.text();
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      const std::string_view text = rest.substr(0, end);
      if (const std::string tag = open_task_tag(text); !tag.empty()) {
        found.push_back({module.path(), line, tag, collapse_white_space(to_utf8(text)),
                         speaks_of_performance(std::string(text)), true});
      }
      ++line;
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
  }
  for (std::size_t i = 0; i < comments.size(); ++i) {
    const std::string tag = open_task_tag(comments[i].text());
    if (tag.empty()) continue;
    found.push_back({module.path(), comments[i].line(), tag, collapse_white_space(to_utf8(comments[i].text())),
                     speaks_of_performance(remark_from(comments, i)), false});
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.line < b.line; });
  return found;
}

std::vector<model::CommentedAutotune> read_commented_autotune(const Module& module) {
  std::vector<model::CommentedAutotune> found;
  std::vector<Node> comments;
  for (Node node : module.tree().root().descendants()) {
    if (node.is(Kind::comment) && starts_own_line(node, module)) comments.push_back(node);
  }
  for (std::size_t i = 0; i < comments.size(); ++i) {
    const std::string_view text = uncommented(comments[i].text());
    if (text.empty() || text[0] != '@' || text.find("autotune") == std::string_view::npos) continue;
    // To the line that closes its brackets, over comment lines that follow each other.
    int open = 0;
    std::size_t last = i;
    std::string whole;
    for (std::size_t j = i; j < comments.size(); ++j) {
      if (j > i && comments[j].line() != comments[j - 1].line() + 1) break;
      const std::string_view part = uncommented(comments[j].text());
      for (const char c : part)
        open += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
      whole += (whole.empty() ? "" : " ") + std::string(part);
      last = j;
      if (open <= 0) break;
    }
    model::CommentedAutotune fact{module.path(), comments[i].line(), comments[last].line(),
                                  collapse_white_space(to_utf8(whole)), std::nullopt};
    int nearest = 0;
    for (const Function& function : module.functions()) {
      const int line = function.outer.line();
      if (line <= fact.end_line || !is_jit(module, function) || (nearest != 0 && line >= nearest)) continue;
      nearest = line;
      fact.above_kernel = function.name;
    }
    found.push_back(std::move(fact));
    i = last;
  }
  return found;
}

}  // namespace hone::source
