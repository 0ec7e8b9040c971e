// What a manifest's source shows: patterns of memory access and arithmetic, and what could be changed in it.
#pragma once

#include <string>
#include <vector>

#include "model/profile.hpp"
#include "repository/manifest/manifest.hpp"

namespace hone::repository::manifest {

// `text`: of the source file.
void describe_source(const Manifest& manifest, const DTypeDecl& dtype, const std::string& text,
                     model::Configuration& configuration);

std::vector<model::Opportunity> opportunities_of(const Manifest& manifest, const std::string& text);

}  // namespace hone::repository::manifest
