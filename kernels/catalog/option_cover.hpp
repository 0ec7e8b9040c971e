// Which combinations of an operation's options are tried: all of them where they are few, otherwise a selection in which every
// few options take every combination of their values.
#pragma once

#include <vector>

#include "kernels/catalog/operation.hpp"

namespace kernels {

// Every combination of the options' values (of a number: its trials, 0 and 1 where it has none) when there are at most `most`;
// otherwise enough of them that any `strength` options take every combination of their values (a covering array, built
// greedily; the same on every machine), as far as the operation allows them together. The defaults' combination is the first.
std::vector<Options> option_cover(const Operation& operation, int strength, std::size_t most);

}  // namespace kernels
