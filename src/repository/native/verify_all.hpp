// hone verify: the whole matrix of one built-in kernel with the settings in force.
#pragma once

#include <functional>

#include "base/result.hpp"
#include "repository/native/native_repository.hpp"
#include "repository/native/verification.hpp"

namespace hone::repository::native {

struct VerifyRequest {
  std::string kernel, dtype;  // dtype empty: all of the kernel's
  bool smoke = false;
  std::uint64_t seed = 0;
};

// `each` is told of every finished case with the number done and the total; it returns false to stop (interrupted).
base::Result<std::vector<CaseResult>> verify_all(NativeContext& context, const VerifyRequest& request,
                                                 const std::function<bool(int, int, const CaseResult&)>& each);

}  // namespace hone::repository::native
