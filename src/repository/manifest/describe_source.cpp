#include "repository/manifest/describe_source.hpp"

#include "base/text.hpp"
#include "diagnose/source_advice/advice.hpp"
#include "repository/manifest/problem.hpp"
#include "source/cpp/audit_cpp.hpp"

namespace hone::repository::manifest {

namespace {

// What the source shows, with what follows from it.
model::AuditedOp audited(const Manifest& manifest, const std::string& text) {
  const bool cuda = manifest.language == Language::cuda;
  auto op = source::audit_cpp(manifest.full(manifest.source), text,
                              cuda ? source::CppLanguage::cuda : source::CppLanguage::cpp);
  if (!op) return {};  // a text in another encoding: the compiler's to refuse
  diagnose::advise(*op);
  return std::move(*op);
}

}  // namespace

void describe_source(const Manifest& manifest, const DTypeDecl& dtype, const std::string& text,
                     model::Configuration& configuration) {
  const model::AuditedOp op = audited(manifest, text);
  configuration.memory_access = op.configuration.memory_access;
  configuration.compute = op.configuration.compute;
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

std::vector<model::Opportunity> opportunities_of(const Manifest& manifest, const std::string& text) {
  return audited(manifest, text).opportunities;
}

}  // namespace hone::repository::manifest
