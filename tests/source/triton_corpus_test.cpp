// What the audit reads of Triton sources, case by case.
#include "tests/source/corpus.hpp"

namespace hone::source::corpus {
namespace {

class TritonCorpus : public ::testing::TestWithParam<Case> {};

TEST_P(TritonCorpus, GivesTheExpectedFacts) { EXPECT_THAT(wrong_facts(GetParam()), ::testing::IsEmpty()); }

INSTANTIATE_TEST_SUITE_P(Cases, TritonCorpus, ::testing::ValuesIn(load_cases(false)), name_of);

}  // namespace
}  // namespace hone::source::corpus
