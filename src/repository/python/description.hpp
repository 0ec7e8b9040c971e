// What an operator is that Python calls: how its inputs are built, what is called with them, what is overwritten, what is right,
// which sizes are measured and the minimum traffic of each pass. Data from a document (read_operators.hpp); the engine and its
// worker process read the same.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/json_value.hpp"
#include "repository/document/expression.hpp"

namespace hone::repository::python {

// Extents by name: "rows" and "columns", and further ones where an operator has them.
using Shape = std::map<std::string, std::int64_t>;

// An input under concrete extents, as the worker builds it.
struct InputSpec {
  std::string name, type;                // type: "dtype" (the one asked for), "fp32", "int64", "int32"
  std::vector<std::int64_t> extents;     // its logical shape
  std::vector<int> order;                // axes from the outermost to the innermost in memory; empty: row-major
  std::string distribution, formula;     // formula: a Python expression, of distribution "formula"
  std::map<std::string, double> bounds;  // "mean", "deviation", "low", "high" or "below"
  bool gradient = false;
};

// Which tensors: resident in the worker, the same for every implementation.
struct CaseSpec {
  Shape shape;
  std::string dtype;
  std::map<std::string, std::string> options;
  std::uint64_t seed = 0;
  std::vector<InputSpec> inputs;
};

struct Traffic {
  double bytes_read = 0, bytes_written = 0;  // the least a pass reads and writes, each tensor once
  double flops = 0;                          // all of them
  bool matrix = false;                       // they are those of matrix products
  double bytes() const { return bytes_read + bytes_written; }
};

struct InputDecl {
  InputSpec fixed;  // what no extent changes
  std::vector<Expression> shape;
  std::map<std::string, Expression> bounds;
};

struct OptionDecl {
  std::string name;
  std::vector<std::string> values;  // the first is the default
  bool truth = false;               // "true" and "false" are Python's True and False
};

struct PassDecl {
  std::string name;  // "forward" or "backward"
  std::optional<Expression> bytes_read, bytes_written, flops, matrix_flops;
};

struct OperatorDescription {
  std::string name;
  std::string callable;  // an attribute of the operator's module: an autograd function, or anything that can be called
  std::string x;         // the extent that the tables run over
  std::string x_name;    // what it is called there: "hidden_size", "vocab_size", ...
  std::vector<std::int64_t> sizes;                // default values of x
  Shape extents;                                  // default values of the others
  std::map<std::string, std::string> adjustable;  // option of a request -> the extent that it sets
  std::map<std::string, Expression> gate;  // extents of the numerics gate as the operator takes them, of those wished
  std::vector<OptionDecl> options;
  std::vector<InputDecl> inputs;
  std::vector<PassDecl> passes;        // no "backward" where forward computes the gradient
  std::vector<std::string> arguments;  // of the call: Python expressions of inputs, options and extents
  std::vector<int> outputs;            // of what the call returns; empty: all
  bool loss = false;                   // the last layer: its gradient is 1
  std::string formula;                 // a Python expression that gives the outputs in the precision of the inputs
  std::string code;                    // functions that the Python expressions use
  std::vector<std::string> overwrites_forward, overwrites_backward;  // inputs that a pass writes into
  bool overwrites_gradients = false;  // backward writes into the gradients that it is given

  std::vector<std::string> modes() const;  // passes, then "full"
  std::map<std::string, std::string> default_options() const;
  const OptionDecl* find_option(const std::string& option) const;

  // The extents at one x. `given`: extents other than the defaults.
  Shape at(std::int64_t x_value, const Shape& given = {}) const;
  // The inputs under these extents. A usage error where an expression has no value or an extent is negative.
  base::Result<CaseSpec> case_of(const Shape& shape, const std::string& dtype,
                                 const std::map<std::string, std::string>& chosen, std::uint64_t seed) const;
  // Minimum traffic of "forward" or "backward"; zeros where the description has no such pass or no value.
  Traffic traffic(const std::string& pass, const Shape& shape, double dtype_bytes) const;
  // Shapes of the numerics gate: small, odd, prime, one element, one wider than a block of 1024. `wide` adds more of them.
  std::vector<Shape> gate_shapes(bool wide, bool interpreted) const;
};

// The description and the inputs of a case as JSON, for the worker and for the scripts that stand alone.
model::Json description_json(const OperatorDescription& description);
model::Json case_json(const CaseSpec& spec);

}  // namespace hone::repository::python
