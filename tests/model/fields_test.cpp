// What a description of fields promises, for every document: what is written is read back, and a wrong field is refused with its
// place.
#include "model/fields.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "model/kept_ceilings.hpp"
#include "model/variant_fields.hpp"
#include "tests/support/sample_documents.hpp"

namespace hone::model {
namespace {

struct Kinds {
  std::string text, size;
  double number = 0;
  std::optional<double> maybe;
  int count = 0;
  std::int64_t whole = 0;
  std::uint64_t seed = 0;
  bool flag = false;
  Verdict verdict = Verdict::same;
  std::vector<double> list;
  std::map<std::string, std::int64_t> map;
  std::vector<Stall> objects;
  std::string left_out, null;
};

void fields(auto& archive, of<Kinds> auto& kinds) {
  archive.required("text", kinds.text);
  archive.optional("size", kinds.size, As::x_value);
  archive.optional("number", kinds.number, As::not_negative);
  archive.optional("maybe", kinds.maybe);
  archive.optional("count", kinds.count);
  archive.optional("whole", kinds.whole);
  archive.optional("seed", kinds.seed);
  archive.optional("flag", kinds.flag);
  archive.optional("verdict", kinds.verdict);
  archive.optional("list", kinds.list);
  archive.optional("map", kinds.map);
  archive.optional_object("inner", [&](auto& inner) { inner.required("objects", kinds.objects); });
  archive.optional("left_out", kinds.left_out, As::left_out_if_empty);
  archive.optional("null", kinds.null, As::null_if_empty);
}

TEST(Fields, AreWrittenInTheirOrder) {
  Kinds kinds;
  kinds.size = "4096", kinds.list = {1, 2.5}, kinds.map = {{"BLOCK", 4}}, kinds.objects = {{"barrier", 20}};
  EXPECT_EQ(
      json_of(kinds).dump_line(),
      R"({"text": "", "size": 4096, "number": 0, "maybe": null, "count": 0, "whole": 0, "seed": 0, "flag": false, )"
      R"("verdict": "same", "list": [1, 2.5], "map": {"BLOCK": 4}, "inner": {"objects": [{"reason": "barrier", )"
      R"("pct": 20}]}, "null": null})");
}

TEST(Fields, OfAWrongKindAreRefusedWithPlaceAndValue) {
  const auto refusal = [](const std::string& members) {
    const auto read = parse_document<Kinds>("{\"schema\": \"k/1\", " + members + "}", "k/1", "file", "remedy");
    return read ? "read" : read.error().where + ": " + read.error().expected + "; " + read.error().found;
  };
  EXPECT_EQ(refusal(R"("text": "")"), "read");
  EXPECT_EQ(refusal(R"("text": "", "count": null, "list": null, "inner": null, "added": [{}])"), "read");
  EXPECT_EQ(refusal(R"("size": 1)"), "file, field text: the field 'text'; no such field");
  EXPECT_EQ(refusal(R"("text": null)"), "file, field text: a value; null");
  EXPECT_EQ(refusal(R"("text": 1)"), "file, field text: a text; the number 1");
  EXPECT_EQ(refusal(R"("text": "", "size": [])"), "file, field size: a number or a text; an array");
  EXPECT_EQ(refusal(R"("text": "", "number": "1")"), "file, field number: a number; a text \"1\"");
  EXPECT_EQ(refusal(R"("text": "", "number": -1)"), "file, field number: a number that is not negative; -1");
  EXPECT_EQ(refusal(R"("text": "", "maybe": false)"), "file, field maybe: a number; a boolean false");
  EXPECT_EQ(refusal(R"("text": "", "count": -1)"), "file, field count: a count from 0 to 2147483647; -1");
  EXPECT_EQ(refusal(R"("text": "", "count": 2147483648)"),
            "file, field count: a count from 0 to 2147483647; 2147483648");
  EXPECT_EQ(refusal(R"("text": "", "flag": 1)"), "file, field flag: true or false; the number 1");
  EXPECT_EQ(refusal(R"("text": "", "verdict": "good")"),
            "file, field verdict: one of faster, slower, same, unresolved; a text \"good\"");
  EXPECT_EQ(refusal(R"("text": "", "verdict": 1)"), "file, field verdict: a text; the number 1");
  EXPECT_EQ(refusal(R"("text": "", "list": {})"), "file, field list: an array; an object");
  EXPECT_EQ(refusal(R"("text": "", "list": [1, null])"), "file, field list[1]: a number; null");
  EXPECT_EQ(refusal(R"("text": "", "map": [])"), "file, field map: an object; an array");
  EXPECT_EQ(refusal(R"("text": "", "inner": 3)"), "file, field inner: an object; the number 3");
  EXPECT_EQ(refusal(R"("text": "", "inner": {"objects": [{"reason": "", "pct": 1}, 7]})"),
            "file, field inner.objects[1]: an object; the number 7");
  EXPECT_EQ(refusal(R"("text": "", "inner": {"objects": [{"reason": "", "pct": -1}]})"),
            "file, field inner.objects[0].pct: a number that is not negative; -1");
  for (const char* member : {"\"whole\": 0.5", "\"seed\": -1", "\"map\": {\"\": 1.5}"})
    EXPECT_NE(refusal("\"text\": \"\", " + std::string(member)), "read") << member;
  EXPECT_EQ(refusal(R"("text": 1, "size": {})"), "file, field text: a text; the number 1") << "the first fault is kept";
}

// The document with each value in turn, the first item of an array, replaced by one of another kind.
void with_each_wrong(const Json& value, const std::string& place, const std::function<Json(Json)>& whole,
                     const std::function<void(const std::string&, const Json&)>& visit) {
  visit(place, whole(value.members() != nullptr ? Json(true) : Json::object()));
  if (value.items() != nullptr && !value.items()->empty()) {
    with_each_wrong(
        value.items()->front(), place + "[0]",
        [&](Json item) {
          Json::Array items = *value.items();
          items.front() = std::move(item);
          return whole(Json::array(std::move(items)));
        },
        visit);
  } else if (value.members() != nullptr) {
    for (const auto& [name, member] : *value.members())
      with_each_wrong(
          member, place + (place.empty() ? "" : ".") + name,
          [&, name = name](Json wrong) {
            Json object = Json::object();
            for (const auto& [other, kept] : *value.members()) object.add(other, other == name ? wrong : kept);
            return whole(std::move(object));
          },
          visit);
  }
}

// `derived`: members that follow from others and are not read.
template <class Document>
void expect_refusals(base::Result<Document> (*parse)(const std::string&, const std::string&), const Document& document,
                     const std::vector<std::string>& derived) {
  const auto tree = parse_json(to_json(document), "", "");
  ASSERT_TRUE(tree.ok());
  int refused = 0;
  with_each_wrong(
      *tree, "", [](Json json) { return json; },
      [&](const std::string& place, const Json& wrong) {
        if (std::count(derived.begin(), derived.end(), place) != 0) return;
        const auto read = parse(wrong.dump(), "file");
        ASSERT_FALSE(read.ok()) << place;
        const std::string field = "file, field " + (place.empty() ? "(the document)" : place);
        EXPECT_EQ(read.error().where.substr(0, field.size()), field);
        ++refused;
      });
  EXPECT_GT(refused, 10);
}

TEST(Fields, OfEveryDocumentAreRefusedWhereTheyAreOfAnotherKind) {
  const std::vector<std::string> derived = {"device.reported_last_level_cache_bytes"};
  expect_refusals(&parse_profile, test::sample_profile(), derived);
  expect_refusals(&parse_profile, test::sample_gpu_profile(), derived);
  expect_refusals(&parse_comparison, test::sample_comparison(), {});
  expect_refusals(&parse_variant, test::sample_variant(), {});
}

// Fills a value at random, field by field, so that a new field is in the tests below at once.
class Filler : public FieldWriter {
 public:
  void required(const char*, auto& value, As as = As::plain) { fill(value, as); }
  void optional(const char*, auto& value, As as = As::plain) { fill(value, as); }
  void required_object(const char*, auto describe) { describe(*this); }
  void optional_object(const char*, auto describe) { describe(*this); }

  void fill(std::string& value, As) {
    value = *rc::gen::element<std::string>("", "forward", "4096", "0.5", "007", "a\"b\\c\n\x01", "é", "null");
  }
  void fill(double& value, As as) {
    value = *rc::gen::arbitrary<double>();
    if (as == As::not_negative) value = std::fabs(value);
  }
  void fill(int& value, As) { value = *rc::gen::inRange(0, 1 << 30); }
  void fill(std::int64_t& value, As) { value = *rc::gen::positive<std::int64_t>(); }
  void fill(std::uint64_t& value, As) { value = *rc::gen::arbitrary<std::uint64_t>(); }
  void fill(bool& value, As) { value = *rc::gen::arbitrary<bool>(); }
  template <class T>
  void fill(std::optional<T>& value, As as) {
    if (*rc::gen::arbitrary<bool>()) fill(value.emplace(), as);
  }
  template <class T>
  void fill(std::vector<T>& values, As as) {
    values.resize(*rc::gen::inRange<std::size_t>(1, 4));
    for (T& value : values) fill(value, as);
  }
  template <class T>
  void fill(std::map<std::string, T>& values, As as) {
    for (const char* name : {"copy_bytes_per_s", "launch_latency_ns", "l2_bytes_per_s"})
      if (*rc::gen::arbitrary<bool>()) fill(values[name], as);
  }
  template <class T>
  void fill(T& value, As) {
    if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(*rc::gen::inRange<std::size_t>(0, kWords<T>.size()));
    } else {
      fields(*this, value);
      mend(value);
    }
  }

 private:
  // What the checks between fields ask for.
  static void mend(auto&) {}
  static void sort(auto& q) {
    if (q.p20 > q.p50) std::swap(q.p20, q.p50);
    if (q.p50 > q.p80) std::swap(q.p50, q.p80);
    if (q.p20 > q.p50) std::swap(q.p20, q.p50);
  }
  static void mend(Quantiles& q) { sort(q); }
  static void mend(BaselineRow& row) { sort(row); }
  static void mend(Ceiling& ceiling) { ceiling.p20 += 1, ceiling.p50 += 1, ceiling.p80 += 1, sort(ceiling); }
  static void interval(auto& row) {
    row.ratio = std::fabs(row.ratio);
    if (row.ci_low > row.ci_high) std::swap(row.ci_low, row.ci_high);
  }
  static void mend(Comparison& comparison) { interval(comparison); }
  static void mend(ResultRow& row) { interval(row); }
  static void mend(GuardrailCheck& check) { check.status = "unresolved"; }
  static void mend(Counters& counters) { counters.status = "available"; }
  static void mend(Identity& identity) { identity.tier = 1 + identity.tier % 3; }
  static void mend(Variant& variant) { variant.id = "v1"; }
  static void mend(Headroom& row) {
    row.floor_ms = 1 + std::fmod(row.floor_ms, 9);
    row.ratio = row.measured_ms / row.floor_ms;
  }
  static void mend(SettingsFunction& function) {
    std::int64_t from_x = 0;
    for (SettingsRule& rule : function.rules) rule.from_x = 512 * from_x++;
  }
  static void mend(ComparisonDocument& comparison) {
    for (std::size_t i = 0; i < comparison.variants.size(); ++i)
      comparison.variants[i].id = "v" + std::to_string(i + 1);
    comparison.winner = comparison.variants.back().id;
  }
  static void mend(Profile& profile) {
    profile.identity.kernel = profile.request.kernel = profile.kernel;
    const BaselineRow& known = profile.baseline.rows.back();
    for (NoiseFloor& floor : profile.baseline.noise_floor) floor.x_value = known.x_value, floor.mode = known.mode;
    for (Headroom& row : profile.headroom) row.x_value = known.x_value, row.mode = known.mode;
  }
};

template <class Document>
void expect_round_trip(base::Result<Document> (*parse)(const std::string&, const std::string&)) {
  Document document;
  Filler().fill(document, As::plain);
  const std::string json = to_json(document);
  const auto back = parse(json, "file");
  if (!back) RC_FAIL(base::describe(back.error()));
  RC_ASSERT(*back == document);
  RC_ASSERT(to_json(*back) == json);
}

RC_GTEST_PROP(Fields, OfAnyProfileReadBackAsWritten, ()) { expect_round_trip(&parse_profile); }
RC_GTEST_PROP(Fields, OfAnyComparisonReadBackAsWritten, ()) { expect_round_trip(&parse_comparison); }
RC_GTEST_PROP(Fields, OfAnyVariantReadBackAsWritten, ()) { expect_round_trip(&parse_variant); }

RC_GTEST_PROP(Fields, OfAnyCeilingsReadBackAsWritten, ()) {
  KeptCeilings kept;
  Filler().fill(kept.ceilings, As::plain);
  kept.ceilings.effective_last_level_cache_bytes = 0;
  for (auto& [name, ceiling] : kept.ceilings.by_name) ceiling = {2, 3, 4, ceiling.samples, ceiling.program};
  const auto back = parse_kept_ceilings(to_json(kept), "file");
  RC_ASSERT(back.ok());
  RC_ASSERT(*back == kept);
}

TEST(KeptCeilings, ThatNoDeviceHasAreRefused) {
  const auto refused = [](const std::string& name, double p20, double p80, std::int64_t cache = 0) {
    KeptCeilings kept;
    kept.ceilings.by_name = {{"copy_bytes_per_s", {1e10, 1.1e10, 1.2e10, 12, ""}},
                             {"copy_streaming_bytes_per_s", {5e10, 5.5e10, 5.6e10, 12, ""}},
                             {"read_bytes_per_s", {4e10, 4e10, 4e10, 12, ""}},
                             {"fma_flops_per_s", {1e13, 1e13, 1e13, 12, ""}},
                             {"launch_latency_ns", {500, 700, 5e5, 12, ""}}};
    if (!name.empty()) kept.ceilings.by_name[name] = {p20, (p20 + p80) / 2, p80, 12, ""};
    kept.ceilings.effective_last_level_cache_bytes = cache;
    const auto read = parse_kept_ceilings(to_json(kept), "file");
    return read ? "" : read.error().where + ": " + read.error().found;
  };
  EXPECT_EQ(refused("", 0, 0), "");
  EXPECT_EQ(refused("", 0, 0, std::int64_t{32} << 20), "");
  for (const char* rate : {"read_bytes_per_s", "write_bytes_per_s", "write_streaming_bytes_per_s", "l2_bytes_per_s",
                           "fma_flops_per_s", "matrix_bf16_flops_per_s"}) {
    EXPECT_EQ(refused(rate, 0, 4e10), std::string("file, field content.ceilings: ") + rate + " with 0");
    EXPECT_NE(refused(rate, -4e10, 4e10), "");
    EXPECT_EQ(refused(rate, 1e9, 4e10), std::string("file, field content.ceilings: ") + rate + " with 1e+09");
    EXPECT_EQ(refused(rate, 4e10, 3e14), std::string("file, field content.ceilings: ") + rate + " with 3e+14");
    EXPECT_NE(refused(rate, std::nan(""), std::nan("")), "");
    EXPECT_EQ(refused(rate, 4e9, 1e12), "");
  }
  EXPECT_NE(refused("read_bytes_per_s", 4e10, 21 * 5.5e10), "");
  EXPECT_NE(refused("memory_latency_ns", 100, 2e9), "");
  EXPECT_EQ(refused("memory_latency_ns", 100, 300), "");
  for (const std::int64_t cache : {std::int64_t{-1}, std::int64_t{1}, std::int64_t{1} << 40})
    EXPECT_NE(refused("", 0, 0, cache), "") << cache;
}

}  // namespace
}  // namespace hone::model
