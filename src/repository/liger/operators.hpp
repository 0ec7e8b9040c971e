// The operators of a checkout that hone can call, as operators.toml and formulas.py describe them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "repository/python/description.hpp"

namespace hone::repository::liger {

// The option of every operator that sets its rows.
inline constexpr const char* kTokens = "tokens";

using Operators = std::vector<std::shared_ptr<const python::OperatorDescription>>;

// Read once; a fault of the documents is the error, with line and column.
const base::Result<Operators>& operators();
// None where hone does not know how to build the operator's inputs.
std::shared_ptr<const python::OperatorDescription> find_operator(const std::string& op);

}  // namespace hone::repository::liger
