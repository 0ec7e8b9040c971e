// Roofline bounds of an operator's passes: ceilings as PyTorch's own operations reach them, minimum traffic against them.
#pragma once

#include <optional>

#include "base/clock.hpp"
#include "repository/python/cases.hpp"
#include "repository/python/implementations.hpp"
#include "repository/timed.hpp"

namespace hone::repository::python {

class Bounds {
 public:
  Bounds(base::Clock& clock, const OperatorSource& source, const Cases& cases, Implementations& implementations)
      : clock_(clock), source_(source), cases_(cases), implementations_(implementations) {}

  base::Result<model::Ceilings> ceilings();
  void take(const model::Ceilings& ceilings) { ceilings_ = ceilings; }
  base::Result<model::Ceilings> ceilings_again();
  PassFloor floor(const Cell& cell) const;

 private:
  base::Result<model::Ceilings> look() const;

  base::Clock& clock_;
  const OperatorSource& source_;
  const Cases& cases_;
  Implementations& implementations_;
  std::optional<model::Ceilings> ceilings_;
};

}  // namespace hone::repository::python
