// The floors that the ceilings of a profile set, for every stage: taken over from the profile, and looked at again where a pass
// is faster than they allow. A ceiling is what a device can do; other load only takes from it. So a time below the floor says
// first of all that the device was slower when the ceilings were measured, and the ceilings are measured again before anything
// is made of it.
#pragma once

#include <functional>

#include "base/result.hpp"
#include "model/profile.hpp"
#include "model/timing.hpp"
#include "repository/timed.hpp"
#include "stages/ports.hpp"

namespace hone::stages {

class Floors {
 public:
  // Gives the profile's ceilings to the session. `profile` follows what a second look finds and outlives this.
  Floors(repository::Timed& session, model::Profile& profile, const Ports& ports);

  // The profile's row; what the session says at the profile's ceilings where it has none.
  repository::PassFloor at(const repository::Cell& cell) const;

  // `compare` is given the physical bound of the cell in ns. Where it answers that a time lies below that floor, the ceilings are
  // looked at again, and it is asked again where that gives a lower floor. At most kMostLooks looks in all: what is still faster
  // skips work.
  using Compare = std::function<base::Result<model::Comparison>(double floor_ns)>;
  base::Result<model::Comparison> judge(const repository::Cell& cell, const Compare& compare);

  // One more look, unless kMostLooks have been taken; true where there was one. Before anything is said to be at its ceiling.
  base::Result<bool> look_again();
  // Before the first look: nothing rests on the profile's own look alone that a second one could overturn.
  bool looked() const { return looks_ > 0; }

  static constexpr int kMostLooks = 2;

 private:
  repository::Timed& session_;
  model::Profile& profile_;
  const Ports& ports_;
  int looks_ = 0;
};

// Measures the ceilings of the device again: profile.device.ceilings keep the higher of the two rates, and its headroom rows
// follow them; of rows with paired shares the physical bound alone.
base::Result<void> look_again(repository::Timed& session, model::Profile& profile, const Ports& ports);

}  // namespace hone::stages
