#include "sim/base/time.h"

#include <limits>

#include <gtest/gtest.h>

namespace moesim {
namespace {

constexpr Time picoseconds(std::int64_t count) {
  return Time::from_picoseconds(count);
}

static_assert(Time() == Time::zero());
static_assert(picoseconds(2) + picoseconds(3) == picoseconds(5));
static_assert(picoseconds(2) - picoseconds(3) == picoseconds(-1));
static_assert(3 * picoseconds(2) == picoseconds(2) * 3);
static_assert(picoseconds(7) / 2 == picoseconds(3));
static_assert(picoseconds(1) < picoseconds(2) && picoseconds(2) < Time::max());

TEST(TimeTest, FromSecondsRoundsToTheNearestPicosecond) {
  EXPECT_EQ(Time::from_seconds(1.5e-6), picoseconds(1'500'000));
  EXPECT_EQ(Time::from_seconds(0.4e-12), picoseconds(0));
  EXPECT_EQ(Time::from_seconds(0.6e-12), picoseconds(1));
  EXPECT_EQ(Time::from_seconds(-0.6e-12), picoseconds(-1));
}

TEST(TimeTest, SecondsIsTheInverse) {
  EXPECT_DOUBLE_EQ(picoseconds(1'500'000).seconds(), 1.5e-6);
  EXPECT_EQ(Time::from_seconds(picoseconds(123'456'789).seconds()), picoseconds(123'456'789));
}

TEST(TimeTest, CompoundAssignment) {
  Time time = picoseconds(10);
  time += picoseconds(5);
  time -= picoseconds(1);
  EXPECT_EQ(time, picoseconds(14));
}

TEST(TimeTest, ScaledRounds) {
  EXPECT_EQ(picoseconds(10).scaled(1.26), picoseconds(13));
  EXPECT_EQ(picoseconds(10).scaled(1.24), picoseconds(12));
}

TEST(TimeTest, RatioIsAPlainNumber) {
  EXPECT_EQ(ratio(picoseconds(1), picoseconds(4)), 0.25);
  EXPECT_DEATH(ratio(picoseconds(1), Time::zero()), "whole");
}

TEST(TimeDeathTest, OverflowAborts) {
  EXPECT_DEATH(Time::max() + picoseconds(1), "overflow");
  EXPECT_DEATH(picoseconds(-2) - Time::max(), "overflow");
  EXPECT_DEATH(Time::max() * 2, "overflow");
  EXPECT_DEATH(picoseconds(1) / 0, "divisor");
}

// 2^63 ps are 9.22e6 s.
TEST(TimeDeathTest, SecondsThatDoNotFitAbort) {
  EXPECT_DEATH(Time::from_seconds(9.3e6), "no time that fits");
  EXPECT_DEATH(Time::from_seconds(std::numeric_limits<double>::quiet_NaN()), "no time that fits");
  EXPECT_DEATH(Time::from_seconds(-std::numeric_limits<double>::infinity()), "no time that fits");
}

}  // namespace
}  // namespace moesim
