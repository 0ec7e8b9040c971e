// The terms of an expression's text, and its errors with their place in the file.
#pragma once

#include <string>
#include <vector>

#include "repository/document/expression.hpp"

namespace hone::repository {

base::Result<std::vector<Expression::Term>> parse_terms(const std::string& text, const Origin& origin);

// An error of kind usage at `offset` of the text, counted on from where the text begins in its file.
base::Error error_at(const std::string& text, const Origin& origin, std::size_t offset, std::string expected,
                     std::string found, std::string remedy);

// "did you mean rows?", or a plain "correct the name".
std::string nearest_remedy(const std::string& name, const std::vector<std::string>& known);

}  // namespace hone::repository
