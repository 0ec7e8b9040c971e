// HONE_VERSION comes from the project() call; the commit is written at build time by cmake/GitCommit.cmake.
#include "model/version.hpp"

#include "generated/commit.inc"

namespace hone::model {

const char* hone_version() { return HONE_VERSION; }
const char* hone_commit() { return HONE_COMMIT; }

}  // namespace hone::model
