#include "measure/paired_subject.hpp"

#include <algorithm>
#include <cmath>

#include "measure/disturbance.hpp"
#include "measure/statistics.hpp"

namespace hone::measure {

namespace {

constexpr double kConfidence = 0.95;

bool is_time(double ns) { return std::isfinite(ns) && ns > 0; }

}  // namespace

// Nothing where the budget has no room for it or there is none.
std::optional<base::Result<double>> PairedSubject::run_ceiling() {
  if (ceiling_ == nullptr || !problem_.empty()) return std::nullopt;
  const std::int64_t before_ns = clock_.now_ns();
  const double others_ns = static_cast<double>(before_ns - started_ns_ - spent_ns_);
  const bool has_room = static_cast<double>(spent_ns_ + longest_ns_) <= most_time_ * others_ns;
  if (static_cast<int>(pairs_.size()) >= kSurePairs && !has_room) return std::nullopt;
  auto sample = ceiling_->sample();
  const std::int64_t took_ns = clock_.now_ns() - before_ns;
  spent_ns_ += took_ns, longest_ns_ = std::max(longest_ns_, took_ns);
  if (!sample) return sample.error();
  return sample->device_ns;
}

base::Result<model::Sample> PairedSubject::sample() {
  if (!warm_) started_ns_ = clock_.now_ns();
  const auto ceiling = run_ceiling();
  if (ceiling && !*ceiling) {
    if (ceiling->error().kind == base::ErrorKind::interrupted) return ceiling->error();
    problem_ = base::describe(ceiling->error());  // the kernel's own table does not end with it
  }
  auto own = own_.sample();
  if (own && ceiling && *ceiling && warm_ && is_time(own->device_ns) && is_time(**ceiling))
    pairs_.push_back({own->device_ns, **ceiling});
  warm_ = true;
  return own;
}

std::vector<std::unique_ptr<PairedSubject>> pair_with(const std::vector<std::unique_ptr<Subject>>& subjects,
                                                      Subject* ceiling, base::Clock& clock) {
  std::vector<std::unique_ptr<PairedSubject>> paired;
  for (const auto& subject : subjects)
    paired.push_back(std::make_unique<PairedSubject>(*subject, ceiling, clock,
                                                     kMostTimeForCeilings / static_cast<double>(subjects.size())));
  return paired;
}

std::optional<CeilingShare> share_of_ceiling(const std::vector<PairedSubject::Pair>& pairs, double floor_ns,
                                             double expected_ns) {
  if (!is_time(floor_ns) || !is_time(expected_ns)) return std::nullopt;
  std::vector<model::Sample> own, ceiling;
  for (const PairedSubject::Pair& pair : pairs) {
    own.push_back({pair.own_ns, pair.own_ns});
    ceiling.push_back({pair.ceiling_ns, pair.ceiling_ns});
  }
  const auto of_own = find_disturbances(own, 0), of_ceiling = find_disturbances(ceiling, 0);
  std::vector<double> shares, speeds;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (of_own[i] != Disturbance::none || of_ceiling[i] != Disturbance::none) continue;
    const PairedSubject::Pair& pair = pairs[i];
    shares.push_back(100 * floor_ns / pair.own_ns * pair.ceiling_ns / expected_ns);
    speeds.push_back(expected_ns / pair.ceiling_ns);
  }
  if (static_cast<int>(shares.size()) < kFewestPairs) return std::nullopt;
  CeilingShare share;
  share.share_pct = *median(shares);
  share.quickest = *quantile(std::move(speeds), 0.8);
  const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
  share.paired = {*least, *most, static_cast<int>(shares.size())};
  if (const auto interval = median_interval(shares, kConfidence))
    share.paired.low_pct = interval->low, share.paired.high_pct = interval->high;
  return share;
}

}  // namespace hone::measure
