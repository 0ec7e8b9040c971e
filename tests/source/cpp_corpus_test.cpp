// What the audit reads of CUDA C++ and C++ sources, case by case.
#include "tests/source/corpus.hpp"

namespace hone::source::corpus {
namespace {

class CppCorpus : public ::testing::TestWithParam<Case> {};

TEST_P(CppCorpus, GivesTheExpectedFacts) { EXPECT_THAT(wrong_facts(GetParam()), ::testing::IsEmpty()); }

INSTANTIATE_TEST_SUITE_P(Cases, CppCorpus, ::testing::ValuesIn(load_cases(true)), name_of);

}  // namespace
}  // namespace hone::source::corpus
