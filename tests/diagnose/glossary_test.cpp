// Each word that a document can hold has an entry, and each entry says something.
#include "diagnose/glossary.hpp"

#include <gmock/gmock.h>

#include <set>

#include "diagnose/advice.hpp"
#include "diagnose/launch.hpp"
#include "model/report.hpp"
#include "model/values.hpp"

namespace hone::diagnose {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string kinds_of(const std::string& word) {
  std::string kinds;
  for (const Term* term : find_terms(word)) kinds += term->kind + " ";
  return kinds;
}

// All values of an enum whose words can be parsed back.
template <class Enum>
void expect_entries(const std::string& kind) {
  int words = 0;
  for (int i = 0; i < 16; ++i) {
    const std::string text = model::word(static_cast<Enum>(i));
    if (!model::parse<Enum>(text) || *model::parse<Enum>(text) != static_cast<Enum>(i)) continue;
    ++words;
    EXPECT_THAT(kinds_of(text), HasSubstr(kind)) << text;
  }
  EXPECT_GE(words, 3);
}

TEST(Glossary, HasEveryWordOfTheClosedVocabularies) {
  expect_entries<model::BottleneckClass>("class");
  expect_entries<model::Verdict>("verdict");
  expect_entries<model::VariantStatus>("status");
  expect_entries<model::Liveness>("status");
  expect_entries<model::Source>("word");
  expect_entries<model::HowSet>("word");
  expect_entries<model::Confidence>("word");
}

TEST(Glossary, HasEveryOutcomeOfAReport) {
  int outcomes = 0;
  for (int i = 0; i < 16; ++i) {
    const std::string text = model::word(static_cast<model::Outcome>(i));
    if (text == "unknown") continue;
    ++outcomes;
    EXPECT_THAT(kinds_of(text), HasSubstr("outcome")) << text;
  }
  EXPECT_GE(outcomes, 5);
}

TEST(Glossary, HasEveryStrategyAndEveryStallReason) {
  for (const Strategy& strategy : all_strategies())
    EXPECT_THAT(kinds_of(strategy.word), HasSubstr("strategy")) << strategy.word;
  for (const std::string& reason : stall_reasons()) EXPECT_THAT(kinds_of(reason), HasSubstr("stall reason")) << reason;
}

TEST(Glossary, EachEntrySaysSomethingOfAKnownKindOnce) {
  const std::set<std::string> kinds(kinds_of_terms().begin(), kinds_of_terms().end());
  std::set<std::string> seen, used;
  for (const Term& term : glossary()) {
    EXPECT_TRUE(kinds.count(term.kind)) << term.kind;
    used.insert(term.kind);
    EXPECT_TRUE(seen.insert(term.kind + ": " + term.word).second) << term.word << " twice as a " << term.kind;
    EXPECT_GT(term.meaning.size(), 10u) << term.word;
    EXPECT_EQ(term.meaning.back(), '.') << term.word;
    EXPECT_THAT(term.meaning + term.decided + term.to_do, Not(HasSubstr("{}"))) << term.word;
    EXPECT_FALSE(term.sources.empty()) << term.word;
  }
  EXPECT_EQ(used, kinds) << "a kind without an entry";
}

TEST(Glossary, FindsAWordInEverySpelling) {
  EXPECT_EQ(kinds_of("Memory_Bound"), "class ");
  EXPECT_EQ(kinds_of("parameter sweep"), "strategy ");
  EXPECT_EQ(kinds_of("nosuch"), "");
  const Term& term = *find_terms("grid-sizing").front();
  EXPECT_THAT(term.decided, HasSubstr("latency-bound"));
  EXPECT_THAT(term.decided, HasSubstr("comes first where the limiter is grid"));
  EXPECT_THAT(term.to_do, HasSubstr("Hopper: rms_norm backward"));
}

}  // namespace
}  // namespace hone::diagnose
