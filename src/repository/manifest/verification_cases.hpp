// The problems that correctness of a manifest's kernel is tried on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "repository/launch/operation.hpp"
#include "repository/manifest/problem.hpp"

namespace hone::repository::manifest {

// Odd, prime, one, powers of two and their neighbours along x, free sizes small, and the measured sizes; those that the kernel can
// not run are left out.
std::vector<ProblemSizes> verification_problems(const Manifest& manifest, launch::Extent extent,
                                                const std::vector<const DTypeDecl*>& dtypes,
                                                const std::vector<std::int64_t>& sizes);

// An error where a value under [verify] is part of no problem that is small enough to be tried, although 'valid' excludes none.
base::Result<void> every_verify_value_is_tried(const Manifest& manifest);

// "columns=4096 rows=33 fp32"
std::string label_of(const Manifest& manifest, const ProblemSizes& problem);

}  // namespace hone::repository::manifest
