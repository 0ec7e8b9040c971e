// What two separate runs can and can not say. They differ in clocks, heat, other load and drivers, so a row that became slower is
// a suspicion; only a paired comparison is a verdict. Pure.
#pragma once

#include <string>
#include <vector>

#include "history/history.hpp"

namespace hone::history {

// A row that both runs have, and what they measured.
struct Pairing {
  Measurement before, after;
  double ratio = 0;  // of the medians, after over before
};

// Rows of the same shape, pass, metric and provider; of different kernels or dtypes there are none. The kernel in production is
// the same row in every stage, whatever its provider is called there, and so is the kernel that the stages began with ("original",
// "v0").
std::vector<Pairing> pair_runs(const KeptRun& before, const KeptRun& after);

struct Suspicion {
  Run before, after;
  Pairing row;
  double control = 0;   // ratio of what it is compared with in the same two runs; 0: there is none
  std::string against;  // what makes the row worth little: "eager became slower too", "another driver"; empty: nothing
};

inline constexpr double kSuspiciousPct = 5;

// The newest run of each kernel, dtype, device and options against the fastest earlier one of each row, stages of the newest run
// itself left out: slower by more than kSuspiciousPct, its fast end beyond the slow end of the other. Speed of the kernel in production alone.
std::vector<Suspicion> suspicions(const std::vector<KeptRun>& runs);

}  // namespace hone::history
