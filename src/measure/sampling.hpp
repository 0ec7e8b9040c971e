// Taking samples: what interleave and compare share. Private to measure/.
#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "measure/protocol.hpp"

namespace hone::measure {

// One run of a subject, refused when its times can not be times.
base::Result<model::Sample> take(Subject& subject);
base::Result<void> warm_up(const std::vector<Subject*>& subjects, int runs);
base::Result<void> check(const Budget& budget);

// Tells whether one more round is taken, from the mean of the rounds so far. See Budget.
class Pace {
 public:
  // `least_rounds`: they may exceed the aim. The time counts from here.
  Pace(base::Clock& clock, std::int64_t aim_ns, int least_rounds);

  void start_rounds() { rounds_start_ns_ = clock_.now_ns(); }
  bool allows_round_after(int rounds);
  // The aim is this many times as long from now on; what min_samples may stretch it to stays.
  void extend(int factor) { aim_ns_ *= factor; }
  // Time of runs that are not of the rounds.
  void leave_out(std::int64_t duration_ns) { start_ns_ += duration_ns, rounds_start_ns_ += duration_ns; }

 private:
  base::Clock& clock_;
  std::int64_t start_ns_, rounds_start_ns_;
  double aim_ns_, stretched_ns_;
  int least_rounds_;
};

}  // namespace hone::measure
