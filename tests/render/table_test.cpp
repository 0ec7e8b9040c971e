#include "render/table.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace hone::render {
namespace {

TEST(Table, AlignsMarkdownColumnsByWhatTheyShow) {
  Table table({{"x", Align::right}, {"mode"}});
  table.add_row({"1024", "forward"});
  table.add_row({"μ", "é|b"});
  EXPECT_EQ(table.markdown(),
            "|    x | mode    |\n"
            "| ---: | ------- |\n"
            "| 1024 | forward |\n"
            "|    μ | é\\|b    |\n");
}

TEST(Table, ALineEndInACellDoesNotEndTheRow) {
  Table table({{"a"}, {"b"}});
  table.add_row({"one\ntwo\r\n", "x"});
  EXPECT_EQ(base::split(table.markdown(), '\n').size(), 4u);
}

TEST(Table, OneVeryLongCellDoesNotWidenTheOthers) {
  Table table({{"name"}, {"value"}});
  table.add_row({std::string(10'000, 'n'), "1"});
  table.add_row({"short", "2"});
  const auto lines = base::split(table.markdown(), '\n');
  EXPECT_GT(lines[2].size(), 10'000u);
  EXPECT_LT(lines[3].size(), 100u);
}

TEST(Table, WrapsTheWidestTextColumnOfATerminal) {
  Table table({{"signal"}, {"observation"}, {"ms", Align::right}});
  table.add_row({"share", "the pass moves its minimum traffic at nearly the copy bandwidth", "1.25"});
  EXPECT_EQ(table.terminal(Style{false, 44}),
            "signal  observation                       ms\n"
            "share   the pass moves its minimum      1.25\n"
            "        traffic at nearly the copy\n"
            "        bandwidth\n");
}

// The widths of lines, and what a line holds, at the widths that terminals have.
TEST(Table, FitsATerminalByWrappingAndDropping) {
  Table table({{"kernel"},
               {"device", Align::left, 1},
               {"p20 to p80", Align::right, 2},
               {"noise floor", Align::right},
               {"verdict"}});
  table.add_row({"fused_linear_cross_entropy", "NVIDIA H200 NVL with a long name", "1.250 to 1.375", "2.1 %",
                 "faster than the original beyond its noise"});
  const auto widest = [&](std::size_t width) {
    std::size_t most = 0;
    for (const std::string& line : base::split(table.terminal(Style{false, width}), '\n'))
      most = std::max(most, display_width(line));
    return most;
  };
  for (const std::size_t width : {std::size_t{60}, std::size_t{80}, std::size_t{120}}) EXPECT_LE(widest(width), width);
  EXPECT_EQ(table.terminal(Style{false, 120}).find("left out"), std::string::npos);
  const std::string narrow = table.terminal(Style{false, 60});
  EXPECT_NE(narrow.find("left out in 60 columns: p20 to p80\n"), std::string::npos) << narrow;
  EXPECT_EQ(narrow.find("1.250"), std::string::npos);
  EXPECT_NE(narrow.find("fused_linear_cross_entropy"), std::string::npos) << narrow;
  EXPECT_NE(narrow.find("2.1 %"), std::string::npos) << narrow;
  EXPECT_NE(narrow.find("NVIDIA"), std::string::npos) << narrow;
}

TEST(Table, KeepsFiguresWithTheirUnitsAndIntervalsTogether) {
  Table table({{"variant"}, {"forward", Align::right}, {"backward", Align::right}, {"full", Align::right}, {"status"}});
  table.add_row({"v1", "0.962 [0.954, 0.970]", "81.5 %", "not timed", "failed-to-compile"});
  const std::string narrow = table.terminal(Style{false, 60});
  EXPECT_NE(narrow.find("81.5 %"), std::string::npos) << narrow;
  EXPECT_NE(narrow.find("0.962 [0.954, 0.970]"), std::string::npos) << narrow;
  EXPECT_NE(narrow.find("failed-to-"), std::string::npos) << narrow;
  EXPECT_NE(table.terminal(Style{false, 52}).find("[0.954, 0.970]"), std::string::npos);
}

TEST(Table, BreaksAWordOnlyWhereNothingElseHelps) {
  Table table({{"kernel"}, {"us", Align::right}});
  table.add_row({std::string(200, 'k'), "1.25"});
  for (const std::string& line : base::split(table.terminal(Style{false, 60}), '\n')) EXPECT_LE(line.size(), 60u);
  EXPECT_NE(table.terminal(Style{false, 60}).find("1.25"), std::string::npos);
}

TEST(Table, OfATerminalShowsNoControlCharactersOfADocument) {
  Table table({{"name"}});
  table.add_row({"evil\033[2J\033]0;title\007 \xe2\x80\xaeknob"}, Ink::bad);
  const std::string text = table.terminal(Style{});
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_EQ(text.find('\007'), std::string::npos);
  EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos);
}

TEST(Table, ColoursOnlyWhenAsked) {
  Table table({{"name"}});
  table.add_row({"good"}, Ink::good);
  EXPECT_EQ(table.terminal(Style{}), "name\ngood\n");
  EXPECT_EQ(table.terminal(Style{true, 80}), "\033[1mname\033[0m\n\033[32mgood\033[0m\n");
}

TEST(Table, InHtmlIsEscaped) {
  Table table({{"a"}, {"ms", Align::right}});
  table.add_row({"<script>\"&'", "1"});
  EXPECT_NE(table.html().find("&lt;script&gt;&quot;&amp;&#39;"), std::string::npos);
  EXPECT_EQ(table.html().find("<script>"), std::string::npos);
}

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("é±μ"), 3u);
  EXPECT_EQ(display_width("e\xcc\x81"), 1u);
  EXPECT_EQ(display_width("核"), 2u);
  EXPECT_EQ(display_width("\xff\xfe"), 2u);  // each is shown as a question mark
}

TEST(Wrap, BreaksBetweenWordsAndInsideOnlyWhereItMust) {
  EXPECT_EQ(wrap("a bc def", 4), (std::vector<std::string>{"a bc", "def"}));
  EXPECT_EQ(wrap("abcdefghij", 4), (std::vector<std::string>{"abcd", "efgh", "ij"}));
  EXPECT_EQ(wrap("", 4), (std::vector<std::string>{""}));
  EXPECT_EQ(wrap("核核", 3), (std::vector<std::string>{"核", "核"}));
  EXPECT_EQ(wrap("ab", 0), (std::vector<std::string>{"a", "b"}));
}

TEST(Markdown, TextIsNotTakenForMarkup) {
  EXPECT_EQ(markdown_text("num_warps and a * b < 3"), "num_warps and a * b < 3");
  EXPECT_EQ(markdown_text("_x_ **bold** <b>"), "\\_x\\_ \\*\\*bold\\*\\* \\<b>");
  EXPECT_EQ(markdown_text("# not a heading"), "\\# not a heading");
  EXPECT_EQ(markdown_text("[a](http://b)"), "\\[a](http://b)");
  EXPECT_EQ(markdown_text("code `a*b|c` stays, a lone ` not"), "code `a*b|c` stays, a lone \\` not");
  EXPECT_EQ(markdown_cell("a|b `c|d`"), "a\\|b `c\\|d`");
}

TEST(Markdown, CodeFencesAreLongerThanWhatTheyHold) {
  EXPECT_EQ(markdown_code("a`b"), "``a`b``");
  EXPECT_EQ(markdown_code("`a"), "`` `a ``");
  EXPECT_EQ(markdown_block("a\n```\nb", "diff"), "````diff\na\n```\nb\n````\n");
}

}  // namespace
}  // namespace hone::render
