// The audit as text for a terminal: one block for each operation, no colours; its tables fit the terminal.
#pragma once

#include <cstddef>
#include <string>

#include "model/source_facts.hpp"

namespace hone::render {

struct AuditTableOptions {
  bool verbose = false;     // loops, reductions, hints and casts of each kernel
  std::size_t width = 118;  // columns of the terminal
};

std::string audit_table(const model::Audit& audit, const AuditTableOptions& options);

}  // namespace hone::render
