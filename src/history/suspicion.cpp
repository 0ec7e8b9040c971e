#include "history/suspicion.hpp"

#include <map>
#include <tuple>

namespace hone::history {

namespace {

using Key = std::tuple<std::string, std::string, std::string, std::string>;  // x value, mode, metric, subject

constexpr const char* kInProduction = "(in production)";  // no provider has this name
constexpr const char* kAsFound = "(as found)";

// The kernel that the run's stages began with, under the names that they give it: finalize's original, optimize's v0, which is
// timed again beside each variant.
bool as_found(const Measurement& m) {
  return m.provider == "original" || m.provider == "v0" || m.provider.rfind("v0 beside ", 0) == 0;
}

Key key_of(const Measurement& m) {
  return {m.x_value, m.mode, m.metric, m.role == Role::own ? kInProduction : as_found(m) ? kAsFound : m.provider};
}

// Production is what a run found until it applies something, so either stands for the other where a run has only one of them.
const Measurement* counterpart(const std::map<Key, const Measurement*>& rows, const Measurement& m) {
  Key key = key_of(m);
  if (const auto same = rows.find(key); same != rows.end()) return same->second;
  std::string& subject = std::get<3>(key);
  if (subject != kInProduction && subject != kAsFound) return nullptr;
  subject = subject == kInProduction ? kAsFound : kInProduction;
  const auto other = rows.find(key);
  return other == rows.end() ? nullptr : other->second;
}

using Subject = std::tuple<std::string, std::string, std::string, std::string, std::string>;

Subject subject_of(const Run& run) { return {run.kernel, run.repository, run.dtype, run.options, run.device}; }

// The median ratio of the baselines that both runs timed at the same place; 0 where there is none.
double control_of(const std::vector<Pairing>& pairs, const Measurement& row) {
  for (const Pairing& pair : pairs)
    if (pair.after.role == Role::baseline && pair.after.x_value == row.x_value && pair.after.mode == row.mode &&
        pair.after.metric == row.metric)
      return pair.ratio;
  return 0;
}

std::string what_speaks_against(const Run& before, const Run& after, double ratio, double control) {
  std::string text;
  const auto add = [&](const std::string& why) { text += (text.empty() ? "" : "; ") + why; };
  if (control > 1 + (ratio - 1) / 2) add("what it is compared with became slower too");
  if (before.driver != after.driver) add("another driver");
  if (before.compiler != after.compiler) add("another compiler");
  return text;
}

}  // namespace

std::vector<Pairing> pair_runs(const KeptRun& before, const KeptRun& after) {
  std::vector<Pairing> pairs;
  if (before.run.kernel != after.run.kernel || before.run.dtype != after.run.dtype) return pairs;
  std::map<Key, const Measurement*> known;
  for (const Measurement& m : before.measurements) known.emplace(key_of(m), &m);
  for (const Measurement& m : after.measurements) {
    const Measurement* found = counterpart(known, m);
    if (found == nullptr || !(found->p50 > 0) || !(m.p50 > 0)) continue;
    pairs.push_back({*found, m, m.p50 / found->p50});
  }
  return pairs;
}

std::vector<Suspicion> suspicions(const std::vector<KeptRun>& runs) {
  std::map<Subject, std::vector<const KeptRun*>> by_subject;
  for (const KeptRun& kept : runs) {
    bool timed = false;
    for (const Measurement& m : kept.measurements) timed = timed || (m.role == Role::own && m.metric == "speed");
    if (timed) by_subject[subject_of(kept.run)].push_back(&kept);
  }
  std::vector<Suspicion> found;
  for (const auto& [subject, of_one] : by_subject) {
    const KeptRun& last = *of_one.back();
    std::map<Key, Suspicion> worst;
    for (std::size_t i = 0; i + 1 < of_one.size(); ++i) {
      // Stages of one run differ by what the run changed.
      if (!last.run.session.empty() && of_one[i]->run.session == last.run.session) continue;
      const std::vector<Pairing> pairs = pair_runs(*of_one[i], last);
      for (const Pairing& pair : pairs) {
        if (pair.after.role != Role::own || pair.after.metric != "speed") continue;
        if (!(pair.ratio > 1 + kSuspiciousPct / 100) || !(pair.after.p20 > pair.before.p80)) continue;
        Suspicion& kept = worst[key_of(pair.after)];
        if (pair.ratio <= kept.row.ratio) continue;
        const double control = control_of(pairs, pair.after);
        kept = {of_one[i]->run, last.run, pair, control,
                what_speaks_against(of_one[i]->run, last.run, pair.ratio, control)};
      }
    }
    for (auto& [key, suspicion] : worst) found.push_back(std::move(suspicion));
  }
  return found;
}

}  // namespace hone::history
