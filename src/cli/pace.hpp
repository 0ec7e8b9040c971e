// How long the rest of a stage will take, from the pace of what was done so far and what the stage says is still to come. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stages/ports.hpp"

namespace hone::cli {

class Pace {
 public:
  void expect(const std::vector<stages::Work>& rest) { rest_ = rest; }
  // Ends the step before and begins this one at `now_s`; an expected step of this title, and those before it, are expected no more.
  void step(const std::string& title, double now_s);
  void advance(int done, int total, double now_s);
  // No unit of this step follows: there is nothing to estimate until the next one.
  void end() { ended_ = true; }

  // Of the step at work and all that is expected after it; nothing while no unit was timed.
  std::optional<double> left_s(double now_s) const;

  const std::string& title() const { return now_.title; }
  int done() const { return done_; }
  int total() const { return total_; }

 private:
  // The last units weigh most: what a journal answers at once says nothing about what is still to be measured.
  struct Average {
    double value = 0;
    int count = 0;
    void add(double x);
  };
  void time_units(int units, double seconds);

  std::vector<stages::Work> rest_;
  stages::Work now_{"", 1, 0};  // weight 0: not expected, so its units say nothing about those of other steps
  int done_ = 0, total_ = 0;
  bool ended_ = false;
  double begun_s_ = 0, last_s_ = 0;  // of the step; of the last unit
  Average unit_s_, weight_s_;        // of a unit of this step; of a unit of weight 1
};

}  // namespace hone::cli
