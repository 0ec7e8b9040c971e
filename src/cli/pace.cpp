#include "cli/pace.hpp"

#include <algorithm>

namespace hone::cli {

namespace {

constexpr double kFoundInJournal_s = 1e-3;  // nothing that is measured takes less
constexpr int kRemembered = 8;              // units, about

}  // namespace

void Pace::Average::add(double x) {
  count = std::min(count + 1, kRemembered);
  value += (x - value) / count;
}

void Pace::time_units(int units, double seconds) {
  if (units < 1 || seconds < kFoundInJournal_s * units) return;
  unit_s_.add(seconds / units);
  if (now_.weight > 0) weight_s_.add(seconds / units / now_.weight);
}

void Pace::step(const std::string& title, double now_s) {
  // A search may end before its bound: only the last unit ends with its step.
  if (total_ == 0)
    time_units(now_.units, now_s - begun_s_);
  else if (total_ - done_ == 1)
    time_units(1, now_s - last_s_);
  now_ = {title, 1, 0};
  const auto found =
      std::find_if(rest_.begin(), rest_.end(), [&](const stages::Work& work) { return work.title == title; });
  if (found != rest_.end()) {
    now_ = *found;
    rest_.erase(rest_.begin(), found + 1);
  }
  done_ = total_ = 0;
  ended_ = false;
  unit_s_ = {};
  begun_s_ = last_s_ = now_s;
}

void Pace::advance(int done, int total, double now_s) {
  time_units(done - done_, now_s - last_s_);
  done_ = done, total_ = total;
  last_s_ = now_s;
}

std::optional<double> Pace::left_s(double now_s) const {
  if (ended_) return std::nullopt;
  const int units = total_ > 0 ? total_ - done_ : now_.units;
  double left = 0;
  if (unit_s_.count > 0)
    left = units * unit_s_.value;
  else if (weight_s_.count > 0 && now_.weight > 0)
    left = units * now_.weight * weight_s_.value;
  else if (units > 0)
    return std::nullopt;
  left = std::max(0.0, left - (now_s - last_s_));
  if (rest_.empty()) return left;
  if (weight_s_.count == 0) return std::nullopt;
  for (const stages::Work& work : rest_) left += work.units * work.weight * weight_s_.value;
  return left;
}

}  // namespace hone::cli
