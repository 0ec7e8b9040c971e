// Which estimator of a paired ratio is least disturbed: the table of docs/measuring.md, by simulation, the same for everyone.
//
// Identical code, 20 blocks A B B A a session, 4000 sessions for each noise. Shown is the standard deviation of the estimated
// ratio in percent; less is better.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "measure/statistics.hpp"
#include "tests/measure/noise.hpp"

namespace {

using namespace hone;
using measure::Quad;
using Values = std::vector<double>;

constexpr int kSessions = 4000, kBlocks = 20;

// ln of the ratio of one session's blocks.
struct Estimator {
  std::string name;
  std::function<double(const std::vector<Quad>&)> estimate;
};

Values each(const std::vector<Quad>& quads, const std::function<double(const Quad&)>& value) {
  Values values;
  for (const Quad& quad : quads) values.push_back(value(quad));
  return values;
}

double sum_ratio(const Quad& q) {
  return std::log((q.candidate_first + q.candidate_second) / (q.baseline_first + q.baseline_second));
}
double best_ratio(const Quad& q) {
  return std::log(std::min(q.candidate_first, q.candidate_second) / std::min(q.baseline_first, q.baseline_second));
}

double mean(const Values& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// Median of the means of all pairs, each value with itself included (Hodges and Lehmann 1963).
double hodges_lehmann(const Values& values) {
  Values means;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i; j < values.size(); ++j) means.push_back((values[i] + values[j]) / 2);
  }
  return *measure::median(means);
}

double ratio_of_medians(const std::vector<Quad>& quads) {
  Values baseline, candidate;
  for (const Quad& q : quads) {
    baseline.insert(baseline.end(), {q.baseline_first, q.baseline_second});
    candidate.insert(candidate.end(), {q.candidate_first, q.candidate_second});
  }
  return std::log(*measure::median(candidate) / *measure::median(baseline));
}

double trimmed(const Values& values) { return *measure::trimmed_mean(values, Values(values.size(), 1.0)); }

std::vector<Estimator> estimators() {
  return {{"ratio of medians, unpaired", ratio_of_medians},
          {"mean of blocks", [](const auto& q) { return mean(each(q, sum_ratio)); }},
          {"median of blocks", [](const auto& q) { return *measure::median(each(q, sum_ratio)); }},
          {"Hodges-Lehmann", [](const auto& q) { return hodges_lehmann(each(q, sum_ratio)); }},
          {"25 % trimmed mean", [](const auto& q) { return trimmed(each(q, sum_ratio)); }},
          {"**weighted 25 % trimmed mean**",
           [](const auto& q) {
             const auto ratios = *measure::blocked_ratios(q);
             return *measure::trimmed_mean(ratios.log_ratios, ratios.weights);
           }},
          {"trimmed mean of min(B)/min(A)", [](const auto& q) { return trimmed(each(q, best_ratio)); }}};
}

std::vector<measure::NamedNoise> noises() {
  std::vector<measure::NamedNoise> all = {
      {"normal 1 %",
       [](measure::Random& random, int) { return std::max(0.01, 1 + 0.01 * measure::standard_normal(random)); }},
      {"lognormal 5 %", [](measure::Random& random, int) { return measure::lognormal(random, 0.05); }},
      {"one-sided Cauchy 1 %", [](measure::Random& random, int) {
         return 1 + 0.01 * std::abs(std::tan(std::numbers::pi * (random.uniform() - 0.5)));
       }}};
  for (const measure::NamedNoise& noise : measure::machine_noises()) {
    if (noise.name != "lognormal") all.push_back(noise);
  }
  return all;
}

}  // namespace

int main() {
  std::string head = "| estimator |", rule = "|---|";
  for (const measure::NamedNoise& noise : noises()) head += " " + noise.name + " |", rule += "---|";
  fmt::print("{}\n{}\n", head, rule);
  std::vector<std::string> lines;
  for (const Estimator& estimator : estimators()) lines.push_back("| " + estimator.name + " |");
  for (const measure::NamedNoise& noise : noises()) {
    std::vector<double> squares(lines.size());
    for (int session = 0; session < kSessions; ++session) {
      const auto quads =
          measure::times_of(measure::simulate(noise.noise, kBlocks, 1, static_cast<std::uint64_t>(session) + 1));
      std::size_t i = 0;
      for (const Estimator& estimator : estimators()) {
        const double pct = 100 * (std::exp(estimator.estimate(quads)) - 1);
        squares[i++] += pct * pct / kSessions;
      }
    }
    for (std::size_t i = 0; i < lines.size(); ++i) lines[i] += fmt::format(" {:.2f} |", std::sqrt(squares[i]));
  }
  for (const std::string& line : lines) fmt::print("{}\n", line);
}
