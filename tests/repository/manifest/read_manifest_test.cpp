#include "repository/manifest/read_manifest.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "tests/repository/manifest/sample_manifest.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::repository::manifest {
namespace {

base::Error refused(const std::string& text) {
  auto manifest = parse_manifest(text, "dir/hone.toml");
  EXPECT_FALSE(manifest) << text;
  if (manifest) return {};
  const base::Error& error = manifest.error();
  EXPECT_EQ(error.kind, base::ErrorKind::usage);
  EXPECT_FALSE(error.expected.empty() || error.found.empty() || error.remedy.empty()) << base::describe(error);
  EXPECT_EQ(error.where.rfind("dir/hone.toml", 0), 0u) << error.where;
  return error;
}

// `place`: how the text goes on from the place that the error must name.
void expect_refused(const std::string& from, const std::string& to, const std::string& place,
                    const std::string& words) {
  const std::string text = changed(from, to);
  const base::Error error = refused(text);
  const std::size_t at = text.find(place);
  ASSERT_NE(at, std::string::npos) << place;
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  const std::size_t column = at - (text.rfind('\n', at) == std::string::npos ? 0 : text.rfind('\n', at - 1) + 1) + 1;
  EXPECT_EQ(error.where, "dir/hone.toml:" + std::to_string(line) + ":" + std::to_string(column))
      << base::describe(error);
  EXPECT_NE(base::describe(error).find(words), std::string::npos) << base::describe(error);
}

TEST(AManifest, IsReadAsItIsWritten) {
  auto manifest = parse_manifest(sample_text(), "dir/hone.toml");
  ASSERT_TRUE(manifest) << base::describe(manifest.error());
  EXPECT_EQ(manifest->name, "row_scale");
  EXPECT_EQ(manifest->folder, "dir");
  EXPECT_EQ(manifest->full(manifest->source), "dir/row_scale.cpp");
  EXPECT_EQ(manifest->settings, "hone.settings.toml");
  EXPECT_EQ(manifest->language, Language::cpp);
  EXPECT_EQ(manifest->size_names(), (std::vector<std::string>{"columns", "rows", "elements"}));
  ASSERT_EQ(manifest->tensors.size(), 3u);
  EXPECT_EQ(manifest->tensors[0].name, "x");  // in the order of the file, not of the alphabet
  EXPECT_EQ(manifest->tensors[1].name, "factor");
  const PassDecl& pass = manifest->passes.at(0);
  EXPECT_EQ(pass.roles.at("y"), Role::output);
  const std::vector<ArgumentDecl>& arguments = pass.launches.at(0).arguments;
  ASSERT_EQ(arguments.size(), 6u);
  EXPECT_EQ(arguments[3].type, ScalarType::int64);
  EXPECT_EQ(arguments[4].type, ScalarType::int32);
  EXPECT_EQ(arguments[5].type, ScalarType::fp32);
  ASSERT_TRUE(pass.reference);
  EXPECT_EQ(pass.reference->arguments.size(), 6u);  // those of the only launch
  EXPECT_EQ(manifest->knobs_of("forward").at(0)->current.at("forward"), 2);
}

TEST(AManifest, WithAWordThatNobodyKnowsNamesTheNearest) {
  expect_refused("x_name =", "x_nme =", "x_nme =", "x_name");
  expect_refused("help = ", "hlep = ", "hlep", "did you mean help?");
  expect_refused("[tensor.factor]\nrole", "[tensor.factor]\nrol", "rol = ", "role");
  expect_refused("role = \"output\"", "role = \"outptu\"", "\"outptu", "did you mean output?");
  expect_refused("[pass.forward]", "[pass.foward]", "pass.foward", "[pass.forward]");
}

TEST(AManifest, PointsIntoABadExpression) {
  expect_refused("ceil_div(rows, ROWS)", "ceil_div(rows, ROW)", "ROW)", "did you mean rows or ROWS?");
  expect_refused("65536 / columns", "65536 / column", "column)", "did you mean columns?");
  expect_refused("2 * elements", "2 * elements *", "\"\nlaunch", "a number, a name");
  expect_refused("2 * eps", "2 * epsilon", "epsilon", "eps");
  expect_refused("\"int32 columns\"", "\"int32 colums\"", "colums", "did you mean columns?");
}

TEST(AManifest, HasSizesOnlyOfThoseAboveThem) {
  expect_refused("rows = \"max(1, 65536 / columns)\"", "rows = \"elements\"", "elements\"\n", "'elements'");
}

TEST(AManifest, StaysInItsFolder) {
  for (const char* path : {"../row_scale.cpp", "/etc/passwd", "a//b.cpp", "a/../../b.cpp", "./b.cpp"})
    expect_refused("source = \"row_scale.cpp\"", std::string("source = \"") + path + "\"", "source =", "without '..'");
  expect_refused("reference = \"row_scale_reference.cpp\"", "reference = \"../r.cpp\"", "reference =", "without '..'");
  expect_refused("test = ", "settings = \"row_scale.cpp\"\ntest = ", "settings", "a file of its own");
}

TEST(AManifest, HasOneNameForOneThing) {
  expect_refused("[knob.ROWS]", "[knob.rows]", "rows]", "which is a size too");
  expect_refused("[scalar.bias]", "[scalar.eps]", "eps]", "expressions know already");
  expect_refused("name = \"row_scale\"", "name = \"../row\"", "name", "workspace");
}

TEST(AManifest, SaysOfEveryTensorWhoTouchesIt) {
  expect_refused("role = \"output\"", "role = \"input\"", "[pass.forward", "a pass that writes a tensor");
  expect_refused("\"x\", \"factor\", \"y\"", "\"x\", \"y\"", "factor]", "'factor' in none");
  expect_refused("\"x\", \"factor\"", "\"x + 1\", \"factor\"", "x + 1", "a tensor alone");
}

TEST(AManifest, HasAValueInForceAmongTheValuesOfAKnob) {
  expect_refused("value = 2", "value = 3", "3\nhelp", "among 'values'");
  expect_refused("values = [1, 2, 4]", "values = [1, 2, 2]", "2]\nvalue", "again");
  expect_refused("value = 2", "value = { backward = 2 }", "{ backward", "forward");
}

TEST(AManifest, OfCppHasNoBlocksAndOfCudaNeedsThem) {
  expect_refused("entry = \"row_scale\"", "entry = \"row_scale\", block = 32", "block", "'block'");
  expect_refused("language = \"c++\"", "language = \"cuda\"", "{ entry", "block");
}

TEST(AManifest, IsBuiltForTypesThatDoublePrecisionCanJudge) {
  expect_refused("[\"fp32\"]", "[\"fp64\"]", "\"fp64", "double precision");
  expect_refused("[\"fp32\"]", "{ fp32 = { SCALAR = [] } }", "[] }", "an integer, or a text");
  expect_refused("[\"fp32\"]", "{ fp32 = { T = \"float\" } }", "T =", "such as SCALAR");
}

TEST(AManifest, MayHaveAnyCharacterInTextsAndComments) {
  const std::string text = changed(
      "description = \"each row times its own factor\"",
      "description = \"\xd1\x8a \\\" # \" # \xe2\x82\xac '\ntier_reason = \"\"\"a \"\"b\\\\\"\"\"\"\" # \xc3\xa4");
  auto manifest = parse_manifest(text, "hone.toml");
  ASSERT_TRUE(manifest) << base::describe(manifest.error());
  EXPECT_EQ(manifest->description, "\xd1\x8a \" # ");
  EXPECT_EQ(manifest->tier_reason, "a \"\"b\\\"\"");
}

TEST(AManifest, ThatIsNoTomlSaysWhere) {
  EXPECT_EQ(refused("name = \"a\"\nname = \"b\"\n").where.substr(0, 15), "dir/hone.toml:2");
  EXPECT_EQ(refused("name = \n").where.substr(0, 15), "dir/hone.toml:1");
  refused("");
  refused(std::string("\0", 1));
  refused(std::string(5000, 'a'));
  EXPECT_EQ(refused("name = 'a'\n\n[\x01~size\n[tensor.x]\n").where, "dir/hone.toml:3:1");
  EXPECT_EQ(refused("name = 'a'\n\n[=size\n[tensor.x]\n").where, "dir/hone.toml:3:1");
  EXPECT_EQ(refused("name = 'a'\nrows_\xd1\x8a = 1\n").where.substr(0, 15), "dir/hone.toml:2");
  std::string nested = "x = ";
  for (int i = 0; i < 1900; ++i) nested += '[';
  refused(nested);
  std::string dotted = "a";
  for (int i = 0; i < 1900; ++i) dotted += ".a";
  refused(dotted + " = 1");
}

TEST(TheManifestOfAPath, IsTheFileOrTheOneInTheFolder) {
  test::TemporaryFolder folder;
  base::SystemFiles files;
  EXPECT_FALSE(is_manifest(files, folder.path()));
  ASSERT_TRUE(files.write_atomically(folder / "hone.toml", sample_text()));
  EXPECT_TRUE(is_manifest(files, folder.path()));
  EXPECT_TRUE(is_manifest(files, folder / "other.toml"));
  auto manifest = load_manifest(files, folder.path());
  ASSERT_TRUE(manifest) << base::describe(manifest.error());
  EXPECT_EQ(manifest->path, folder / "hone.toml");
  EXPECT_EQ(load_manifest(files, folder / "other.toml").error().where, folder / "other.toml");
}

TEST(TheManifestOfAPath, IsNoPipe) {
  test::TemporaryFolder folder;
  base::SystemFiles files;
  ASSERT_EQ(::mkfifo((folder / "hone.toml").c_str(), 0600), 0);
  auto manifest = load_manifest(files, folder / "hone.toml");
  ASSERT_FALSE(manifest);
  EXPECT_EQ(manifest.error().expected, "a regular file");
}

}  // namespace
}  // namespace hone::repository::manifest
