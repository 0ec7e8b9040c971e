// Gates: whether a variant still computes what it should.
#pragma once

#include <string>

#include "base/result.hpp"
#include "model/variant.hpp"

namespace hone::repository {

enum class GateLevel { smoke, full };

// Correctness against double precision. `passed` + `failed` is the number of cases run; zero run is a failure.
struct GateResult {
  int passed = 0, failed = 0;
  double largest_error_over_bound = 0;
  std::string first_failure;  // case, tensor, element, error, bound
  std::string detail;
  bool ok() const { return failed == 0 && passed > 0; }
};

class Judged {
 public:
  virtual ~Judged() = default;
  virtual base::Result<GateResult> gate(const model::Variant& variant, GateLevel level) = 0;
};

}  // namespace hone::repository
