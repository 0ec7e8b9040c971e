#include "model/json_value.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hone::model {
namespace {

base::Result<Json> parsed(const std::string& text) { return parse_json(text, "profile.json", "do it again"); }

std::string refused(const std::string& text) {
  const auto result = parsed(text);
  EXPECT_FALSE(result.ok()) << text.substr(0, 80);
  if (result.ok()) return {};
  EXPECT_EQ(result.error().where, "profile.json");
  EXPECT_EQ(result.error().remedy, "do it again");
  EXPECT_EQ(result.error().kind, base::ErrorKind::preflight);
  return result.error().found;
}

TEST(Json, KeepsTheOrderOfMembersAndALineForEachRow) {
  Json rows = Json::array();
  for (int i = 0; i < 2; ++i)
    rows.push(Json::object({{"x_value", 1024 << i}, {"mode", "forward"}, {"p50", 0.25 * (i + 1)}, {"note", Json()}}));
  rows.push(Json::object({{"long", std::string(120, 'x')}}));
  const Json document = Json::object({{"schema", "a/1"}, {"rows", rows}, {"empty", Json::object()}, {"ok", true}});
  EXPECT_EQ(document.dump(), R"({
  "schema": "a/1",
  "rows": [
    {"x_value": 1024, "mode": "forward", "p50": 0.25, "note": null},
    {"x_value": 2048, "mode": "forward", "p50": 0.5, "note": null},
    {
      "long": ")" + std::string(120, 'x') +
                                 R"("
    }
  ],
  "empty": {},
  "ok": true
}
)");
  EXPECT_EQ(document.find("rows")->items()->front().dump_line(),
            R"({"x_value": 1024, "mode": "forward", "p50": 0.25, "note": null})");
}

TEST(Json, NumbersReadBackExactly) {
  for (const double value :
       {0.1, 1.0 / 3, 1e300, 5e-324, -2.5, 4.27e12, 123456789.123456789, 9007199254740993.0, 1e22}) {
    const auto back = parsed(Json::array({value}).dump());
    ASSERT_TRUE(back.ok()) << value;
    EXPECT_EQ(back->items()->front().number(), value);
  }
  const std::uint64_t seed = std::numeric_limits<std::uint64_t>::max();
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const auto back = parsed(Json::array({seed, least}).dump());
  ASSERT_TRUE(back.ok());
  EXPECT_EQ((*back->items())[0].unsigned_integer(), seed);
  EXPECT_EQ((*back->items())[0].integer(), std::nullopt);
  EXPECT_EQ((*back->items())[1].integer(), least);
}

TEST(Json, WhatIsNoFiniteNumberIsWrittenAsNull) {
  EXPECT_EQ(Json(std::nan("")).dump_line(), "null");
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).dump_line(), "null");
  EXPECT_EQ(Json(std::optional<double>()).dump_line(), "null");
}

TEST(Json, TextIsEscapedAndBrokenUtf8Replaced) {
  EXPECT_EQ(Json("a\"b\\c\n\x01é").dump_line(), "\"a\\\"b\\\\c\\n\\u0001é\"");
  EXPECT_TRUE(parsed(Json("bro\xffken").dump()).ok());
}

TEST(Json, IsMadeOfContainers) {
  const std::vector<std::vector<int>> rows = {{1, 2}, {}};
  const std::map<std::string, std::optional<std::string>> names = {{"a", "x"}, {"b", std::nullopt}};
  EXPECT_EQ(Json(rows).dump_line(), "[[1, 2], []]");
  EXPECT_EQ(Json(names).dump_line(), R"({"a": "x", "b": null})");
  EXPECT_EQ(Json(std::vector<bool>{true}).dump_line(), "[true]");
  EXPECT_TRUE(Json(nullptr).is_null());
  EXPECT_EQ(Json(std::size_t{7}).unsigned_integer(), 7u);
  Json object = Json::object({{"a", 1}});
  object.set("a", 2), object.set("b", 3);
  EXPECT_EQ(object.dump_line(), R"({"a": 2, "b": 3})");
}

TEST(Json, IsWrittenPlainWithFloatsAsFloats) {
  const Json document = Json::object({{"b", Json::array({4.0, 0.5, 4, std::nan("")})}, {"a", "bro\xffken"}});
  EXPECT_EQ(document.dump_plain(), "{\"a\":\"bro\xEF\xBF\xBDken\",\"b\":[4.0,0.5,4,null]}");
  EXPECT_EQ(document.dump_plain(2, Json::Keys::as_written),
            "{\n  \"b\": [\n    4.0,\n    0.5,\n    4,\n    null\n  ],\n  \"a\": \"bro\xEF\xBF\xBDken\"\n}");
}

TEST(Json, WholeNumbersWrittenAsFractionsAreWhole) {
  EXPECT_EQ(parsed("[3.0]")->items()->front().integer(), 3);
  EXPECT_EQ(parsed("[3.5]")->items()->front().integer(), std::nullopt);
  EXPECT_EQ(parsed("[1e18]")->items()->front().integer(), std::nullopt);
}

TEST(ParseJson, NamesTheByteWhereTheTextStopsBeingJson) {
  EXPECT_EQ(refused("{\"a\": 1, "), "no valid JSON at byte 10");
  EXPECT_EQ(refused("{\"a\": 1} x"), "no valid JSON at byte 10");
  EXPECT_EQ(refused("\xff"), "no valid JSON at byte 1");
  EXPECT_EQ(refused("NaN"), "no valid JSON at byte 1");
  EXPECT_EQ(refused(""), "an empty file");
  EXPECT_EQ(refused(" \n"), "an empty file");
}

TEST(ParseJson, RefusesRepeatedNamesAndNumbersThatDoNotFit) {
  EXPECT_EQ(refused(R"({"a": 1, "b": {}, "a": 2})"), "the member \"a\" twice in one object");
  EXPECT_NE(refused("[1e999]").find("too large"), std::string::npos);
  EXPECT_NE(refused("[-1e999]").find("too large"), std::string::npos);
  EXPECT_TRUE(parsed("[123456789012345678901234567890]").ok());
}

TEST(ParseJson, BoundsDepthSizeAndCountWhileItReads) {
  const std::string deep(100'000'000, '[');
  EXPECT_NE(parse_json(deep, "f", "r").error().found.find("100000000 bytes"), std::string::npos);
  EXPECT_EQ(refused(std::string(1'000'000, '[')), "values nested deeper than 64");
  std::string objects;
  for (int i = 0; i < 100; ++i) objects += "{\"a\":";
  EXPECT_EQ(refused(objects), "values nested deeper than 64");
  std::string many = "[0";
  for (int i = 0; i < 4'000'000; ++i) many += ",0";
  EXPECT_EQ(refused(many + "]"), "more than 4000000 values");
  EXPECT_TRUE(parsed(std::string(64, '[') + std::string(64, ']')).ok());
}

}  // namespace
}  // namespace hone::model
