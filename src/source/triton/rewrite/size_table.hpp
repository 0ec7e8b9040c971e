// Knobs by size: checked, and written as the if-chain of a Python function.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "source/triton/rewrite/subject.hpp"

namespace hone::source::rewrite {

// What a knob may be: an integer from `least` to `most`, a power of two where asked.
struct KnobRange {
  const char* name;
  long long least, most;
  bool power_of_two;
};

// The values of one pass: for all sizes, then by size.
struct SizeTable {
  std::map<std::string, long long> everywhere;
  std::vector<SizeRow> rows;  // by `from`
  std::string reason;

  bool empty() const { return everywhere.empty() && rows.empty(); }
  bool has(const std::string& knob) const;
};

// Fails where a knob is not one of `ranges` or its value outside them, or rows overlap.
base::Result<SizeTable> table_of(const Subject& subject, const Rewrite& rewrite, const Request& request,
                                 const std::vector<KnobRange>& ranges);

// "n == 4096", "n <= 4096", "4097 <= n <= 8192".
std::string condition_text(const SizeRow& row, const std::string& variable);

// The reason as text that can stand in a docstring or a comment: one line, no quotes that end it.
std::string one_line(const std::string& reason);
// A docstring at function level: `about`, then the reason.
std::string docstring(const std::string& about, const std::string& reason);
std::vector<std::string> wrapped(const std::string& text, const std::string& prefix, std::size_t width);

// The name, known in host function `function` before `before`, of the size its settings go by: what the file hands to
// calculate_settings, else what a launch binds to the row length of its kernel. Empty where there is none.
std::string size_name(const Subject& subject, int function, Node before);

// The statement that defines a top-level thing (function or class) around `node`: where a new function goes before.
Node top_level_of(Node node);

}  // namespace hone::source::rewrite
