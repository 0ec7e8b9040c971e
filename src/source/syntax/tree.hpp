// A parsed file as one flat array of nodes in source order. A subtree is a contiguous range, so walking it is a loop:
// nothing here or above recurses over the tree, and deeply nested input can not exhaust the stack.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "source/syntax/kinds.hpp"

namespace hone::source {

enum class Language { python, cuda };

struct NodeRecord {
  std::uint32_t start = 0, end = 0;           // bytes
  std::uint32_t row = 0, end_row = 0;         // 0-based
  std::uint32_t parent = 0, subtree_end = 0;  // indices into the array
  Kind kind = Kind::other;
  Field field = Field::none;
  bool named = false;
  bool missing = false;  // put in by the parser where the text lacks it
};

class SyntaxTree;

// A place in a tree; cheap to copy. An invalid node stands for "not there": its text is empty and it has no children.
class Node {
 public:
  Node() = default;
  Node(const SyntaxTree* tree, std::uint32_t index) : tree_(tree), index_(index) {}

  bool valid() const { return tree_ != nullptr; }
  explicit operator bool() const { return valid(); }
  bool operator==(const Node& other) const { return tree_ == other.tree_ && index_ == other.index_; }

  Kind kind() const;
  bool is(Kind kind) const { return this->kind() == kind; }
  Field field() const;
  bool named() const;
  bool missing() const;
  std::string_view text() const;
  std::uint32_t start() const;
  std::uint32_t end() const;
  int line() const;      // 1-based; 0 for an invalid node
  int end_line() const;  // of the last character
  std::uint32_t index() const { return index_; }
  std::uint32_t subtree_end() const;

  Node parent() const;
  Node child(Field field) const;    // the first child in that role
  Node first_named_child() const;   // comments left out
  bool contains(Node other) const;  // also of itself

  class Siblings;
  class Subtree;
  Siblings children() const;      // named, comments left out
  Siblings all_children() const;  // also tokens and comments
  Subtree descendants() const;    // in source order, without the node itself, tokens included

 private:
  const NodeRecord& record() const;
  const SyntaxTree* tree_ = nullptr;
  std::uint32_t index_ = 0;
};

class SyntaxTree {
 public:
  const std::string& text() const { return text_; }
  const std::vector<NodeRecord>& records() const { return records_; }
  Node root() const { return records_.empty() ? Node() : Node(this, 0); }
  Node node(std::uint32_t index) const { return Node(this, index); }

 private:
  friend base::Result<std::unique_ptr<SyntaxTree>> parse(Language, std::string, const std::string&);
  std::string text_;
  std::vector<NodeRecord> records_;
};

// Parses `text`. Never fails on wrong syntax (such places are Kind::error nodes); fails above 64 MiB, or when the
// parser's error recovery would take more than a fixed number of steps for the size of the text. `where` names the text
// in errors.
base::Result<std::unique_ptr<SyntaxTree>> parse(Language language, std::string text, const std::string& where);

class Node::Siblings {
 public:
  class Iterator {
   public:
    Iterator(const SyntaxTree* tree, std::uint32_t index, std::uint32_t end, bool all)
        : tree_(tree), index_(index), end_(end), all_(all) {
      skip();
    }
    Node operator*() const { return Node(tree_, index_); }
    Iterator& operator++() {
      index_ = tree_->records()[index_].subtree_end;
      skip();
      return *this;
    }
    bool operator!=(const Iterator& other) const { return index_ != other.index_; }

   private:
    void skip() {
      while (!all_ && index_ < end_) {
        const NodeRecord& record = tree_->records()[index_];
        if (record.named && record.kind != Kind::comment) break;
        index_ = record.subtree_end;
      }
    }
    const SyntaxTree* tree_;
    std::uint32_t index_, end_;
    bool all_;
  };
  Siblings(const SyntaxTree* tree, std::uint32_t first, std::uint32_t end, bool all)
      : tree_(tree), first_(first), end_(end), all_(all) {}
  Iterator begin() const { return Iterator(tree_, first_, end_, all_); }
  Iterator end() const { return Iterator(tree_, end_, end_, all_); }

 private:
  const SyntaxTree* tree_;
  std::uint32_t first_, end_;
  bool all_;
};

class Node::Subtree {
 public:
  class Iterator {
   public:
    Iterator(const SyntaxTree* tree, std::uint32_t index) : tree_(tree), index_(index) {}
    Node operator*() const { return Node(tree_, index_); }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return index_ != other.index_; }

   private:
    const SyntaxTree* tree_;
    std::uint32_t index_;
  };
  Subtree(const SyntaxTree* tree, std::uint32_t first, std::uint32_t end) : tree_(tree), first_(first), end_(end) {}
  Iterator begin() const { return Iterator(tree_, first_); }
  Iterator end() const { return Iterator(tree_, end_); }

 private:
  const SyntaxTree* tree_;
  std::uint32_t first_, end_;
};

// Defined here because walking a tree is nothing but these.
inline const NodeRecord& Node::record() const {
  static constexpr NodeRecord nothing;
  return tree_ ? tree_->records()[index_] : nothing;
}
inline Kind Node::kind() const { return record().kind; }
inline Field Node::field() const { return record().field; }
inline bool Node::named() const { return record().named; }
inline bool Node::missing() const { return record().missing; }
inline std::uint32_t Node::start() const { return record().start; }
inline std::uint32_t Node::end() const { return record().end; }
inline int Node::line() const { return tree_ ? static_cast<int>(record().row) + 1 : 0; }
inline int Node::end_line() const { return tree_ ? static_cast<int>(record().end_row) + 1 : 0; }
inline std::uint32_t Node::subtree_end() const { return record().subtree_end; }

}  // namespace hone::source
