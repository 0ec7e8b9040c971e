// The published schemas: they describe what hone writes, name every key of it, and are what 'hone schema' prints. Each document
// that any test of this folder gets with --json is held against them as well (program_fixture.hpp).
#include <gmock/gmock.h>

#include "cli/bench_table.hpp"
#include "cli/schemas.hpp"
#include "model/kept_ceilings.hpp"
#include "repository/native/settings_store.hpp"
#include "stages/compare/compare.hpp"
#include "stages/optimize/proposer.hpp"
#include "tests/cli/program_fixture.hpp"
#include "tests/support/golden.hpp"

namespace hone::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

TEST(Schemas, UseNoKeywordThatTheCheckDoesNotKnow) {
  ASSERT_GT(test::schema_names().size(), 15u);
  for (const std::string& name : test::schema_names()) EXPECT_THAT(test::unknown_keywords(name), IsEmpty()) << name;
}

std::string path_of(const std::string& schema) {
  return std::string(HONE_SOURCE_DIR) + "/docs/schemas/" + schema + ".schema.json";
}

// A schema stands alone: what it takes from another is copied into its $defs as "profile.ceilings", or as "profile.document" where
// it is the whole.
class Bundle {
 public:
  explicit Bundle(const std::string& name) : bundle_(read(name)) {
    const Tree all = bundle_.value("$defs", Tree::object());
    Tree own = Tree::object();
    for (const auto& [key, definition] : all.items())
      if (key.find('.') == std::string::npos) own[key] = definition;
    bundle_.erase("$defs");
    if (!own.empty()) bundle_["$defs"] = own;
    const Tree schema = bundle_;
    copy_what_is_named(schema);
  }
  std::string text() const { return bundle_.dump(2) + "\n"; }

 private:
  using Tree = nlohmann::ordered_json;
  static constexpr const char* kDefinitions = "#/$defs/";

  static Tree read(const std::string& name) {
    std::ifstream in(path_of(name));
    return Tree::parse(in);
  }
  static std::string named_in(const Tree& reference) {
    return reference.get<std::string>().substr(std::string(kDefinitions).size());
  }

  void copy_what_is_named(const Tree& schema) {
    for (const auto& [key, value] : schema.items()) {
      if (value.is_structured()) copy_what_is_named(value);
      if (key != "$ref") continue;
      const std::string name = named_in(value);
      const std::size_t dot = name.find('.');
      if (dot == std::string::npos || bundle_.value("$defs", Tree::object()).contains(name)) continue;
      const Tree copy = definition(name.substr(0, dot), name.substr(dot + 1));
      bundle_["$defs"][name] = copy;
      copy_what_is_named(copy);
    }
  }
  static Tree definition(const std::string& of, const std::string& name) {
    const Tree whole = read(of);
    Tree found = name == "document" ? whole : whole.at("$defs").at(name);
    for (const char* key : {"$schema", "$id", "$defs"}) found.erase(key);
    lead_to(found, of);
    return found;
  }
  static void lead_to(Tree& schema, const std::string& of) {
    for (auto& [key, value] : schema.items()) {
      if (value.is_structured()) lead_to(value, of);
      if (key == "$ref" && named_in(value).find('.') == std::string::npos)
        value = kDefinitions + of + "." + named_in(value);
    }
  }

  Tree bundle_;
};

TEST(Schemas, StandAlone) {
  for (const std::string& name : test::schema_names()) test::expect_golden(path_of(name), Bundle(name).text());
}

TEST(Schemas, DescribeEverySavedDocument) {
  EXPECT_THAT(test::schema_faults("profile", model::to_json(test::sample_profile())), IsEmpty());
  EXPECT_THAT(test::schema_faults("profile", model::to_json(test::sample_gpu_profile())), IsEmpty());
  EXPECT_THAT(test::schema_faults("comparison", model::to_json(test::sample_comparison())), IsEmpty());
  EXPECT_THAT(test::schema_faults("variant", model::to_json(test::sample_variant())), IsEmpty());
  for (const model::Report& report :
       {test::sample_report_applied(), test::sample_report_reverted(), test::sample_report_nothing_to_gain()})
    EXPECT_THAT(test::schema_faults("report", model::to_json(report)), IsEmpty());
  stages::ProposalRequest request;
  request.kernel = "rms_norm", request.tried = {{"v1", "v0", "", "accepted", ""}};
  EXPECT_THAT(test::schema_faults("proposal", stages::request_json(request)), IsEmpty());
  stages::CompareOutcome compared;
  compared.cells.push_back({{"4096", "forward"}, {}});
  EXPECT_THAT(test::schema_faults("compare", stages::to_json(compared)), IsEmpty());
  BenchRow timed, absent;
  timed.kernel = "rms_norm", timed.device_ms = timed.wall_ms = {1, 2, 3, 20}, timed.untrusted = "disturbed";
  absent.missing = "no torch";
  model::Ceilings ceilings;
  ceilings.by_name["copy_bytes_per_s"] = {1, 2, 3, 10};
  EXPECT_THAT(test::schema_faults("bench", bench_json({timed, absent}, ceilings)), IsEmpty());
  EXPECT_THAT(test::schema_faults("ceilings", model::to_json({"cpu AMD EPYC", "1", false, 2, ceilings})), IsEmpty());
  base::MemoryFiles files;
  const auto settings = repository::native::SettingsStore(files, "/settings")
                            .text_with("rms_norm", {"AMD EPYC", "fp32", test::sample_variant(), "", "", ""});
  ASSERT_TRUE(settings);
  EXPECT_THAT(test::schema_faults("settings", *settings), IsEmpty());
}

// A key that a writer adds, and a schema does not name, fails here and in every test that reads a document.
TEST(Schemas, NameEveryKey) {
  const Json whole = Json::parse(model::to_json(test::sample_report_applied()));
  Json added = whole;
  added["added"] = 1;
  EXPECT_THAT(test::schema_faults("report", added), ElementsAre("document: 'added' is in no schema"));
  added = whole;
  added["profile"]["device"]["ceilings"]["added"] = "x";
  added["comparison"]["variants"][0]["results"][0]["added"] = nullptr;
  EXPECT_THAT(test::schema_faults("report", added),
              ElementsAre("comparison.variants[0].results[0]: 'added' is in no schema",
                          "profile.device.ceilings: 'added' is in no schema"));
  Json wrong = whole;
  wrong["profile"]["bottleneck"]["class"] = "io-bound";
  wrong["speedups"][0].erase("verdict");
  wrong["winner"] = 3;
  EXPECT_EQ(test::schema_faults("report", wrong).size(), 3u);
  const std::string line =
      R"({"event": "memory", "key": "k", "at": "t", "peak": 1, "saved": 0, "caller": 0, "added": 1})";
  EXPECT_THAT(test::schema_faults("journal", line), Contains("document: 'added' is in no schema"));
}

class SchemaCommand : public ProgramTest {};

TEST_F(SchemaCommand, PrintsWhatIsPublished) {
  std::vector<std::string> names;
  for (const Schema& schema : schemas()) names.emplace_back(schema.name);
  EXPECT_EQ(names, test::schema_names());
  for (const std::string& name : {std::string("profile"), std::string("hone.profile/1")}) {
    const base::Outcome printed = run({"schema", name});
    EXPECT_EQ(printed.exit_status, 0);
    EXPECT_EQ(Json::parse(printed.output, nullptr, false)["$id"], "urn:hone:schema:profile:1");
  }
  EXPECT_THAT(run({"schema"}).output, HasSubstr("verify"));
  EXPECT_EQ(run({"schema", "--json"}).exit_status, 0);
  expect_refused(run({"schema", "profil"}), 2, "'profil'");
}

TEST_F(SchemaCommand, DescribesWhatSmallCommandsPrint) {
  ASSERT_TRUE(files_.write_atomically(folder_ / "k.cu",
                                      "__global__ void k(float* x) { x[threadIdx.x * 2] += 1.0; }\n"
                                      "void f(float* x) { k<<<1, 32>>>(x); }\n"));
  ASSERT_TRUE(files_.write_atomically(folder_ / "k.cpp",
                                      "void k(float* x, int n) { for (int i = 0; i < n; ++i) x[i] += 1; }\n"));
  ASSERT_TRUE(files_.write_atomically(folder_ / "k.py", "import triton\n\n@triton.jit\ndef k(x):\n    pass\n"));
  EXPECT_EQ(run({"audit", folder_.path(), "--json"}).exit_status, 0);
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"version", "--json"}, {"list", "--json"}, {"explain", "--json"}, {"explain", "memory", "--json"}})
    EXPECT_EQ(run(words).exit_status, 0) << words.front();
  EXPECT_EQ(run({"explain", "nosuch", "--json"}).exit_status, 2);
}

}  // namespace
}  // namespace hone::cli
