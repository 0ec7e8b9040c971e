// Byte-exact edits: what lies outside the spans stays, overlaps are refused, the result is parsed and audited.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/files.hpp"
#include "source/edit.hpp"

namespace {

using hone::source::apply;
using hone::source::Replacement;

const char kKernel[] =
    "\xEF\xBB\xBFimport triton\r\nimport triton.language as tl\r\n\r\n\r\n@triton.jit\r\ndef k(x, n, B: "
    "tl.constexpr):\r\n\tc = tl.arange(0, B)  # "
    "caf\xC3\xA9\r\n\ttl.store(x + c, 0.0, mask=c < n)\r\n\r\n\r\ndef run(x, n):\r\n\tk[(1,)](x, n, B=64, num_warps=4)";

TEST(Edit, changes_only_the_span_and_keeps_line_endings_tabs_encoding_and_a_missing_last_line_break) {
  const std::string original = kKernel;
  const auto span = hone::source::replace_unique(original, "num_warps=4", "num_warps=8", "k.py");
  ASSERT_TRUE(span.ok());
  const auto edited = apply(original, {*span}, "k.py");
  ASSERT_TRUE(edited.ok());
  std::string expected = original;
  expected.replace(expected.find("num_warps=4"), 11, "num_warps=8");
  EXPECT_EQ(*edited, expected);
}

TEST(Edit, audits_the_new_text) {
  hone::base::MemoryFiles files;
  const std::string original = kKernel;
  const auto span = hone::source::replace_unique(original, "B=64", "B=128", "k.py");
  ASSERT_TRUE(span.ok());
  const auto edited = hone::source::edit_and_audit(files, "k.py", original, {*span});
  ASSERT_TRUE(edited.ok());
  ASSERT_EQ(edited->facts.launches.size(), 1u);
  ASSERT_EQ(edited->facts.launches[0].block_sources.size(), 1u);
  EXPECT_EQ(edited->facts.launches[0].block_sources[0].text, "128");
}

TEST(Edit, refuses_one_that_breaks_the_syntax_and_names_the_line) {
  hone::base::MemoryFiles files;
  const std::string original = kKernel;
  const auto span = hone::source::replace_unique(original, "B=64", "B=(64", "k.py");
  ASSERT_TRUE(span.ok());
  const auto edited = hone::source::edit_and_audit(files, "k.py", original, {*span});
  ASSERT_FALSE(edited.ok());
  EXPECT_NE(edited.error().where.find("k.py:"), std::string::npos);
}

TEST(Edit, refuses_overlaps_and_two_insertions_at_one_place) {
  EXPECT_FALSE(apply("abcdef", {{0, 3, "x"}, {2, 4, "y"}}, "t").ok());
  EXPECT_FALSE(apply("abcdef", {{2, 2, "x"}, {2, 2, "y"}}, "t").ok());
  EXPECT_FALSE(apply("abcdef", {{1, 5, "x"}, {2, 3, "y"}}, "t").ok());
}

TEST(Edit, refuses_spans_outside_the_text_backwards_or_inside_a_character) {
  EXPECT_FALSE(apply("abc", {{2, 9, "x"}}, "t").ok());
  EXPECT_FALSE(apply("abc", {{2, 1, "x"}}, "t").ok());
  EXPECT_FALSE(apply("a\xC3\xA9z", {{2, 3, "x"}}, "t").ok());
  EXPECT_TRUE(apply("a\xE9z", {{2, 3, "x"}}, "t").ok()) << "Latin-1 has one byte a character";
}

TEST(Edit, takes_neighbouring_spans_in_any_order_with_the_original_offsets) {
  const auto edited = apply("abcdef", {{4, 6, "EF!"}, {0, 2, ""}, {2, 2, "<"}, {2, 4, "CD"}}, "t");
  ASSERT_TRUE(edited.ok());
  EXPECT_EQ(*edited, "<CDEF!");
}

TEST(Edit, replaces_only_what_occurs_exactly_once) {
  EXPECT_FALSE(hone::source::replace_unique("aXbXc", "X", "Y", "t").ok());
  EXPECT_FALSE(hone::source::replace_unique("abc", "X", "Y", "t").ok());
  EXPECT_FALSE(hone::source::replace_unique("abc", "", "Y", "t").ok());
}

TEST(EditProperty, disjoint_replacements_are_what_splicing_from_the_end_gives) {
  EXPECT_TRUE(rc::check([](const std::string& raw, const std::vector<std::pair<unsigned char, std::string>>& pieces) {
    std::string text;
    for (const char c : raw) text += static_cast<char>(c & 0x7F);
    std::vector<Replacement> replacements;
    std::size_t at = 0;
    for (const auto& [length, with] : pieces) {
      const std::size_t start = at + 1, end = start + length % 7;
      if (end > text.size()) break;
      replacements.push_back({start, end, with});
      at = end + 1;
    }
    std::string expected = text;
    for (auto r = replacements.rbegin(); r != replacements.rend(); ++r)
      expected.replace(r->start, r->end - r->start, r->text);
    const auto edited = apply(text, replacements, "t");
    RC_ASSERT(edited.ok());
    RC_ASSERT(*edited == expected);
  }));
}

}  // namespace
