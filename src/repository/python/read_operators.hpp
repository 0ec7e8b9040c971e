// From the text of a document to operator descriptions. docs/operators.md describes the keys.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "repository/document/table_reader.hpp"
#include "repository/python/description.hpp"

namespace hone::repository::python {

// The keys of one operator, from a table that may hold further ones. What is wrong is in the table's reading.
OperatorDescription read_operator(TableReader& table, const std::string& name);

// A document of [operator.NAME] tables; `code` are the functions that their Python expressions use. Every error is of kind
// usage and says file, line and column.
base::Result<std::vector<OperatorDescription>> read_operators(const std::string& text, const std::string& file,
                                                              const std::string& code);

}  // namespace hone::repository::python
