// A layer is a folder, a namespace and a library: the table of floors.hpp, the sources, CMake and docs/architecture.md agree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "tests/house/include_rules.hpp"

namespace hone::house {
namespace {

using ::testing::UnorderedElementsAreArray;

// A part of repository with a row of its own, because it may include less: neither a namespace nor a library.
constexpr const char* kPart = "src/repository/document";

std::string content_of(const std::string& path) {
  std::ifstream file(std::string(HONE_SOURCE_DIR) + "/" + path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The groups of each match; the whole is group 0.
std::vector<std::vector<std::string>> matches_of(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::vector<std::vector<std::string>> matches;
  for (std::sregex_iterator match(text.begin(), text.end(), expression), end; match != end; ++match)
    matches.emplace_back(match->begin(), match->end());
  return matches;
}

// "src/device/cpu" with "::" gives "device::cpu".
std::string joined_by(const std::string& folder, const std::string& mark) {
  return std::regex_replace(folder.substr(std::string("src/").size()), std::regex("/"), mark);
}

std::vector<std::string> folders_of_layers(bool with_parts) {
  std::vector<std::string> folders;
  for (const Floor& floor : floors())
    if (floor.folder.starts_with("src/") && (with_parts || floor.folder != kPart)) folders.push_back(floor.folder);
  return folders;
}

// Of the layer or a namespace within it.
bool opens_namespace(const std::string& source, const std::string& name) {
  return std::regex_search(source, std::regex("(^|\n)namespace " + name + "(::[a-z_:]+)? \\{"));
}

TEST(Layers, AreNamespaces) {
  std::size_t checked = 0;
  for (const auto& [path, source] : read_files(HONE_SOURCE_DIR, {"src"}, {".cpp", ".hpp"})) {
    const std::string folder = floor_of(path)->folder;
    if (folder == "src") continue;  // main.cpp
    const std::string name = "hone::" + joined_by(folder == kPart ? "src/repository" : folder, "::");
    EXPECT_TRUE(opens_namespace(source, name)) << path << " is not in " << name;
    ++checked;
  }
  EXPECT_GT(checked, 300u);
}

TEST(Layers, AreLibrariesThatLinkWhatTheyMayInclude) {
  const std::string cmake = content_of("src/CMakeLists.txt");
  std::vector<std::string> folders;
  for (const auto& library : matches_of(cmake, R"(hone_floor\((\w+) DIRECTORY (\S+)([^)]*)\))")) {
    const std::string folder = "src/" + library[2], rest = library[3];
    folders.push_back(folder);
    EXPECT_EQ(library[1], joined_by(folder, "_"));
    const Floor* layer = floor_of(folder + "/a.cpp");
    const std::size_t depends = rest.find("DEPENDS"), libraries = rest.find("LIBRARIES");
    if (depends == std::string::npos) continue;
    for (const auto& name : matches_of(rest.substr(depends + 7, libraries - depends - 7), R"(\w+)")) {
      const bool allowed = std::any_of(layer->may_include.begin(), layer->may_include.end(), [&](std::string may) {
        may = std::regex_replace(may, std::regex(R"(/\*?$)"), "");
        return std::regex_replace(may, std::regex("/"), "_") == name[0] || name[0].starts_with(may + "_");
      });
      EXPECT_TRUE(allowed) << library[1] << " links " << name[0];
    }
  }
  EXPECT_THAT(folders, UnorderedElementsAreArray(folders_of_layers(false)));
}

TEST(Layers, AreThoseOfTheArchitecturesTable) {
  const std::string text = content_of("docs/architecture.md");
  const std::size_t begin = text.find("| layer, below `src/`");
  const std::string table = text.substr(begin, text.find("\n\n", begin) - begin);
  std::vector<std::string> folders;
  for (const auto& row : matches_of(table, R"(\n\| ([^|]*)\|)"))
    for (const auto& name : matches_of(row[1], "`([^`]+)/`")) folders.push_back("src/" + name[1]);
  EXPECT_THAT(folders, UnorderedElementsAreArray(folders_of_layers(true)));
}

TEST(Layers, MayIncludeOnlyThoseAboveThemInTheTable) {
  const auto place_of = [](const std::string& pattern) {
    for (std::size_t i = 0; i < floors().size(); ++i)
      if ("src/" + pattern.substr(0, pattern.find_last_of('/')) == floors()[i].folder) return i;
    return std::size_t{0};  // kernels/ and what the build generates include no layer
  };
  for (std::size_t i = 0; i < floors().size(); ++i)
    for (const std::string& pattern : floors()[i].may_include)
      EXPECT_LT(place_of(pattern), std::max<std::size_t>(i, 1)) << floors()[i].folder << " includes " << pattern;
}

TEST(Layers, NamespacesAreFoundAlsoWithin) {
  EXPECT_TRUE(opens_namespace("// a\nnamespace hone::source::rewrite {\n", "hone::source"));
  EXPECT_FALSE(opens_namespace("// a\nnamespace hone::sources {\n", "hone::source"));
  EXPECT_FALSE(opens_namespace("namespace {\n", "hone::source"));
}

// A source with a header of its own is described there.
TEST(Sources, OpenWithTheirPurpose) {
  const Files files = read_files(HONE_SOURCE_DIR, {"src", "kernels"}, {".cpp", ".hpp"});
  for (const auto& [path, text] : files) {
    const bool has_header = path.ends_with(".cpp") && files.count(path.substr(0, path.size() - 4) + ".hpp") > 0;
    EXPECT_TRUE(has_header || text.starts_with("//")) << path;
  }
}

}  // namespace
}  // namespace hone::house
