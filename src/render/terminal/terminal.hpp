// Summaries for a terminal: the few lines a person needs before opening the documents. Colours only when the style asks.
#pragma once

#include <string>

#include "model/profile.hpp"
#include "model/report.hpp"
#include "model/variant.hpp"
#include "render/terminal/style.hpp"

namespace hone::render {

// The table of the times, as soon as they are measured: what follows them in a profile is not known yet.
std::string baseline_summary(const model::Profile& profile, const Style& style);

// The steps of the plan, a line each, and how a person changed it.
std::string plan_summary(const model::Profile& profile, const Style& style);

// What limits the kernel, how much is left at each size, what to try first.
std::string profile_summary(const model::Profile& profile, const Style& style);

// The table over all variants, the winner, why the loop stopped.
std::string comparison_summary(const model::ComparisonDocument& comparison, const Style& style);

// APPLIED, REVERTED or NOTHING TO GAIN first; then speed, correctness, and how to take it back.
std::string report_summary(const model::Report& report, const Style& style);

}  // namespace hone::render
