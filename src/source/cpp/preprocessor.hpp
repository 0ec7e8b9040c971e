// What the preprocessor would make of a file as far as the file itself decides it.
#pragma once

#include <string>

namespace hone::source {

// The text with every line at its place: groups that the file's own conditions exclude (`#if 0`, the #else of `#if 1`, #ifdef
// of a name it has undefined) are blanked, with the directives of a conditional that is decided as a whole; macros of the
// file that lead to __global__ are expanded. A name that the file does not define may come from anywhere: its groups stay.
std::string preprocessed(const std::string& text);

}  // namespace hone::source
