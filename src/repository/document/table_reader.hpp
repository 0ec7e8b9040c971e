// Reads the keys of one table, each once, and remembers the first thing that is wrong. Keys that nobody asked for are errors.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "repository/document/document.hpp"
#include "repository/document/expression.hpp"

namespace hone::repository {

// One reading of a file: only the first error is kept, and what is read after it means nothing.
struct Reading {
  std::string file;
  std::optional<base::Error> error;

  void fail(const Place& place, std::string expected, std::string found, std::string remedy);
  void fail(base::Error wrong);
};

// A name as programs use it: a letter or '_', then letters, digits and '_'; at most 64.
bool is_identifier(const std::string& text);

// A name that may be a macro. Single letters are template parameters of the compilers' own headers, and keywords stand in every
// header: they would not compile.
bool is_macro_name(const std::string& text);

class TableReader {
 public:
  // `what` is the table's name in messages: "[tensor.x]".
  TableReader(Reading& reading, const Node& node, std::string what);

  bool has(const std::string& key) const { return table_.find(key) != nullptr; }
  Place place(const std::string& key) const;
  Place place() const { return table_.place; }

  // The value, or nothing where the key is missing. required_...: then an error.
  const Node* node(const std::string& key);
  const Node* required(const std::string& key, const std::string& expected);
  std::string text(const std::string& key, const std::string& otherwise = "");
  std::string required_text(const std::string& key, const std::string& expected);
  std::string identifier(const std::string& key, const std::string& expected);
  std::string choice(const std::string& key, const std::vector<std::string>& choices, const std::string& otherwise);
  std::int64_t whole(const std::string& key, std::int64_t least, std::int64_t most, std::int64_t otherwise);
  bool truth(const std::string& key, bool otherwise);
  std::vector<std::string> texts(const std::string& key);
  std::vector<std::int64_t> wholes(const std::string& key, std::int64_t least, std::int64_t most);
  std::optional<Expression> expression(const std::string& key);
  // One expression, or an array of one to `most`.
  std::vector<Expression> expressions(const std::string& key, std::size_t most);
  // Macros with their values: texts or integers.
  std::vector<std::pair<std::string, std::string>> defines(const std::string& key);
  const Node* table(const std::string& key);

  std::optional<Expression> expression_of(const Node& node, const std::string& key);
  void wrong_kind(const std::string& key, const Node& node, const std::string& expected);
  // Unknown keys, with the nearest known ones.
  void finish();
  Reading& reading() { return reading_; }
  const std::string& what() const { return what_; }

 private:
  std::string words_of(const std::string& key) const { return "'" + key + "' of " + what_; }

  Reading& reading_;
  const Node& table_;
  std::string what_;
  std::set<std::string> known_;
};

}  // namespace hone::repository
