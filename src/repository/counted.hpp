// Hardware counters of a kernel, or the experiments that stand in for them.
#pragma once

#include "base/result.hpp"
#include "model/counters.hpp"

namespace hone::repository {

class Counted {
 public:
  virtual ~Counted() = default;
  virtual base::Result<model::Counters> counters() = 0;
};

}  // namespace hone::repository
