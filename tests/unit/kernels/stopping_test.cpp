#include "kernels/stopping.h"

#include <gtest/gtest.h>

#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using test::ps;

// 1000, 1000 + step, ... picoseconds, the largest first.
std::vector<Time> falling(int number, int step) {
  std::vector<Time> times;
  for (int i = number - 1; i >= 0; --i) {
    times.push_back(ps(1000 + i * step));
  }
  return times;
}

// 2 P(B < 1) = 2 / 2^n, which is 6.25 % for n = 5 and 3.1 % for n = 6: from the smallest to the
// largest of six. 1000 to 1050 around 1020 (the lower of the two in the middle): 25 / 1020.
TEST(StoppingTest, SixTimesAreTheFewestThatHaveAnInterval) {
  EXPECT_EQ(median_spread({}), std::nullopt);
  EXPECT_EQ(median_spread(falling(5, 10)), std::nullopt);
  ASSERT_TRUE(median_spread(falling(6, 10)).has_value());
  EXPECT_DOUBLE_EQ(*median_spread(falling(6, 10)), 25.0 / 1020);
}

// n = 10: 2 P(B < 2) = 2 * (1 + 10) / 1024 = 2.1 %, 2 P(B < 3) = 2 * 56 / 1024 = 10.9 %: k = 2,
// from 1010 to 1080 around 1040. One time that is far off is outside and does not count. n = 30:
// tables of the sign test have k = 10: from 1090 to 1200 around 1140.
TEST(StoppingTest, TheIntervalLeavesOutAsManyAsItMay) {
  EXPECT_DOUBLE_EQ(*median_spread(falling(10, 10)), 35.0 / 1040);
  std::vector<Time> disturbed = falling(10, 10);
  disturbed.front() = ps(1'000'000);
  EXPECT_DOUBLE_EQ(*median_spread(disturbed), 35.0 / 1040);
  EXPECT_DOUBLE_EQ(*median_spread(falling(30, 10)), 55.0 / 1140);
}

// 2000 times: the normal approximation k = n/2 - 0.98 sqrt(n) = 956 is within one of the exact
// rank, where 2^2000 is no double.
TEST(StoppingTest, ManyTimes) {
  const double median = 1000 + 999;
  EXPECT_NEAR(*median_spread(falling(2000, 1)), (2000 - 2 * 956 + 1) / 2.0 / median, 1.1 / median);
}

TEST(StoppingTest, TimesOfZeroAreKnown) {
  EXPECT_EQ(median_spread(std::vector<Time>(6)), 0);
}

// Of ten times 1 ps apart the spread is 3.5 / 1004 = 0.35 %; of ten times 10 ps apart 3.4 %.
TEST(StoppingTest, GoesOnUntilTheMedianIsKnown) {
  const StoppingRule rule{.least = 8, .most = 10, .spread = 0.01};
  EXPECT_EQ(reason_to_stop(rule, falling(7, 1)), std::nullopt);
  EXPECT_EQ(reason_to_stop(rule, falling(8, 1)), Stop::kSteady);
  EXPECT_EQ(reason_to_stop(rule, falling(9, 10)), std::nullopt);
  EXPECT_EQ(reason_to_stop(rule, falling(10, 10)), Stop::kMost);
  EXPECT_EQ(reason_to_stop(rule, falling(10, 1)), Stop::kSteady);
}

TEST(StoppingTest, ExactlyOne) {
  const StoppingRule rule{.least = 1, .most = 1};
  EXPECT_EQ(reason_to_stop(rule, {}), std::nullopt);
  EXPECT_EQ(reason_to_stop(rule, {ps(5)}), Stop::kMost);
}

TEST(StoppingDeathTest, ARuleMustBeOne) {
  EXPECT_DEATH(reason_to_stop({.least = 3, .most = 2}, {}), "3 to 2 runs");
}

}  // namespace
}  // namespace moesim
