// The table over all variants, as comparison.md, the report and the terminal show it.
#pragma once

#include "model/variant.hpp"
#include "render/table.hpp"

namespace hone::render {

// One row for each variant: strategy, ratio against v0 with interval for each pass at the representative size, memory, status.
Table comparison_table(const model::ComparisonDocument& comparison);

// "24 configurations planned, 12 distinct binaries, 12 timed".
std::string evaluations_text(const model::Evaluations& evaluations);

}  // namespace hone::render
