// A subject whose run times are told by a function and pass on a hand-moved clock: the protocol without a machine.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "measure/subject.hpp"

namespace hone::measure {

class ScriptedSubject final : public Subject {
 public:
  using Script = std::function<base::Result<model::Sample>(int run)>;

  ScriptedSubject(std::string name, base::ManualClock& clock, Script script)
      : name_(std::move(name)), clock_(clock), script_(std::move(script)) {}

  std::string name() const override { return name_; }

  base::Result<model::Sample> sample() override {
    base::Result<model::Sample> sample = script_(runs_++);
    if (sample && sample->wall_ns > 0) clock_.advance_ns(static_cast<std::int64_t>(sample->wall_ns));
    if (log) log->push_back(name_.front());
    return sample;
  }

  int runs() const { return runs_; }
  std::string* log = nullptr;  // gets the first letter of the name at every run

 private:
  std::string name_;
  base::ManualClock& clock_;
  Script script_;
  int runs_ = 0;
};

// A sample of `device_ns` whose caller waited 10 % longer.
inline model::Sample run_of(double device_ns, double clock_mhz = 0) { return {device_ns, device_ns * 1.1, clock_mhz}; }

}  // namespace hone::measure
