// How a run ended, as the report, the pull request and the terminal say it first.
#pragma once

#include <string>
#include <vector>

#include "model/report.hpp"

namespace hone::render {

// "APPLIED", "REVERTED", "INCONCLUSIVE", "NOTHING TO GAIN" or "NOTHING FOUND".
std::string outcome_word(const model::Report& report);

// One or two sentences under the word: what was gained and where, or why nothing stands.
std::string outcome_text(const model::Report& report);

// "1.17x to 1.28x faster (15 to 22 % less time)" over the speed rows of a mode that are significantly faster; "no speedup shown" where there are none.
std::string gain_of_mode(const std::vector<model::ResultRow>& rows, const std::string& mode);

std::vector<std::string> modes_of(const std::vector<model::ResultRow>& rows);

int gates_failed(const model::Report& report);
int gates_passed(const model::Report& report);

}  // namespace hone::render
