// The search of the parameter sweep as a pure algorithm: which settings to time next, at which size, and when to stop. It
// sees a space and a function that measures, so it is simulated from recorded timings and compared with other tuners.
//
// Bayesian optimization over all sizes of a pass at once: what is learnt at one size guides the others. Expected improvement:
// Jones, Schonlau and Welch, Efficient Global Optimization, 1998, eq. 15.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace hone::stages {

// One size of the pass: the points that exist there. The incumbent (the shipped settings) is one of them.
struct SearchTask {
  double position = 0;              // 0..1, by the logarithm of the size
  std::vector<std::size_t> points;  // indices into SearchSpace::points
  std::size_t incumbent = 0;        // one of `points`
};

// Distinct configurations only: dead knobs have been dropped before.
struct SearchSpace {
  std::vector<std::vector<double>> points;  // one coordinate in 0..1 for each knob, by the rank of its value
  std::vector<SearchTask> tasks;
};

// A screening result: log(time / incumbent's time). A configuration that does not run is not usable, and no error.
struct Estimate {
  double log_ratio = 0, deviation = 0;
  bool usable = true;
};

struct SearchOptions {
  double largest_share = 0.35;  // of all (size, configuration) pairs; the incumbent counts as timed
  std::size_t largest_per_task = 48;
  double smallest_improvement = 5e-4;  // stop where the expected improvement (in log time) is below this everywhere
};

struct Screened {
  std::size_t task = 0, point = 0;
  Estimate estimate;
};

struct SearchOutcome {
  std::vector<Screened> screened;  // in the order timed, incumbents first
  std::string stop_reason;
};

using Measure = std::function<base::Result<Estimate>(std::size_t task, std::size_t point)>;

// Times at most largest_share of the space (but at least two configurations at each size with more than one). An error of
// `measure` ends the search and is returned.
base::Result<SearchOutcome> search(const SearchSpace& space, const SearchOptions& options, const Measure& measure);

// How many pairs search() may time, incumbents included.
std::size_t search_budget(const SearchSpace& space, const SearchOptions& options);

}  // namespace hone::stages
