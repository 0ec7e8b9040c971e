// Tests stand where their sources do: who looks for one finds it by its path.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/house/mirror_rules.hpp"
#include "tests/house/source_tree.hpp"

namespace hone::house {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> paths_below(const std::vector<std::string>& folders, const std::vector<std::string>& endings) {
  std::vector<std::string> paths;
  for (const auto& [path, content] : read_files(HONE_SOURCE_DIR, folders, endings)) paths.push_back(path);
  return paths;
}

TEST(Mirror, EachTestIsNamedForItsSourceAndEachFolderHasATest) {
  std::vector<std::string> tests = paths_below({"tests"}, {"_test.cpp"});
  std::erase_if(tests, [](const std::string& test) { return test.starts_with("tests/house/"); });
  const std::vector<std::string> sources = paths_below({"src", "kernels"}, {".cpp", ".hpp"});
  EXPECT_GT(tests.size(), 100u);
  EXPECT_GT(sources.size(), 300u);
  for (const std::string& fault : check_mirror(tests, sources)) ADD_FAILURE() << fault;
}

TEST(Mirror, ATestMayBeForASourceAFolderOrAnAspectOfOne) {
  const std::vector<std::string> sources = {"src/a/one.cpp", "src/a/two/three.cpp", "kernels/op/op.hpp"};
  EXPECT_THAT(
      check_mirror({"tests/a/one_test.cpp", "tests/a/two/three_test.cpp", "tests/kernels/op_test.cpp"}, sources),
      IsEmpty());
  EXPECT_THAT(check_mirror({"tests/a/one_kill_test.cpp", "tests/a/two_corpus_test.cpp"}, sources), IsEmpty());
  EXPECT_THAT(check_mirror({"tests/a/one_test.cpp", "tests/a/two_test.cpp", "tests/a/three_test.cpp"}, sources),
              ElementsAre("tests/a/three_test.cpp is named for no source and no folder"));
  EXPECT_THAT(check_mirror({"tests/a/one_test.cpp", "tests/a/two_test.cpp", "tests/a_kill_test.cpp"}, {sources[0]}),
              ElementsAre("tests/a/two_test.cpp is named for no source and no folder"));
}

TEST(Mirror, AFolderOfSourcesWithoutATestIsAFault) {
  const std::vector<std::string> sources = {"src/a/one.cpp", "src/a/two/three.cpp", "src/b/only.hpp",
                                            "src/a/two/deep/four.cpp"};
  EXPECT_THAT(check_mirror({"tests/a/one_test.cpp"}, sources),
              ElementsAre("src/a/two has no test", "src/a/two/deep has no test"));
  EXPECT_THAT(check_mirror({"tests/a/one_test.cpp", "tests/a/two/three_test.cpp"}, sources),
              ElementsAre("src/a/two/deep has no test"));
  EXPECT_THAT(check_mirror({"tests/a/one_test.cpp", "tests/a/two_test.cpp"}, sources), IsEmpty());
}

}  // namespace
}  // namespace hone::house
