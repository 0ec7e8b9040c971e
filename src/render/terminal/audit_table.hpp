// The audit as text for a terminal: one block for each operation, no colours, at most about 120 columns.
#pragma once

#include <string>

#include "model/source_facts.hpp"

namespace hone::render {

struct AuditTableOptions {
  bool verbose = false;  // loops, reductions, hints and casts of each kernel
};

std::string audit_table(const model::Audit& audit, const AuditTableOptions& options);

}  // namespace hone::render
