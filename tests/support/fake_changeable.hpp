// Proposals that a test has made up, and an installation that is one file with the variant in it.
#pragma once

#include "repository/changeable.hpp"
#include "tests/support/fake_kernel.hpp"

namespace hone::test {

class FakeChangeable : public repository::Changeable, public virtual HasFakeKernel {
 public:
  std::map<std::string, std::vector<repository::Proposal>> proposals;  // by strategy

  std::vector<repository::Proposal> propose(const std::string& strategy, const model::Profile&,
                                            const model::Variant& best) override;
  base::Result<model::Variant> variant_from_source(const std::string& text, const model::Variant& best) override;
  std::string variant_file_extension() const override { return "hpp"; }
  base::Result<std::vector<repository::FileChange>> installation(const model::Variant& variant) override;
};

// A proposal that replaces the source by `text`.
repository::Proposal source_proposal(const FakeKernel& kernel, const std::string& text,
                                     const std::vector<model::Prediction>& predictions = {});

}  // namespace hone::test
