// The audit of paths: single files, folders, or a whole checkout of kernels with its benchmarks and tests.
#pragma once

#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "model/source_facts.hpp"

namespace hone::source {

// Audits each path: a Python, CUDA or C++ file, a folder of them, or a Liger checkout (then the operations of
// src/liger_kernel/ops, with pre-flight). A file that can not be read or parsed is a problem in the result; fails only
// where a path is not there or holds nothing to audit. Facts alone: what follows from them is diagnosis.
base::Result<model::Audit> audit_paths(base::FileSystem& files, const std::vector<std::string>& paths);

// Audits a text that is in no file, under the name `path`; other modules are still found beside it.
model::AuditedOp audit_text(base::FileSystem& files, const std::string& path, const std::string& text);

}  // namespace hone::source
