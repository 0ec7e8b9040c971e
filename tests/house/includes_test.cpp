// Arrows between floors point down, and every header stands where its floor allows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/house/include_rules.hpp"

namespace hone::house {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(Includes, OfTheWholeTreeFollowTheFloorTable) {
  const Files files = read_files(HONE_SOURCE_DIR, {"src", "kernels"}, {".cpp", ".hpp", ".h", ".cu", ".cuh", ".inl"});
  const IncludeReport report = check_includes(files);
  EXPECT_GT(report.files, 20u) << "nothing was scanned below " << HONE_SOURCE_DIR;
  EXPECT_GT(report.includes, 50u) << "nothing was scanned below " << HONE_SOURCE_DIR;
  for (const std::string& fault : report.faults) ADD_FAILURE() << fault;
}

TEST(Includes, EveryFolderOfSrcIsAFloor) {
  std::size_t folders = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(HONE_SOURCE_DIR) + "/src")) {
    if (!entry.is_directory()) continue;
    ++folders;
    const std::string name = "src/" + entry.path().filename().string();
    EXPECT_TRUE(std::any_of(floors().begin(), floors().end(), [&](const Floor& floor) { return floor.folder == name; }))
        << name << " has no row in tests/house/floors.hpp";
  }
  EXPECT_GT(folders, 0u);
}

// Else a test of a step would have to make up a whole repository.
TEST(Includes, StagesTakeTheInterfacesOfAKernelAndNoSession) {
  const Files files = read_files(HONE_SOURCE_DIR, {"src/stages"}, {".cpp", ".hpp"});
  EXPECT_GT(files.size(), 40u);
  for (const auto& [path, content] : files) EXPECT_THAT(content, Not(HasSubstr("repository/repository.hpp"))) << path;
}

TEST(Includes, AnArrowThatPointsUpIsAFaultWithItsPlace) {
  const auto report = check_includes({{"src/model/a.cpp", "#include <string>\n\n  #  include \"cli/flags.hpp\"\n"}});
  ASSERT_EQ(report.faults.size(), 1u);
  EXPECT_THAT(report.faults[0], HasSubstr("src/model/a.cpp:3: includes cli/flags.hpp"));
  EXPECT_EQ(report.includes, 2u);
}

TEST(Includes, TheTableHoldsForEachFloor) {
  const auto faults_of = [](const std::string& path, const std::string& target) {
    return check_includes({{path, "#include \"" + target + "\"\n"}}).faults.size();
  };
  EXPECT_EQ(faults_of("src/base/a.cpp", "base/b.hpp"), 0u);
  EXPECT_EQ(faults_of("src/base/a.cpp", "model/b.hpp"), 1u);
  EXPECT_EQ(faults_of("src/measure/a.cpp", "device/device.hpp"), 0u);
  EXPECT_EQ(faults_of("src/measure/a.cpp", "device/cpu/compile.hpp"), 1u);
  EXPECT_EQ(faults_of("src/device/device.cpp", "device/cpu/compile.hpp"), 1u);
  EXPECT_EQ(faults_of("src/device/cpu/a.cpp", "device/cpu/compile.hpp"), 0u);
  EXPECT_EQ(faults_of("src/device/cpu/a.cpp", "device/cuda/driver.hpp"), 1u);
  EXPECT_EQ(faults_of("src/stages/a.cpp", "repository/repository.hpp"), 0u);
  EXPECT_EQ(faults_of("src/stages/a.cpp", "repository/native/native.hpp"), 1u);
  EXPECT_EQ(faults_of("src/stages/a.cpp", "render/documents/markdown.hpp"), 1u);
  EXPECT_EQ(faults_of("src/repository/native/a.cpp", "kernels/catalog/operation.hpp"), 0u);
  EXPECT_EQ(faults_of("src/repository/liger/a.cpp", "kernels/catalog/operation.hpp"), 1u);
  EXPECT_EQ(faults_of("src/device/a.hpp", "kernels/catalog/plan.hpp"), 0u);
  EXPECT_EQ(faults_of("src/device/a.hpp", "kernels/catalog/operation.hpp"), 1u);
  EXPECT_EQ(faults_of("src/repository/liger/a.cpp", "repository/native/native.hpp"), 1u);
  EXPECT_EQ(faults_of("src/cli/a.cpp", "repository/native/native.hpp"), 0u);
  EXPECT_EQ(faults_of("kernels/rms_norm/a.hpp", "base/result.hpp"), 1u);
  EXPECT_EQ(faults_of("kernels/rms_norm/a.hpp", "kernels/tile/tile.hpp"), 0u);
  EXPECT_EQ(faults_of("src/nowhere/a.cpp", "base/result.hpp"), 1u);
  EXPECT_EQ(faults_of("src/model/a.cpp", "../base/result.hpp"), 1u);
}

TEST(Includes, CostlyLibrariesStayWhereTheyBelong) {
  const auto faults_of = [](const std::string& path, const std::string& target) {
    return check_includes({{path, "#include <" + target + ">\n"}}).faults.size();
  };
  EXPECT_EQ(faults_of("src/model/json_value.cpp", "nlohmann/json.hpp"), 0u);
  EXPECT_EQ(faults_of("src/model/json_value.hpp", "nlohmann/json.hpp"), 1u);
  EXPECT_EQ(faults_of("src/model/a.cpp", "nlohmann/json.hpp"), 1u);
  EXPECT_EQ(faults_of("src/cli/a.hpp", "nlohmann/json_fwd.hpp"), 1u);
  EXPECT_EQ(faults_of("src/stages/a.cpp", "CLI/CLI.hpp"), 1u);
  EXPECT_EQ(faults_of("src/stages/a.cpp", "iostream"), 1u);
  EXPECT_EQ(faults_of("src/cli/a.cpp", "iostream"), 0u);
}

TEST(Includes, OnlyIncludeLinesAreRead) {
  EXPECT_THAT(check_includes({{"src/base/a.cpp", "// #include \"cli/x.hpp\"\nconst char* s = \"#include\";\n"}}).faults,
              IsEmpty());
  EXPECT_EQ(parse_include("#include \"a/b.hpp\"  // why")->target, "a/b.hpp");
  EXPECT_FALSE(parse_include("#define X").has_value());
  EXPECT_FALSE(parse_include("#include MACRO").has_value());
}

}  // namespace
}  // namespace hone::house
