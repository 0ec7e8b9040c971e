// The blocks of profile.md, one function each. Internal to src/render.
#pragma once

#include "model/profile.hpp"
#include "render/documents/markdown.hpp"

namespace hone::render {

void write_baseline(Markdown& page, const model::Profile& profile);       // profile_baseline.cpp
void write_counters(Markdown& page, const model::Profile& profile);       // profile_counters.cpp
void write_bottleneck(Markdown& page, const model::Profile& profile);     // profile_analysis.cpp
void write_configuration(Markdown& page, const model::Profile& profile);  // profile_analysis.cpp
void write_opportunities(Markdown& page, const model::Profile& profile);  // profile_analysis.cpp

}  // namespace hone::render
