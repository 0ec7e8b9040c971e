// Steps over the text of C++ source without a grammar, for what happens before the parser sees it.
#pragma once

#include <string>

namespace hone::source {

// Comments and literals must stay as they are: the end of the one that starts at `at`, or `at` where none does.
std::size_t skip_literal(const std::string& text, std::size_t at);

// The end of the word at `at`; `at` where there is none.
std::size_t skip_word(const std::string& text, std::size_t at);

// The end of a balanced "( ... )" that starts at or after white space from `at`; `at` if there is none.
std::size_t after_parentheses(const std::string& text, std::size_t at);

// Overwrites [start, end) with spaces; line breaks stay.
void blank(std::string& text, std::size_t start, std::size_t end);

}  // namespace hone::source
