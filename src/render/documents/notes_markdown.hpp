// {kernel}_vN_notes.md: the lab notebook of one variant.
#pragma once

#include <string>

#include "model/variant.hpp"

namespace hone::render {

// Hypothesis, changes and expected outcome stand alone while nothing has run; results, guardrails, verdict and learnings follow
// once `has_results` is set. The part before them is the same text in both.
std::string notes_markdown(const model::Notes& notes);

}  // namespace hone::render
