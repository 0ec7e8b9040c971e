// A built-in kernel as the engine's operation description: kernels/catalog on a machine, with what finalize installed for it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/catalog/operation.hpp"
#include "repository/launch/operation.hpp"
#include "repository/native/settings_store.hpp"

namespace hone::repository::native {

// The translation unit of a plan: the main file and every embedded text it includes, `edits` taking the place of embedded ones.
// Fails when an edit names a file that is not part of it.
base::Result<device::ProgramSource> program_source(const kernels::Plan& plan, const std::string& name,
                                                   const std::vector<model::SourceEdit>& edits);

// Which problems are verified. smoke: few small shapes of one dtype and these options. full: odd, prime, one, empty, strided,
// misaligned and large shapes for every dtype, and every combination of options at some of them.
struct VerificationCase {
  kernels::Problem problem;
  std::size_t misaligned_bytes = 0;  // how far the bases are from a 64-byte boundary
  std::string label;                 // "33 x 1000 fp32 casting_mode=gemma, rows padded by 3"
};
std::vector<VerificationCase> cases(const kernels::Operation& operation, launch::Extent extent,
                                    const std::vector<kernels::DType>& dtypes, const kernels::Options& options,
                                    const std::vector<std::int64_t>& columns);

// What a request chose of a kernel.
struct Choice {
  const kernels::Operation& kernel;
  kernels::Target target;
  kernels::Options options;  // complete
  kernels::DType dtype = kernels::DType::fp32;
};

// Reads what is installed for `device`; an error for a damaged file.
base::Result<std::unique_ptr<launch::Operation>> native_operation(Choice choice, const SettingsStore& store,
                                                                  const std::string& device);

}  // namespace hone::repository::native
