// What becomes of a kernel when one program does several rows: the shape of each expression, and the edits that give
// operands the same shape.
//
// The program's index becomes a vector of BLOCK_ROW indices. A value is then one of: the same for the whole program; one
// for each row; one for each column (made of tl.arange alone); one for each row and column. Where the operands of an
// operation differ, `[:, None]` and `[None, :]` are put behind them; sums over the columns are taken along axis 1.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "source/triton/rewrite/editor.hpp"
#include "source/triton/rewrite/kernel_flow.hpp"

namespace hone::source::rewrite {

enum class Shape { uniform, row, column, matrix };

class RowShapes {
 public:
  // `mask`: the name of the vector that tells which rows exist.
  RowShapes(const Subject& subject, int kernel, Editor& editor, std::string mask)
      : subject_(subject),
        kernel_(kernel),
        editor_(editor),
        flow_(subject, kernel),
        language_(flow_.language()),
        mask_(std::move(mask)) {}

  // Walks the whole body and edits it. The reason why the kernel has no such form, or empty.
  std::string rewrite();

  // The assignment that takes the program's index along axis 0, and the name it is given.
  Node index_statement() const { return index_statement_; }
  std::string index_name() const { return index_name_; }

 private:
  using Names = std::map<std::string, Shape>;

  void block(Node block, Names& names);
  void statement(Node statement, Names& names);
  void branch(Node statement, Names& names);
  void assign(Node target, Shape shape, Names& names);
  void augmented(Node statement, Names& names);

  Shape expression(Node node, const Names& names);
  Shape binary(Node left, Node right, const Names& names);
  Shape call(Node node, const Names& names);
  Shape method(Node node, Node callee, const Names& names);
  Shape language_call(Node node, const std::string& op, const Names& names);
  Shape program_index(Node node);
  Shape reduction(Node node, const Names& names);
  Shape access(Node node, bool store, const Names& names);
  void mask_access(Node node, Node mask, Shape pointer, Shape mask_shape);
  Shape elementwise(Node node, const Names& names);
  bool is_elementwise_helper(Node callee) const;

  void fit(Node node, Shape from, Shape to);  // puts the index behind an operand that turns `from` into `to`
  void wrap(Node node, const std::string& before, const std::string& after);
  void uniform(Node node, const Names& names, const char* what);  // must be the same for the whole program
  void refuse(Node at, const std::string& reason);

  const Subject& subject_;
  int kernel_;
  Editor& editor_;
  KernelFlow flow_;
  std::string language_, mask_, reason_;
  Node index_statement_;
  std::string index_name_;
};

}  // namespace hone::source::rewrite
