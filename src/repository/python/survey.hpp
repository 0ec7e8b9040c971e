// A survey of the original: which settings it runs with, what each knob does to its machine code, which values need too much
// memory. Made once, before anything is varied.
#pragma once

#include "model/profile.hpp"
#include "repository/python/builds.hpp"
#include "repository/python/timings.hpp"

namespace hone::repository::python {

class Survey {
 public:
  Survey(const Cases& cases, Implementations& implementations, Variants& variants, KnobSpace& knobs, Builds& builds,
         Timings& timings)
      : cases_(cases),
        implementations_(implementations),
        variants_(variants),
        knobs_(knobs),
        builds_(builds),
        timings_(timings) {}

  void make();
  // Adds knobs, live or dead, and what the original was compiled to.
  void add_to(model::Configuration& configuration);

 private:
  void probe_memory_of_programs();
  model::Parameter parameter_of(const Knob& knob);
  void judge_liveness(const Knob& knob, model::Parameter& parameter);

  const Cases& cases_;
  Implementations& implementations_;
  Variants& variants_;
  KnobSpace& knobs_;
  Builds& builds_;
  Timings& timings_;
  bool memory_probed_ = false;
};

}  // namespace hone::repository::python
