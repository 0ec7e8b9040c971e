// Notes of a variant: opened with hypothesis and prediction before anything runs, closed with results and what they teach.
#pragma once

#include <string>
#include <vector>

#include "model/variant.hpp"
#include "stages/trial/evaluate.hpp"

namespace hone::stages {

model::Notes open_notes(const Lab& lab, const model::Variant& variant, const std::string& hypothesis,
                        const std::string& changes, const std::string& diff,
                        const std::vector<model::Prediction>& predictions);
void close_notes(model::Notes& notes, const Evaluation& evaluation);

// "forward at 4096: predicted 0.90, measured 0.931 (0.925 to 0.938): less than predicted", one for each prediction measured.
std::vector<std::string> predictions_against_outcome(const std::vector<model::Prediction>& predictions,
                                                     const Evaluation& evaluation);

// What the sweep expects before it runs: half of what the profile says is left, stated as such.
std::vector<model::Prediction> sweep_predictions(const model::Profile& profile, const std::vector<std::string>& passes);

// Settings of two variants side by side as a diff: "-forward from 0: BLOCK_ROW=1", "+forward from 0: BLOCK_ROW=4".
std::string settings_diff(const model::Variant& before, const model::Variant& after);

model::VariantSummary summary_of(const model::Notes& notes, const model::Variant& variant,
                                 const std::string& notes_file);

}  // namespace hone::stages
