#include "diagnose/glossary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "diagnose/advice.hpp"
#include "diagnose/classes.hpp"
#include "diagnose/glossary_tables.hpp"
#include "diagnose/launch.hpp"

namespace hone::diagnose {

namespace {

using model::BottleneckClass;

constexpr BottleneckClass kClasses[] = {BottleneckClass::memory_bound, BottleneckClass::compute_bound,
                                        BottleneckClass::balanced,     BottleneckClass::latency_bound,
                                        BottleneckClass::host_bound,   BottleneckClass::undecided};
constexpr Family kFamilies[] = {Family::x86, Family::arm,    Family::ampere,
                                Family::ada, Family::hopper, Family::blackwell};

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

// The same letters for every spelling of a word.
std::string plain(const std::string& word) {
  std::string text;
  for (const char c : word)
    text += c == '-' || c == '_' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string meaning_of(BottleneckClass cls) {
  switch (cls) {
    case BottleneckClass::memory_bound:
      return "The memory is the busy unit: the time is that of moving bytes. Fewer bytes, or bytes moved nearer to the "
             "bandwidth of the device, make it faster; fewer operations do not.";
    case BottleneckClass::compute_bound:
      return "The arithmetic is the busy unit: the time is that of issuing operations. Fewer or cheaper operations "
             "make it "
             "faster; fewer bytes do not.";
    case BottleneckClass::balanced:
      return "Memory and arithmetic are both busy: relieving one alone gains at most what separates them.";
    case BottleneckClass::latency_bound:
      return "Neither unit is busy: too little is in flight, so the time is spent waiting. More independent work, or "
             "shorter "
             "waits, make it faster.";
    case BottleneckClass::host_bound:
      return "The device is idle for most of the caller's time: the host that launches is the limit. A faster kernel "
             "does not "
             "show there; fewer launches do.";
    case BottleneckClass::undecided:
      return "The capture lacks the figures that would tell: no unit was seen busy, and not both were counted.";
  }
  return "";
}

std::string decided_of(BottleneckClass cls) {
  switch (cls) {
    case BottleneckClass::memory_bound:
    case BottleneckClass::compute_bound:
      return fmt::format(
          "The busier unit is at {:g} % or more of what it can reach ({:g} % where fewer than {:g} % of the warps are "
          "in "
          "flight), and the other is not within {:g} points of it. Routes to the figures: share of a measured ceiling, "
          "ablations, hardware counters.",
          kBusy, kBusyWhenStarved, kStarvedOccupancy, kBalancedGap);
    case BottleneckClass::balanced:
      return fmt::format("Both units are at {:g} % or more and within {:g} points of each other.", kBalancedFloor,
                         kBalancedGap);
    case BottleneckClass::latency_bound:
      return fmt::format("No unit reaches {:g} %, the least at which one counts as busy.", kBusy);
    case BottleneckClass::host_bound:
      return fmt::format("The device is idle for {:g} % of the caller's time or more: wall time beside device time.",
                         kHostShareMajority);
    case BottleneckClass::undecided:
      return "One throughput or both are missing, and none that is there is high enough to count as busy.";
  }
  return "";
}

std::string titles_of(const std::vector<std::string>& words) {
  std::vector<std::string> parts;
  for (const std::string& word : words)
    if (const Strategy* strategy = find_strategy(word)) parts.push_back(strategy->title + (" (" + word + ")"));
  return joined(parts);
}

void add_classes(std::vector<Term>& terms) {
  for (const BottleneckClass cls : kClasses)
    terms.push_back({model::word(cls),
                     "class",
                     meaning_of(cls),
                     decided_of(cls),
                     cls == BottleneckClass::undecided
                         ? "Capture with --section SpeedOfLight, which has both throughputs."
                         : "In this order: " + titles_of(strategies_for(cls, {}, true)) + ".",
                     {"docs/diagnosis.md", kRooflinePaper, kProfilingGuide}});
  terms.push_back(
      {"unclassified",
       "class",
       "What the common rule says of most of the plane. It stands as plain_rule_class beside hone's class, which "
       "every point has.",
       "Memory over 60 % and compute under 40 % is memory-bound, the mirror is compute-bound, both from 30 to 60 % "
       "is balanced; everything else is unclassified.",
       "Read the class of the profile and its evidence.",
       {"docs/diagnosis.md"}});
}

void add_limiters(std::vector<Term>& terms) {
  for (const LimiterText& limiter : limiter_texts()) {
    std::vector<std::string> words;
    for (const std::string& word : strategies_for(BottleneckClass::latency_bound, {limiter.word}, true))
      if (lifts(word, limiter.word)) words.push_back(word);
    const std::string first = words.empty() ? limiter.to_do : "First: " + titles_of(words) + ".";
    terms.push_back(
        {limiter.word, "limiter", limiter.meaning, limiter.decided, first, {"docs/diagnosis.md", limiter.source}});
  }
}

void add_strategies(std::vector<Term>& terms) {
  for (const Strategy& strategy : all_strategies()) {
    Term term{strategy.word, "strategy", std::string(strategy.title) + ". ", "", "", {"docs/diagnosis.md"}};
    const bool same = std::string(strategy.on_cpu) == strategy.on_gpu;
    term.meaning += same ? std::string("On every device: ") + strategy.on_gpu + "."
                         : std::string("On a processor: ") + strategy.on_cpu + ". On a GPU: " + strategy.on_gpu + ".";
    std::vector<std::string> serves, lifted;
    for (const BottleneckClass cls : kClasses) {
      const std::vector<std::string> list = strategies_for(cls, {}, true);
      if (std::find(list.begin(), list.end(), strategy.word) != list.end()) serves.emplace_back(model::word(cls));
    }
    for (const LimiterText& limiter : limiter_texts())
      if (lifts(strategy.word, limiter.word)) lifted.emplace_back(limiter.word);
    if (strategy.word == std::string("parameter-sweep"))
      term.decided = "It is first in every plan.";
    else if (serves.empty())
      term.decided = "The source of the kernel asks for it.";
    else
      term.decided = "It serves kernels that are " + joined(serves) + ".";
    if (!lifted.empty()) term.decided += " It comes first where the limiter is " + joined(lifted) + ".";
    term.to_do = std::string("Mind: ") + strategy.risk + ".";
    for (const Family family : kFamilies)
      for (const Advice* advice : advice_for(family, strategy.word)) {
        term.to_do += fmt::format(" {}: {}.", name_of(family), advice->text);
        term.sources.emplace_back(advice->source);
      }
    terms.push_back(std::move(term));
  }
  for (const WordText& text : origins_of_variants())
    terms.push_back({text.word, "strategy", text.meaning, text.decided, text.to_do, {text.source}});
}

void add_stalls(std::vector<Term>& terms) {
  for (const std::string& reason : stall_reasons())
    terms.push_back(
        {reason,
         "stall reason",
         "Warps stall here: " + stall_meaning(reason) + ".",
         fmt::format("Nsight Compute samples it; hone shows the largest three as shares of the cycles between two "
                     "instructions of a warp, and names one as a limiter from {:g} % on.",
                     kStallShare),
         stall_advice(reason),
         {kProfilingGuide}});
}

std::vector<Term> all_terms() {
  std::vector<Term> terms;
  add_classes(terms);
  add_limiters(terms);
  add_strategies(terms);
  const auto add = [&](const std::vector<WordText>& texts, const char* kind) {
    for (const WordText& text : texts)
      terms.push_back({text.word, kind, text.meaning, text.decided, text.to_do, {text.source}});
  };
  add(metric_texts(), "metric");
  add_stalls(terms);
  add(verdict_texts(), "verdict");
  add(status_texts(), "status");
  add(outcome_texts(), "outcome");
  add(experiment_texts(), "experiment");
  add(other_texts(), "word");
  return terms;
}

}  // namespace

const std::vector<std::string>& kinds_of_terms() {
  static const std::vector<std::string> kinds = {"class",   "limiter", "strategy", "metric",     "stall reason",
                                                 "verdict", "status",  "outcome",  "experiment", "word"};
  return kinds;
}

const std::vector<Term>& glossary() {
  static const std::vector<Term> terms = all_terms();
  return terms;
}

std::vector<const Term*> find_terms(const std::string& word) {
  std::vector<const Term*> found;
  for (const Term& term : glossary())
    if (plain(term.word) == plain(word)) found.push_back(&term);
  return found;
}

}  // namespace hone::diagnose
