// What optimize is asked for, and how much time each kind of measurement may take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "measure/protocol.hpp"
#include "stages/checkpoint.hpp"

namespace hone::stages {

struct OptimizeOptions : Asking {
  int max_variants = 8;
  std::string target_metric;  // "forward < 0.3 ms @ hidden_size=4096"; empty: none
  std::string proposer;       // a command line; empty: none
  std::int64_t proposer_deadline_ms = 600'000;
  int build_threads = 2;  // compilers at a time
  std::uint64_t seed = 0;
  std::size_t largest_settings = 3;    // distinct settings of a settings function
  double largest_search_share = 0.35;  // of the distinct configurations that the sweep may time
  double ceiling_share_pct = 97;       // at this share of the ceiling nothing is left to gain
  double small_gain_pct = 1;           // two consecutive variants below it end the loop
  measure::Budget screening{3, 40, 150'000'000, 1, 2.0};
  measure::Budget finals{8, 120, 600'000'000, 1, 0.7};
  measure::Budget verdict{10, 200, 900'000'000, 2, 0.5};
  std::string command;  // as typed; also what resumes
};

// What a comparison that may hide a gain is given of the time and the samples aimed at.
inline constexpr int kPatience = 3;

// Less time for each timing, by the same rules; the sweep considers fewer configurations.
inline OptimizeOptions for_quick(OptimizeOptions options) {
  for (measure::Budget* budget : {&options.screening, &options.finals, &options.verdict}) budget->aim_ns /= 2;
  return options;
}

}  // namespace hone::stages
