// The profile's blocks "Current Configuration Analysis", "Opportunities" and "Strategy Order" from source alone. No
// measurement stands behind them: they say what to look at, not what it brings. A kernel for a GPU gets advice for GPUs, one for
// processors advice for processors, whatever machine reads it.
#pragma once

#include <optional>
#include <vector>

#include "model/source_facts.hpp"

namespace hone::diagnose {

// Fills configuration, opportunities and strategy_order, and the masked lanes of every tile that is rounded up: for rows of
// `sizes` elements, or of the usual lengths.
void advise(model::AuditedOp& op, const std::vector<long long>& sizes = {});
void advise(model::Audit& audit, const std::vector<long long>& sizes = {});

// Lanes of a power-of-two tile that a row of `columns` elements leaves idle, in percent: one tile as wide as the row
// rounded up to a power of two, or several tiles of `largest_block` where it has that bound.
double masked_lane_waste_pct(long long columns, std::optional<long long> largest_block);

// Row lengths of models in use, for who asks about none: with and without a power of two.
inline constexpr long long kUsualSizes[] = {2880, 4096, 5120, 6144};

}  // namespace hone::diagnose
