// The audit of Liger-Kernel's operations against facts read by hand (tests/source/truth), field by field. The sources
// are those of the pinned package in .deps; a file whose SHA-256 is not the one the facts are about fails the test.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/files.hpp"
#include "source/audit.hpp"

namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

const fs::path kPackage = fs::path(HONE_SOURCE_DIR) / ".deps/liger-kernel/liger_kernel";

// Prose, and what a person judged: read by people, compared by none.
const std::set<std::string> kNotCompared = {
    "notes",   "detail",   "tier_reason",    "schema_version",    "evidence",  "star_kwargs_resolved", "note",
    "configs", "dispatch", "tier_ambiguous", "tier_alternatives", "preflight", "decorator_texts"};

// Objects whose keys are names from the source: nothing may be there that the truth has not.
bool is_closed(const std::string& key) {
  return key == "keyword_args" || key == "bound_params" || key == "launch_options" || key == "param_defaults" ||
         key == "other_annotations";
}

void compare(const std::string& where, const std::string& key, const Json& truth, const Json& found,
             std::vector<std::string>& differences) {
  if (truth.is_object() && found.is_object()) {
    for (const auto& [name, value] : truth.items()) {
      if (kNotCompared.count(name) > 0) continue;
      if (!found.contains(name)) {
        differences.push_back(where + "." + name + ": missing");
      } else {
        compare(where + "." + name, name, value, found[name], differences);
      }
    }
    for (const auto& [name, value] : found.items()) {
      if (is_closed(key) && !truth.contains(name))
        differences.push_back(where + ": has " + name + ", the truth has not");
    }
  } else if (truth.is_array() && found.is_array() && truth.size() == found.size()) {
    Json left = truth, right = found;
    if (key == "block_sources") {  // a set, listed in the order of the reader
      const auto by_param = [](const Json& a, const Json& b) { return a["param"] < b["param"]; };
      std::sort(left.begin(), left.end(), by_param);
      std::sort(right.begin(), right.end(), by_param);
    }
    for (std::size_t i = 0; i < left.size(); ++i)
      compare(where + "[" + std::to_string(i) + "]", key, left[i], right[i], differences);
  } else if (truth != found) {
    differences.push_back(where + ": expected " + truth.dump() + ", found " + found.dump());
  }
}

// A checkout in memory with the package's operations where a checkout has them.
Json audit_package() {
  hone::base::MemoryFiles files;
  for (const auto& entry : fs::recursive_directory_iterator(kPackage)) {
    if (entry.path().extension() != ".py") continue;
    const fs::path relative = fs::relative(entry.path(), kPackage);
    EXPECT_TRUE(
        files.write_atomically("/checkout/src/liger_kernel/" + relative.string(), read_file(entry.path())).ok());
  }
  const auto audit = hone::source::audit_paths(files, {"/checkout"});
  EXPECT_TRUE(audit.ok());
  return audit ? Json::parse(hone::model::to_json(*audit)) : Json();
}

class Truth : public ::testing::TestWithParam<std::string> {};

std::vector<std::string> operations() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(HONE_SOURCE_DIR) / "tests/source/truth")) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() == ".json" && name != "_utils") names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST_P(Truth, every_fact_of_the_operation_matches) {
  ASSERT_TRUE(fs::exists(kPackage)) << "the pinned sources are missing: run tools/fetch_sources.sh";
  static const Json document = audit_package();
  Json truth = Json::parse(read_file(fs::path(HONE_SOURCE_DIR) / "tests/source/truth" / (GetParam() + ".json")));
  const auto found = std::find_if(document["kernels"].begin(), document["kernels"].end(),
                                  [&](const Json& op) { return op["op"] == GetParam(); });
  ASSERT_NE(found, document["kernels"].end());
  if (truth["tier_ambiguous"].get<bool>()) {
    const auto& others = truth["tier_alternatives"];
    if (std::find(others.begin(), others.end(), (*found)["tier"]) != others.end()) truth["tier"] = (*found)["tier"];
  }
  std::vector<std::string> differences;
  compare(GetParam(), "", truth, *found, differences);
  for (const std::string& difference : differences) ADD_FAILURE() << difference;
}

INSTANTIATE_TEST_SUITE_P(Operations, Truth, ::testing::ValuesIn(operations()),
                         [](const auto& parameter) { return parameter.param; });

TEST(TruthOfUtilities, the_shared_kernel_is_read_as_by_hand) {
  ASSERT_TRUE(fs::exists(kPackage)) << "the pinned sources are missing: run tools/fetch_sources.sh";
  const Json truth = Json::parse(read_file(fs::path(HONE_SOURCE_DIR) / "tests/source/truth/_utils.json"));
  hone::base::MemoryFiles files;
  const std::string text = read_file(kPackage / "ops/utils.py");
  ASSERT_TRUE(files.write_atomically("src/liger_kernel/ops/utils.py", text).ok());
  hone::model::Audit audit;
  audit.kernels.push_back(hone::source::audit_text(files, "src/liger_kernel/ops/utils.py", text));
  const Json found = Json::parse(hone::model::to_json(audit))["kernels"][0];
  EXPECT_EQ(found["files"][0]["sha256"], truth["sha256"]);
  std::vector<std::string> differences;
  compare("utils", "", truth["jit_kernels"], found["jit_kernels"], differences);
  for (const std::string& difference : differences) ADD_FAILURE() << difference;
  EXPECT_EQ(found["jit_kernels"][0]["decorator_texts"], truth["jit_kernels"][0]["decorator_texts"]);
}

TEST(TruthOfPackage, every_operation_is_found_and_none_has_a_syntax_problem) {
  ASSERT_TRUE(fs::exists(kPackage)) << "the pinned sources are missing: run tools/fetch_sources.sh";
  const Json document = audit_package();
  EXPECT_GE(document["kernels"].size(), 30u);
  EXPECT_FALSE(document.contains("problems")) << document["problems"].dump();
  for (const Json& op : document["kernels"]) EXPECT_FALSE(op.contains("problems")) << op["op"] << op["problems"].dump();
}

}  // namespace
