// The evidence table of a profile: one row for each signal, with what it supports, contradicting ones included.
#pragma once

#include <vector>

#include "diagnose/passes.hpp"

namespace hone::diagnose {

// A row for each signal that was found; what was not measured is no evidence.
std::vector<model::EvidenceRow> evidence_of(const model::Profile& profile, const std::vector<PassVerdict>& passes);

}  // namespace hone::diagnose
