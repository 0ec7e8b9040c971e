// A gate that says of a made-up kernel's texts what the test told, and passes everything else.
#pragma once

#include "repository/judged.hpp"
#include "tests/support/fake_kernel.hpp"

namespace hone::test {

class FakeJudged : public repository::Judged, public virtual HasFakeKernel {
 public:
  std::function<repository::GateResult(const model::Variant&, repository::GateLevel)> judge;  // overrules the texts

  base::Result<repository::GateResult> gate(const model::Variant& variant, repository::GateLevel level) override {
    const bool full = level == repository::GateLevel::full;
    kernel.events.push_back(std::string("gate ") + (full ? "full " : "smoke ") + variant.id);
    if (judge) return judge(variant, level);
    const SourceBehaviour& source = kernel.behaviour(variant);
    const std::string& failure = source.smoke_failure.empty() && full ? source.full_failure : source.smoke_failure;
    const int cases = full ? 120 : 12;
    if (failure.empty()) return repository::GateResult{cases, 0, 0.4, "", ""};
    return repository::GateResult{cases - 1, 1, 40, failure, ""};
  }
};

}  // namespace hone::test
