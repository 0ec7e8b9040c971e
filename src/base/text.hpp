// Small text helpers that more than one floor needs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone::base {

std::vector<std::string> split(std::string_view text, char separator);  // keeps empty parts
std::string join_text(const std::vector<std::string>& parts, std::string_view separator);
std::string trim(std::string_view text);
bool starts_with(std::string_view text, std::string_view prefix);
std::string lower(std::string_view text);  // of ASCII letters
bool is_word_character(char c);            // letters, digits and '_': what the names of C++ and Python are made of
bool contains(const std::vector<std::string>& texts, std::string_view text);

// Names of `candidates` that `name` was probably meant to be, nearest first (edit distance at most a third of its length
// plus one, or one containing the other); at most `limit`.
std::vector<std::string> nearest(const std::string& name, const std::vector<std::string>& candidates,
                                 std::size_t limit = 3);

}  // namespace hone::base
