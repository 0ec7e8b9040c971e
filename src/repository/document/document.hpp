// A TOML file as a tree of plain nodes that know where they stand. Says what the file holds; its meaning is for its reader.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace hone::repository {

// 1-based, of the first character.
struct Place {
  int line = 0, column = 0;
};

// "dir/hone.toml:12:5"
std::string at(const std::string& file, const Place& place);

struct Node {
  enum class Kind { table, array, text, whole, real, truth, date };
  Kind kind = Kind::table;
  Place place;
  std::string text;  // of a text
  Place text_place;  // where its first character stands; its columns go on from there in a text of one line
  std::int64_t whole = 0;
  double real = 0;
  bool truth = false;
  struct Member;
  std::vector<Member> members;  // of a table, in the order of the file
  std::vector<Node> items;      // of an array

  const Member* find(const std::string& name) const;
  const char* kind_name() const;  // "a table", "a text", ...
};

struct Node::Member {
  std::string name;
  Place place;  // of the key
  Node value;
};

// Longest text of a document: they are written by hand.
inline constexpr std::uint64_t kLargestDocumentBytes = std::uint64_t{1} << 20;

// The tree of a text. A usage error names file, line and column, and says what TOML expects there.
base::Result<Node> parse_document(const std::string& text, const std::string& file);

}  // namespace hone::repository
