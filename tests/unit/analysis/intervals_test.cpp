#include "sim/analysis/intervals.h"

#include <gtest/gtest.h>

#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using test::ps;

TEST(IntervalsTest, MergesWhatOverlapsOrTouches) {
  // [0,2) and [2,5) touch, [4,6) overlaps, [8,8) is empty, [9,10) stands apart.
  const std::vector<Interval> list =
      merged({{ps(9), ps(10)}, {ps(2), ps(5)}, {ps(0), ps(2)}, {ps(8), ps(8)}, {ps(4), ps(6)}});
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].begin, ps(0));
  EXPECT_EQ(list[0].end, ps(6));
  EXPECT_EQ(list[1].begin, ps(9));
  EXPECT_EQ(total_length(list), ps(7));
}

TEST(IntervalsTest, KeepsWhatAnotherContains) {
  EXPECT_EQ(total_length(merged({{ps(0), ps(10)}, {ps(2), ps(3)}})), ps(10));
}

TEST(IntervalsTest, OverlapCountsCommonMoments) {
  // Common: [1,2), [5,6) and [6,7).
  const std::vector<Interval> left = {{ps(0), ps(2)}, {ps(5), ps(8)}};
  const std::vector<Interval> right = {{ps(1), ps(3)}, {ps(4), ps(7)}};
  EXPECT_EQ(overlap(left, right), ps(3));
  EXPECT_EQ(overlap(right, left), ps(3));
  EXPECT_EQ(overlap(left, {}), ps(0));
}

}  // namespace
}  // namespace moesim
