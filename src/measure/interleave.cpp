// Rows of tables: subjects timed round by round in one session.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "measure/disturbance.hpp"
#include "measure/protocol.hpp"
#include "measure/sampling.hpp"
#include "measure/statistics.hpp"

namespace hone::measure {

namespace {

constexpr double kTimingConfidence = 0.95;
// Times the aim, while too many samples are disturbed: a burst of other load may pass.
constexpr int kPatienceWithLoad = 3;

model::Quantiles quantiles_ms(std::vector<double> times_ns) {
  model::Quantiles result;
  result.samples = static_cast<int>(times_ns.size());
  for (double& time : times_ns) time *= 1e-6;
  result.p20 = quantile(times_ns, 0.2).value_or(0);
  result.p50 = quantile(times_ns, 0.5).value_or(0);
  result.p80 = quantile(std::move(times_ns), 0.8).value_or(0);
  return result;
}

std::vector<Disturbance> disturbances_of(const std::vector<model::Sample>& samples) {
  return find_disturbances(samples, session_clock_mhz(samples));
}

bool too_disturbed(const std::vector<model::Sample>& samples) {
  return count(disturbances_of(samples)).total() > kLargestDiscardedShare * static_cast<double>(samples.size());
}

bool narrow_enough(const std::vector<model::Sample>& samples, const Budget& budget) {
  // Sampling goes on: it may get quieter.
  if (too_disturbed(samples)) return false;
  const std::vector<Disturbance> marks = disturbances_of(samples);
  std::vector<double> times;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (marks[i] == Disturbance::none) times.push_back(samples[i].device_ns);
  }
  if (static_cast<int>(times.size()) < budget.min_samples) return false;
  const std::optional<Interval> interval = median_interval(times, kTimingConfidence);
  const std::optional<double> centre = median(times);
  return interval && centre && 50 * (interval->high - interval->low) <= budget.target_half_width_pct * *centre;
}

void add_note(Timing& timing, const std::string& note) { timing.note += (timing.note.empty() ? "" : "; ") + note; }

// Quantiles over the samples that nothing disturbed; over all where too many were.
Timing summarize(std::vector<model::Sample> samples, const Budget& budget) {
  std::vector<Disturbance> marks = disturbances_of(samples);
  const DisturbanceCount disturbed = count(marks);
  Timing timing;
  timing.kept_disturbed = too_disturbed(samples);
  if (timing.kept_disturbed) {
    marks.assign(samples.size(), Disturbance::none);
    add_note(timing, fmt::format("{} of {} samples were disturbed ({}) and are kept: the spread shows it",
                                 disturbed.total(), samples.size(), describe(disturbed)));
  } else if (disturbed.total() > 0) {
    timing.discarded = disturbed.total();
    add_note(timing, "set aside: " + describe(disturbed));
  }
  std::vector<double> device, wall;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (marks[i] != Disturbance::none) continue;
    device.push_back(samples[i].device_ns);
    wall.push_back(samples[i].wall_ns);
  }
  timing.device_ms = quantiles_ms(std::move(device));
  timing.wall_ms = quantiles_ms(std::move(wall));
  timing.few = timing.device_ms.samples < budget.min_samples;
  if (timing.few)
    add_note(timing, fmt::format("few samples: {} of the {} asked for", timing.device_ms.samples, budget.min_samples));
  timing.samples = std::move(samples);
  return timing;
}

// The next number of rounds at which to ask whether the intervals are narrow: sorting at every round would cost more than
// short runs do.
int next_check(int rounds) { return rounds + std::max(1, rounds / 4); }

class Interleaving {
 public:
  Interleaving(const std::vector<Subject*>& subjects, const std::vector<Subject*>& references, base::Clock& clock,
               const Budget& budget)
      : clock_(clock),
        budget_(budget),
        pace_(clock, budget.aim_ns, budget.min_samples),
        most_rounds_(budget.max_samples) {
    for (Subject* subject : subjects) rows_.push_back({subject, {}, 0, false});
    for (Subject* reference : references) rows_.push_back({reference, {}, 0, true});
  }

  base::Result<std::vector<Timing>> run() {
    HONE_PROPAGATE(start());
    bool narrow = !has_subjects(), extended = false;
    int rounds = 0, check_at = budget_.min_samples;
    while (!narrow) {
      if (rounds == most_rounds_ || !pace_.allows_round_after(rounds)) {
        if (extended || !disturbed()) break;
        extended = true;
        pace_.extend(kPatienceWithLoad);
        most_rounds_ *= kPatienceWithLoad;
        continue;
      }
      HONE_PROPAGATE(take_round(rounds));
      if (++rounds < check_at) continue;
      check_at = next_check(rounds);
      narrow = every_subject([&](const Row& row) { return narrow_enough(row.samples, budget_); });
    }
    return timings(!narrow && rounds < most_rounds_);
  }

 private:
  struct Row {
    Subject* subject;
    std::vector<model::Sample> samples;
    std::int64_t spent_ns;  // restoring included
    bool reference;
  };

  bool has_subjects() const { return !rows_.empty() && !rows_.front().reference; }

  template <class Condition>
  bool every_subject(const Condition& condition) const {
    return std::all_of(rows_.begin(), rows_.end(), [&](const Row& row) { return row.reference || condition(row); });
  }

  bool disturbed() const {
    return !every_subject([](const Row& row) { return !too_disturbed(row.samples); });
  }

  base::Result<void> start() {
    std::vector<Subject*> subjects;
    for (const Row& row : rows_)
      if (!row.reference) subjects.push_back(row.subject);
    if (auto warm = warm_up(subjects, budget_.warmup); !warm) return warm;
    // A reference warms up with its first sample, which stays only where few follow.
    for (Row& row : rows_) {
      if (!row.reference) continue;
      if (auto taken = take_run(row); !taken) return taken;
    }
    pace_.start_rounds();
    return {};
  }

  base::Result<void> take_run(Row& row) {
    const std::int64_t start = clock_.now_ns();
    base::Result<model::Sample> sample = take(*row.subject);
    if (!sample) return sample.error();
    row.samples.push_back(*sample);
    const std::int64_t cost = clock_.now_ns() - start;
    row.spent_ns += cost;
    if (row.reference)
      pace_.leave_out(cost);
    else
      spent_on_subjects_ns_ += cost;
    return {};
  }

  bool takes_part(const Row& row) const {
    const auto taken = static_cast<std::int64_t>(row.samples.size());
    return !row.reference || taken < kFewestRounds || row.spent_ns + row.spent_ns / taken <= spent_on_subjects_ns_;
  }

  // A B C, C B A, ...: a drift over two rounds cancels.
  base::Result<void> take_round(int round) {
    for (std::size_t position = 0; position < rows_.size(); ++position) {
      Row& row = rows_[round % 2 == 0 ? position : rows_.size() - 1 - position];
      if (!takes_part(row)) continue;
      if (auto taken = take_run(row); !taken) return taken;
    }
    return {};
  }

  std::vector<Timing> timings(bool time_ended_it) {
    std::vector<Timing> all;
    for (Row& row : rows_) {
      if (row.reference && row.samples.size() > kFewestRounds) row.samples.erase(row.samples.begin());
      all.push_back(summarize(std::move(row.samples), budget_));
      if (time_ended_it && !row.reference) add_note(all.back(), "the time aimed at ended the sampling");
    }
    return all;
  }

  base::Clock& clock_;
  const Budget& budget_;
  Pace pace_;
  int most_rounds_;
  std::vector<Row> rows_;  // subjects, then references
  std::int64_t spent_on_subjects_ns_ = 0;
};

}  // namespace

base::Result<std::vector<Timing>> interleave(const std::vector<Subject*>& subjects, base::Clock& clock,
                                             const Budget& budget, const std::vector<Subject*>& references) {
  if (base::Result<void> valid = check(budget); !valid) return valid.error();
  return Interleaving(subjects, references, clock, budget).run();
}

base::Result<Timing> time(Subject& subject, base::Clock& clock, const Budget& budget) {
  base::Result<std::vector<Timing>> timings = interleave({&subject}, clock, budget);
  if (!timings) return timings.error();
  return std::move(timings->front());
}

}  // namespace hone::measure
