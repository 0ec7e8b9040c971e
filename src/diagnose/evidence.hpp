// The evidence table of a profile: one row for each signal, with what it supports, contradicting ones included.
#pragma once

#include <vector>

#include "diagnose/passes.hpp"

namespace hone::diagnose {

// At least three rows for every profile. Where hardly anything was measured, rows say what is missing and support "nothing".
std::vector<model::EvidenceRow> evidence_of(const model::Profile& profile, const std::vector<PassVerdict>& passes);

}  // namespace hone::diagnose
