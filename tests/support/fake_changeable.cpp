#include "tests/support/fake_changeable.hpp"

namespace hone::test {

std::vector<repository::Proposal> FakeChangeable::propose(const std::string& strategy, const model::Profile&,
                                                          const model::Variant& best) {
  std::vector<repository::Proposal> made = proposals[strategy];
  for (repository::Proposal& p : made) {
    if (p.variant.settings.empty()) p.variant.settings = best.settings;
  }
  return made;
}

base::Result<model::Variant> FakeChangeable::variant_from_source(const std::string& text, const model::Variant& best) {
  if (text.find("forbidden") != std::string::npos)
    return base::Error{base::ErrorKind::usage, "a tile program", "no entry for forward", "variant.hpp", ""};
  model::Variant variant = best;
  variant.edits = {{kernel.name + ".hpp", text}};
  return variant;
}

base::Result<std::vector<repository::FileChange>> FakeChangeable::installation(const model::Variant& variant) {
  repository::FileChange change{kernel.installed_file, "", model::to_json(variant),
                                kernel.files->exists(kernel.installed_file)};
  if (change.existed) {
    HONE_TRY(text, kernel.files->read(change.path));
    change.before = *text;
  }
  return std::vector<repository::FileChange>{change};
}

repository::Proposal source_proposal(const FakeKernel& kernel, const std::string& text,
                                     const std::vector<model::Prediction>& predictions) {
  repository::Proposal proposal;
  proposal.variant.edits = {{kernel.name + ".hpp", text}};
  proposal.variant.title = "a change of the source";
  proposal.hypothesis = "it should be faster";
  proposal.changes = "one line";
  proposal.diff = "-the original text\n+" + text;
  proposal.predictions = predictions;
  return proposal;
}

}  // namespace hone::test
