// Tables of the final report that Markdown and HTML share.
#pragma once

#include "model/report.hpp"
#include "render/table.hpp"

namespace hone::render {

Table correctness_table(const model::Report& report);
// One row for each (x value, mode), one pair of columns for each provider.
Table three_way_table(const model::Report& report, const std::string& metric);
// How its rows were taken, for the line below it.
std::string three_way_note(const model::Report& report);
// What the profile found, in a few rows.
Table profile_facts(const model::Profile& profile);

// Providers of a metric in the order of the rows.
std::vector<std::string> providers_of(const model::Report& report, const std::string& metric);

// Variants other than the winner that were not accepted, each with its reason.
std::vector<std::string> rejected_lines(const model::ComparisonDocument& comparison);

}  // namespace hone::render
