// Collects the byte-exact replacements of one rewrite, in the style of the text around them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "source/edit.hpp"
#include "source/triton/rewrite/subject.hpp"

namespace hone::source::rewrite {

class Editor {
 public:
  explicit Editor(const Subject& subject) : subject_(subject) {}

  void replace(Node node, std::string text);
  void insert(std::size_t offset, const std::string& text);  // several at one place stay in the order of the calls

  void insert_outside(std::size_t offset, const std::string& text);  // before what was inserted there

  // Whole lines at the indentation of `statement`, before or after it. A line that is empty stays empty.
  void lines_before(Node statement, const std::vector<std::string>& lines);
  void lines_after(Node statement, const std::vector<std::string>& lines);
  // A new function before the top-level statement `definition` and the comments that stand directly above it. `text` has
  // plain line breaks and brings the empty lines behind it.
  void function_before(Node definition, const std::string& text);
  // Removes the lines of a statement that shares them with nothing but a comment.
  void remove_lines(Node statement);

  // Adds an element to an argument list, a parameter list or a dictionary: on a line of its own where the others stand
  // so, before `**` arguments.
  void append(Node list, const std::string& element);

  // Why an edit was not possible; empty when all were.
  const std::string& problem() const { return problem_; }
  std::vector<Replacement> take();

 private:
  std::string indentation(std::size_t offset) const;
  bool begins_its_line(Node statement);
  std::size_t line_end(std::size_t offset) const;  // behind the line break
  std::string joined(const std::string& indent, const std::vector<std::string>& lines) const;

  const Subject& subject_;
  std::vector<Replacement> replacements_;
  std::map<std::size_t, std::string> insertions_;
  std::string problem_;
};

}  // namespace hone::source::rewrite
