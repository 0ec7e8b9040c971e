// Error rates of the verdict by simulation: the table of docs/measuring.md. Needs no quiet machine, the same for everyone.
#include <fmt/format.h>

#include <cstdint>

#include "measure/judge.hpp"
#include "measure/statistics.hpp"
#include "tests/measure/noise.hpp"

namespace {

using namespace hone;
using model::Verdict;

constexpr int kIdenticalSessions = 1000, kIdenticalBlocks = 40, kPlantedSessions = 300, kPlantedBlocks = 20;
constexpr int kFewBlocks = 7;

// What a whole comparison does when every early look that decides may end it.
Verdict sequential_verdict(const std::vector<measure::SampledQuad>& quads, const measure::CompareOptions& options) {
  for (int look : measure::kInterimLooks) {
    if (look >= static_cast<int>(quads.size())) break;
    const auto interim = measure::judge({quads.begin(), quads.begin() + look}, options, measure::kInterimFalseAlarm);
    if (interim.verdict != Verdict::unresolved) return interim.verdict;
  }
  return measure::judge(quads, options, measure::kFinalFalseAlarm).verdict;
}

void print_row(const measure::NamedNoise& named) {
  int wrong = 0, wrong_of_few = 0, two = 0, five = 0, fifty = 0;
  double half_width = 0;
  for (int session = 0; session < kIdenticalSessions; ++session) {
    measure::CompareOptions options;
    options.seed = static_cast<std::uint64_t>(session);
    const auto differs = [&](int blocks) {
      const Verdict verdict =
          sequential_verdict(measure::simulate(named.noise, blocks, 1, 5000 + options.seed), options);
      return verdict == Verdict::faster || verdict == Verdict::slower;
    };
    wrong += differs(kIdenticalBlocks);
    wrong_of_few += differs(kFewBlocks);
  }
  for (int session = 0; session < kPlantedSessions; ++session) {
    measure::CompareOptions options;
    options.seed = static_cast<std::uint64_t>(session);
    const auto judged = [&](double ratio, int blocks) {
      const auto quads = measure::simulate(named.noise, blocks, ratio, 9000 + options.seed);
      return measure::judge(quads, options, measure::kFinalFalseAlarm);
    };
    const model::Comparison small = judged(1.02, kPlantedBlocks);
    two += small.verdict == Verdict::slower;
    five += judged(1.05, kPlantedBlocks).verdict == Verdict::slower;
    fifty += judged(0.5, kFewBlocks).verdict == Verdict::faster;
    half_width += measure::half_width_pct(small) / kPlantedSessions;
  }
  fmt::print("| {} | {} / {} | {} / {} | {} / {} | {} / {} | {:.2f} | {} / {} |\n", named.name, wrong,
             kIdenticalSessions, wrong_of_few, kIdenticalSessions, two, kPlantedSessions, five, kPlantedSessions,
             half_width, fifty, kPlantedSessions);
}

}  // namespace

int main() {
  fmt::print(
      "| noise | wrong for identical code | the same, 7 blocks | 2 % found | 5 % found | half width, % | 50 % found, 7 "
      "blocks |\n|---|---|---|---|---|---|---|\n");
  for (const measure::NamedNoise& named : measure::machine_noises()) print_row(named);
}
