#include "repository/manifest/describe_source.hpp"

#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "repository/manifest/problem.hpp"
#include "source/audit.hpp"

namespace hone::repository::manifest {

namespace {

std::string listed(const std::set<std::string>& names, const std::string& otherwise) {
  return names.empty() ? otherwise : base::join_text({names.begin(), names.end()}, ", ");
}

void describe_kernels(const model::AuditedOp& op, model::Configuration& configuration) {
  std::set<std::string> vectors, hints, shared, math;
  int barriers = 0, atomics = 0, loops = 0;
  for (const model::CudaKernelFact& kernel : op.cuda_kernels) {
    vectors.insert(kernel.vector_types.begin(), kernel.vector_types.end());
    for (const model::MathFact& call : kernel.intrinsics)
      (base::starts_with(call.op, "__ld") || base::starts_with(call.op, "__st") ? hints : math).insert(call.op);
    for (const model::CudaSharedArray& array : kernel.shared_arrays) shared.insert(array.name);
    barriers += static_cast<int>(kernel.barrier_lines.size());
    atomics += static_cast<int>(kernel.atomics.size());
    loops += static_cast<int>(kernel.loops.size());
  }
  configuration.memory_access.stride_pattern =
      vectors.empty() ? "no vector types in the source: one element for each access, unless the compiler joins them"
                      : "vector types in the source: " + listed(vectors, "");
  configuration.memory_access.cache_modifiers = listed(hints, "none in the source");
  configuration.compute.algorithm = fmt::format("{} loops, {} barriers, {} atomics; shared arrays: {}", loops, barriers,
                                                atomics, listed(shared, "none"));
  configuration.compute.precision_ops = listed(math, "no intrinsics in the source");
}

}  // namespace

void describe_source(base::FileSystem& files, const Manifest& manifest, const DTypeDecl& dtype, const std::string& text,
                     model::Configuration& configuration) {
  if (manifest.language == Language::cuda) {
    describe_kernels(source::audit_text(files, "source.cu", text), configuration);
  } else {
    configuration.memory_access.stride_pattern = configuration.memory_access.cache_modifiers =
        configuration.compute.algorithm = configuration.compute.precision_ops =
            "not read: hone reads CUDA and Triton source";
  }
  std::vector<std::string> overwritten;
  for (const PassDecl& pass : manifest.passes)
    for (const std::string& tensor : pass_spec(manifest, pass).overwritten)
      overwritten.push_back(tensor + " (" + pass.name + ")");
  configuration.memory_access.in_place =
      overwritten.empty() ? "no" : "overwrites " + base::join_text(overwritten, ", ");
  configuration.memory_access.saved_vs_recomputed =
      manifest.passes.size() > 1 ? "what backward reads of forward's results is saved" : "no backward pass";
  configuration.compute.casting_mode = "as the source does it; tensors of type dtype are " + dtype.name;
  std::vector<std::string> constants;
  for (const KnobDecl& knob : manifest.knobs) constants.push_back(knob.name);
  configuration.compute.constexpr_parameters =
      constants.empty() ? "none" : "macros: " + base::join_text(constants, ", ");
}

std::vector<model::Opportunity> opportunities_of(base::FileSystem& files, const Manifest& manifest,
                                                 const std::string& text) {
  if (manifest.language != Language::cuda) return {};
  return source::audit_text(files, manifest.full(manifest.source), text).opportunities;
}

}  // namespace hone::repository::manifest
