// profile.md: the seven blocks in their fixed order. The same values as profile.json, rounded for people.
#pragma once

#include <string>

#include "model/profile.hpp"

namespace hone::render {

// A field that is not known says why in its place; corrections to common practice stand where they matter.
std::string profile_markdown(const model::Profile& profile);

}  // namespace hone::render
