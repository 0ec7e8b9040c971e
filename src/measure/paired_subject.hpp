// A kernel whose samples alternate with those of a ceiling's program. Where the speed of memory moves, a ceiling that was measured
// a minute ago says nothing of this moment; the program beside the kernel does.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "measure/subject.hpp"
#include "model/timing.hpp"

namespace hone::measure {

// The largest part of the other time of a table that the ceilings' programs may add to it.
inline constexpr double kMostTimeForCeilings = 0.15;
// Below this many undisturbed pairs there is no paired share; kSurePairs are taken whatever they cost.
inline constexpr int kFewestPairs = 3, kSurePairs = 5;

class PairedSubject final : public Subject {
 public:
  struct Pair {
    double own_ns = 0, ceiling_ns = 0;
  };

  // `ceiling`: null where there is none. It runs right before a sample of `own`, for kSurePairs samples in any case and then
  // while it adds no more than `most_time` to all that has passed since the first sample, other subjects' time included.
  PairedSubject(Subject& own, Subject* ceiling, base::Clock& clock, double most_time = kMostTimeForCeilings)
      : own_(own), ceiling_(ceiling), clock_(clock), most_time_(most_time) {}

  std::string name() const override { return own_.name(); }
  base::Result<model::Sample> sample() override;

  const std::vector<Pair>& pairs() const { return pairs_; }
  // Why the ceiling's program could not be run; empty where it could.
  const std::string& problem() const { return problem_; }

 private:
  std::optional<base::Result<double>> run_ceiling();

  Subject& own_;
  Subject* ceiling_;
  base::Clock& clock_;
  const double most_time_;
  bool warm_ = false;  // the first sample, which warms caches and clocks, is in no pair
  std::int64_t started_ns_ = 0, spent_ns_ = 0, longest_ns_ = 0;
  std::vector<Pair> pairs_;
  std::string problem_;
};

// Each of a table's subjects with the ceiling's program, which adds kMostTimeForCeilings for all of them together.
std::vector<std::unique_ptr<PairedSubject>> pair_with(const std::vector<std::unique_ptr<Subject>>& subjects,
                                                      Subject* ceiling, base::Clock& clock);

struct CeilingShare {
  double share_pct = 0;
  model::PairedShare paired;
  // How much faster than at the ceilings the device was at its quick end (80 % of the pairs are below), for physical bounds.
  double quickest = 0;
};

// `floor_ns`: the kernel's time at the ceilings; `expected_ns`: that of the ceiling's program at the same ceilings. A pair's share is
// floor_ns / own_ns at the speed that the program had in it, floor_ns / own_ns * ceiling_ns / expected_ns. A pair is set aside
// where other load disturbed one of both (disturbance.hpp). Nothing for fewer than kFewestPairs pairs that are left and where a
// time is not above 0.
std::optional<CeilingShare> share_of_ceiling(const std::vector<PairedSubject::Pair>& pairs, double floor_ns,
                                             double expected_ns);

}  // namespace hone::measure
