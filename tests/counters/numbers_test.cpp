// Numbers in the writing of other languages, and the units of the versions.
#include "counters/numbers.hpp"

#include <gtest/gtest.h>

namespace hone::counters {
namespace {

DecimalMark mark_of(std::initializer_list<const char*> texts) {
  MarkVotes votes;
  for (const char* text : texts) votes.see(text);
  return votes.winner();
}

TEST(DecimalMarks, TheValuesWithOneReadingDecideForAll) {
  EXPECT_EQ(mark_of({"16,384", "20.69"}), DecimalMark::point);
  EXPECT_EQ(mark_of({"16.384", "20,69"}), DecimalMark::comma);
  EXPECT_EQ(mark_of({"1,234,567"}), DecimalMark::point);
  EXPECT_EQ(mark_of({"1.234.567"}), DecimalMark::comma);
  EXPECT_EQ(mark_of({"0,123"}), DecimalMark::comma) << "no number groups digits after a leading zero";
  EXPECT_EQ(mark_of({"16,384"}), DecimalMark::point) << "with no witness the common writing is taken";
  EXPECT_EQ(mark_of({"all", "n/a", "(256, 1, 1)", "1.2.3.4-x"}), DecimalMark::point);
}

TEST(Numbers, AreReadInEitherWriting) {
  EXPECT_EQ(parse_number("4,467,317,516,405.86", DecimalMark::point), 4467317516405.86);
  EXPECT_EQ(parse_number("4.467.317,5", DecimalMark::comma), 4467317.5);
  EXPECT_EQ(parse_number(" 12 345,5", DecimalMark::comma), 12345.5);
  EXPECT_EQ(parse_number("1.5e-3", DecimalMark::point), 0.0015);
  EXPECT_EQ(parse_number("-7", DecimalMark::point), -7);
  EXPECT_EQ(parse_number("8 (1; 2; 3)", DecimalMark::point), 8) << "instances after the value are left out";
}

TEST(Numbers, WhatIsNoFiniteNumberIsNothing) {
  for (const char* text : {"", "n/a", "nan", "inf", "1e999", "12abc", "--5", "1.2.3", "0x10", "."})
    EXPECT_FALSE(parse_number(text, DecimalMark::point).has_value()) << text;
  EXPECT_FALSE(parse_number(std::string(100000, '9'), DecimalMark::point).has_value());
}

TEST(Units, OfAllVersionsHaveTheirFactor) {
  const auto is = [](const char* text, Dimension dimension, double factor) {
    const Unit unit = parse_unit(text);
    EXPECT_EQ(unit.dimension, dimension) << text;
    EXPECT_NEAR(unit.factor, factor, factor * 1e-12) << text;
  };
  is("us", Dimension::seconds, 1e-6);
  is("\xC2\xB5s", Dimension::seconds, 1e-6);
  is("msecond", Dimension::seconds, 1e-3);
  is("Tbyte/s", Dimension::bytes_per_second, 1e12);
  is("Gbyte/second", Dimension::bytes_per_second, 1e9);
  is("byte/nsecond", Dimension::bytes_per_second, 1e9);
  is("Kbyte/block", Dimension::bytes, 1e3);
  is("KiB", Dimension::bytes, 1024);
  is("Ghz", Dimension::hertz, 1e9);
  is("cycle/nsecond", Dimension::hertz, 1e9);
  is("%", Dimension::percent, 1);
  is("", Dimension::none, 1);
  is("block", Dimension::none, 1);
  is("register/thread", Dimension::none, 1);
  is("inst/cycle", Dimension::other, 1);
}

}  // namespace
}  // namespace hone::counters
