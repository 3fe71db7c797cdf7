#include "sim/report/time_scale.h"

#include <gmock/gmock.h>

#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using test::ps;
using ::testing::ElementsAre;

// Two windows of 100 and 300 ps in 400 + gap: one unit of width per picosecond.
TEST(TimeScaleTest, WindowsShareOneScale) {
  const TimeScale scale({{ps(50), ps(150)}, {ps(1000), ps(1300)}}, 10, 400 + TimeScale::kGap);
  EXPECT_DOUBLE_EQ(scale.x(0, ps(50)), 10);
  EXPECT_DOUBLE_EQ(scale.x(0, ps(150)), 110);
  EXPECT_DOUBLE_EQ(scale.x(1, ps(1000)), 110 + TimeScale::kGap);
  EXPECT_DOUBLE_EQ(scale.x(1, ps(1300)), 410 + TimeScale::kGap);
}

// 0.5 units of width per picosecond: 30 units are 60 ps, and the next round step is 100.
TEST(TimeScaleTest, TicksAreRound) {
  const TimeScale scale({{ps(150), ps(550)}}, 0, 200);
  EXPECT_EQ(scale.tick_step(30), ps(100));
  EXPECT_THAT(scale.ticks(0, 30), ElementsAre(ps(200), ps(300), ps(400), ps(500)));
  EXPECT_EQ(scale.tick_step(25), ps(50));
  EXPECT_EQ(scale.tick_step(10), ps(20));
}

TEST(TimeScaleTest, Clips) {
  const Interval part = clipped({ps(1), ps(9)}, {ps(4), ps(20)});
  EXPECT_EQ(part.begin, ps(4));
  EXPECT_EQ(part.end, ps(9));
  const Interval none = clipped({ps(1), ps(3)}, {ps(4), ps(20)});
  EXPECT_LE(none.end, none.begin);
}

}  // namespace
}  // namespace moesim
