// Result rows and verdicts as words and tables, shared by notes, comparison, report and terminal.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/variant.hpp"
#include "render/table.hpp"

namespace hone::render {

// x value, mode, baseline and candidate with p20 to p80, ratio with interval, change, verdict; rows of one metric.
Table results_table(const std::vector<model::ResultRow>& rows, const std::string& metric, const std::string& x_name,
                    const std::string& baseline, const std::string& candidate);

// The speed rows in few columns, for a terminal: medians, ratio with interval, change.
Table short_results_table(const std::vector<model::ResultRow>& rows, const std::string& x_name);

// "ACCEPTED", "REJECTED", "MIXED"; a variant that never ran to its results: "REJECTED (failed to compile)".
std::string verdict_word(model::VariantStatus status);

// The row of a metric at (x value, mode); nullptr where there is none.
const model::ResultRow* find_result(const std::vector<model::ResultRow>& rows, const std::string& x_value,
                                    const std::string& mode, const std::string& metric);

// A change in percent with its direction in words: 0.838 -> "16.2 % faster" for times, "16.2 % less" for memory.
std::string change_text(double ratio, const std::string& metric);

// The change a row's verdict allows to claim: none where the interval holds 1. `whole`: with the share of the time, which a
// terminal has no room for.
std::string claimed_change(const model::ResultRow& row, bool whole);

Ink ink_of(model::Verdict verdict);

// The rules of a settings function, one line each: "from 0: BLOCK_ROW=8 (short rows)".
std::vector<std::string> settings_rules(const std::map<std::string, model::SettingsFunction>& settings);

}  // namespace hone::render
