// Outputs and gradients of an implementation against the formula in double precision, no further off than the original's are.
#pragma once

#include <functional>
#include <string>

#include "repository/judged.hpp"
#include "repository/python/cases.hpp"
#include "repository/python/implementations.hpp"

namespace hone::repository::python {

// `after_first_pass` is called once, when a case has passed: what hangs or ends its process has shown it by then.
base::Result<GateResult> check_numerics(const std::string& implementation, const OperatorDescription& description,
                                        const Cases& cases, Implementations& implementations, GateLevel level,
                                        const std::function<void()>& after_first_pass);

}  // namespace hone::repository::python
