// What the measuring protocol measures: something that can be run once, the same way each time.
#pragma once

#include <string>

#include "base/result.hpp"
#include "model/timing.hpp"

namespace hone::measure {

// One implementation of one pass at one size. `sample` restores every input it overwrites, brings the caches to the stated
// state, and then runs once; only the run is in the sample.
class Subject {
 public:
  virtual ~Subject() = default;
  virtual std::string name() const = 0;
  virtual base::Result<model::Sample> sample() = 0;
};

}  // namespace hone::measure
