#include "source/triton/rewrite/editor.hpp"

#include <algorithm>

namespace hone::source::rewrite {

void Editor::replace(Node node, std::string text) {
  replacements_.push_back({node.start(), node.end(), std::move(text)});
}

void Editor::insert(std::size_t offset, const std::string& text) { insertions_[offset] += text; }

void Editor::insert_outside(std::size_t offset, const std::string& text) {
  std::string& there = insertions_[offset];
  there = text + there;
}

std::string Editor::indentation(std::size_t offset) const {
  const std::string& text = subject_.text();
  std::size_t start = offset;
  while (start > 0 && text[start - 1] != '\n') --start;
  std::size_t end = start;
  while (end < offset && (text[end] == ' ' || text[end] == '\t')) ++end;
  return text.substr(start, end - start);
}

bool Editor::begins_its_line(Node statement) {
  const std::string& text = subject_.text();
  std::size_t at = statement.start();
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t')) --at;
  if (at == 0 || text[at - 1] == '\n') return true;
  if (problem_.empty()) problem_ = "line " + std::to_string(statement.line()) + " holds more than one statement";
  return false;
}

std::size_t Editor::line_end(std::size_t offset) const {
  const std::size_t end = subject_.text().find('\n', offset);
  return end == std::string::npos ? subject_.text().size() : end + 1;
}

std::string Editor::joined(const std::string& indent, const std::vector<std::string>& lines) const {
  std::string all;
  for (const std::string& line : lines) {
    if (!line.empty()) all += indent + line;
    all += subject_.is_crlf() ? "\r\n" : "\n";
  }
  return all;
}

void Editor::lines_before(Node statement, const std::vector<std::string>& lines) {
  if (!begins_its_line(statement)) return;
  const std::string indent = indentation(statement.start());
  insert(statement.start() - indent.size(), joined(indent, lines));
}

void Editor::lines_after(Node statement, const std::vector<std::string>& lines) {
  if (!begins_its_line(statement)) return;
  const std::string& text = subject_.text();
  const std::size_t end = line_end(statement.end());
  std::size_t at = statement.end();
  while (at < end && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n')) ++at;
  if (at < end && text[at] != '#') {
    if (problem_.empty()) problem_ = "line " + std::to_string(statement.end_line()) + " holds more than one statement";
    return;
  }
  std::string added = joined(indentation(statement.start()), lines);
  const bool open = end == text.size() && (end == 0 || text[end - 1] != '\n');  // the text ends without a line break
  if (open) {
    added = (subject_.is_crlf() ? "\r\n" : "\n") + added;
    added.erase(added.find_last_not_of("\r\n") + 1);
  }
  insert(end, added);
}

void Editor::function_before(Node definition, const std::string& text) {
  const std::string& source = subject_.text();
  std::size_t at = definition.start();
  while (at > 0 && source[at - 1] == '\n') {
    std::size_t above = at - 1;
    while (above > 0 && source[above - 1] != '\n') --above;
    if (source[above] != '#') break;
    at = above;
  }
  const bool tabs = source.find("\n\t") != std::string::npos && source.find("\n    ") == std::string::npos;
  std::string added;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (tabs && text.compare(i, 4, "    ") == 0) {
      added += '\t';
      i += 3;
    } else {
      added += text[i] == '\n' && subject_.is_crlf() ? std::string("\r\n") : std::string(1, text[i]);
    }
  }
  insert(at, added);
}

void Editor::remove_lines(Node statement) {
  if (!begins_its_line(statement)) return;
  const std::string indent = indentation(statement.start());
  replacements_.push_back({statement.start() - indent.size(), line_end(statement.end()), ""});
}

void Editor::append(Node list, const std::string& element) {
  const std::string& text = subject_.text();
  Node last;
  for (Node child : list.children()) {
    if (!child.is(Kind::dictionary_splat)) last = child;
  }
  if (!last) {
    Node first;
    for (Node child : list.children()) {
      first = child;
      break;
    }
    insert(list.start() + 1, first ? element + ", " : element);
    return;
  }
  std::size_t at = last.end();
  while (at < list.end() && (text[at] == ' ' || text[at] == '\t')) ++at;
  if (at < list.end() && text[at] == ',') {
    std::size_t rest = at + 1;
    while (rest < list.end() && (text[rest] == ' ' || text[rest] == '\t' || text[rest] == '\r')) ++rest;
    const bool own_line = last.line() != list.line() && rest < list.end() && (text[rest] == '\n' || text[rest] == '#');
    if (own_line) {
      insert(line_end(at), joined(indentation(last.start()), {element + ","}));
      return;
    }
  }
  insert(last.end(), ", " + element);
}

std::vector<Replacement> Editor::take() {
  std::vector<Replacement> all = std::move(replacements_);
  for (auto& [offset, text] : insertions_) all.push_back({offset, offset, std::move(text)});
  return all;
}

}  // namespace hone::source::rewrite
