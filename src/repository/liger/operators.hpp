// The operators whose inputs hone knows how to build: their sizes, least traffic and passes. What is called with these shapes
// stands in worker/hone_operators.py; a test checks that both tables name the same operators.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hone::repository::liger {

// Extents by name: "rows" and "columns" for all, further ones where an operator has them.
using Shape = std::map<std::string, std::int64_t>;

struct Traffic {
  double bytes_read = 0, bytes_written = 0, flops = 0;  // the least a pass reads and writes, each tensor once
  double bytes() const { return bytes_read + bytes_written; }
};

struct OperatorFacts {
  std::string op;
  std::string x_name;                          // what `columns` is: "hidden_size", "vocab_size", ...
  std::vector<std::int64_t> sizes;             // default x values
  Shape others;                                // the other extents; "rows" can be changed with --option tokens=N
  std::vector<std::string> modes;              // "full" last; no "backward" where forward computes the gradient
  std::map<std::string, std::string> options;  // with their defaults; allowed values follow in `choices`
  std::map<std::string, std::vector<std::string>> choices;
  // bytes of an element -> traffic of "forward" or "backward".
  Traffic (*traffic)(const std::string& pass, const Shape& shape, double element);

  Shape at(std::int64_t x, std::int64_t rows) const;
};

const std::vector<OperatorFacts>& operators();
const OperatorFacts* find_operator(const std::string& op);

// Shapes of the numerics gate: small, odd, prime, one element, one wider than a block of 1024. `wide` adds more of them.
std::vector<Shape> gate_shapes(const OperatorFacts& facts, bool wide, bool interpreted);

}  // namespace hone::repository::liger
