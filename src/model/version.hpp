// The program's own version, for the head of every document.
#pragma once

namespace hone::model {

const char* hone_version();
const char* hone_commit();  // short hash at build time; "unknown" outside a git checkout

}  // namespace hone::model
