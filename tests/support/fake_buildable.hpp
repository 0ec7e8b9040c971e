// A compiler that makes machine code of settings and of the texts of a made-up kernel.
#pragma once

#include <atomic>
#include <set>

#include "repository/buildable.hpp"
#include "tests/support/fake_kernel.hpp"

namespace hone::test {

class FakeBuildable : public repository::Buildable, public virtual HasFakeKernel {
 public:
  std::set<std::string> dead_knobs;  // machine code does not depend on them
  std::function<bool(const model::Settings& settings)> compiles;
  std::atomic<int> settings_built{0};

  base::Result<repository::Built> build(const model::Variant& variant) override;
  base::Result<repository::BuiltPart> build_settings(const std::string& pass, const std::string& x_value,
                                                     const model::Settings& settings) override;
};

}  // namespace hone::test
