// A port's closed forms: the expected ends follow from "user i drains at w_i / sum(w), but never
// faster than alone".
#include "sim/engine/port_queue.h"

#include <gtest/gtest.h>

#include "tests/unit/engine/program_maker.h"

namespace moesim {
namespace {

// Enters and says what the port then foresees.
void enter(PortQueue& port, Time now, const PortQueue::Use& use) {
  port.enter(now, use);
  port.settle();
}

// The end that the port predicts for a collective; zero when it is no longer there.
Time end_of(const PortQueue& port, int collective) {
  for (const PortQueue::User& user : port.users()) {
    if (user.collective == collective) {
      return user.end;
    }
  }
  return Time::zero();
}

TEST(PortQueueTest, AloneTakesExactlyItsLoad) {
  PortQueue port;
  enter(port, ps(7), {.collective = 0, .load = ps(1'000'000'007)});
  EXPECT_EQ(end_of(port, 0), ps(1'000'000'014));
}

// Who has the port for itself is told when it ends as it enters; the second one is not, and the
// third comes when both are gone. Of two at the same time, 500 each, both end after 1000.
TEST(PortQueueTest, OnlyWhoeverFindsThePortFreeKnowsItsEndAtOnce) {
  PortQueue port;
  EXPECT_EQ(port.enter(ps(3), {.collective = 0, .load = ps(500), .alone = ps(900)}), ps(903));
  EXPECT_EQ(port.enter(ps(903), {.collective = 1, .load = ps(97)}), ps(1000));
  EXPECT_EQ(port.enter(ps(2000), {.collective = 2, .load = ps(500)}), ps(2500));
  EXPECT_EQ(port.enter(ps(2000), {.collective = 3, .load = ps(500)}), std::nullopt);
  port.settle();
  EXPECT_EQ(end_of(port, 2), ps(3000));
  EXPECT_EQ(end_of(port, 3), ps(3000));
  EXPECT_EQ(port.enter(ps(3000), {.collective = 4, .load = ps(1)}), ps(3001));
}

// It has drained 300 of its 500 at full speed when the other one comes, who leaves after 2 x 100;
// it then has 100 left: 300 + 200 + 100.
TEST(PortQueueTest, WhatIsDrainedAloneIsDrained) {
  PortQueue port;
  port.enter(ps(0), {.collective = 0, .load = ps(500)});
  port.enter(ps(300), {.collective = 1, .load = ps(100)});
  port.settle();
  EXPECT_EQ(end_of(port, 1), ps(500));
  EXPECT_EQ(end_of(port, 0), ps(600));
}

TEST(PortQueueTest, AloneItsWeightDoesNotMatter) {
  // 1/3.7 is no binary fraction; alone a user still has the whole port.
  PortQueue port;
  enter(port, ps(7), {.collective = 0, .load = ps(1001), .weight = 3.7});
  EXPECT_EQ(end_of(port, 0), ps(1008));
  enter(port, ps(2000), {.collective = 1, .load = ps(13), .weight = 0.001});
  EXPECT_EQ(end_of(port, 1), ps(2013));
}

TEST(PortQueueTest, TwoEqualUsersTakeTwiceAsLong) {
  PortQueue port;
  enter(port, ps(0), {.collective = 0, .load = ps(500)});
  enter(port, ps(0), {.collective = 1, .load = ps(500)});
  EXPECT_EQ(end_of(port, 0), ps(1000));
  EXPECT_EQ(end_of(port, 1), ps(1000));
}

TEST(PortQueueTest, WeightsOneToThree) {
  // Loads 300 each. The heavy one has 3/4 of the port: it ends at 300 / (3/4) = 400; by then the
  // light one has drained 100 and has the port to itself for the other 200: 600.
  PortQueue port;
  enter(port, ps(0), {.collective = 0, .load = ps(300)});
  enter(port, ps(0), {.collective = 1, .load = ps(300), .weight = 3});
  EXPECT_EQ(end_of(port, 1), ps(400));
  EXPECT_EQ(end_of(port, 0), ps(600));
}

TEST(PortQueueTest, WeightsWithoutABinaryFractionKeepTheSumExact) {
  // Loads 100 each, weights 1:3: the heavy one ends at 133.33, reported 134; the light one when the
  // port has drained 200, whatever was rounded before.
  PortQueue port;
  enter(port, ps(0), {.collective = 0, .load = ps(100)});
  enter(port, ps(0), {.collective = 1, .load = ps(100), .weight = 3});
  EXPECT_EQ(end_of(port, 1), ps(134));
  EXPECT_EQ(end_of(port, 0), ps(200));
}

TEST(PortQueueTest, OneThatIsSlowAnywayLeavesTheRest) {
  // A has 300 and takes 1000 alone: it drains at 0.3 and leaves 0.7 to B, whose 700 end at 1000,
  // as if they were alone on the port for 700 of it. By equal halves B would end at 1000 too, but A
  // at 600, and then be ahead of what it can do.
  PortQueue port;
  enter(port, ps(0), {.collective = 0, .load = ps(300), .alone = ps(1000)});
  enter(port, ps(0), {.collective = 1, .load = ps(700)});
  EXPECT_EQ(end_of(port, 0), ps(1000));
  EXPECT_EQ(end_of(port, 1), ps(1000));
}

TEST(PortQueueTest, TwoThatAreSlowAnywayDoNotSlowEachOther) {
  // 0.6 + 0.4 of the port. By equal halves A would take 1200 for its 600.
  PortQueue port;
  enter(port, ps(0), {.collective = 0, .load = ps(600), .alone = ps(1000)});
  enter(port, ps(0), {.collective = 1, .load = ps(4000), .alone = ps(10'000)});
  EXPECT_EQ(end_of(port, 0), ps(1000));
  EXPECT_EQ(end_of(port, 1), ps(10'000));
}

TEST(PortQueueTest, HeldOnlyWhenItsShareIsMore) {
  // Caps 0.45, 0.8 and 1. Shares are thirds until C (200) leaves at 600; then A has 270 - 200 = 70
  // left and is held at 0.45: it ends at 600 + 70 / 0.45 = 755.6. B, with 800 - 200 = 600 left,
  // has 0.55 until then, and 600 - 155.6 * 0.55 = 514.4 left; alone it is held at 0.8: 755.6 +
  // 514.4 / 0.8 = 1398.6.
  PortQueue port;
  enter(port, ps(0), {.collective = 0, .load = ps(270), .alone = ps(600)});
  enter(port, ps(0), {.collective = 1, .load = ps(800), .alone = ps(1000)});
  enter(port, ps(0), {.collective = 2, .load = ps(200)});
  EXPECT_EQ(end_of(port, 2), ps(600));
  EXPECT_EQ(end_of(port, 0), ps(756));
  EXPECT_EQ(end_of(port, 1), ps(1399));
}

TEST(PortQueueTest, StaggeredArrival) {
  // A (1000) is alone until 600, then shares with B (1000): A's other 400 take 800, end 1400. B has
  // drained 400 by then, its other 600 end at 2000.
  PortQueue port;
  enter(port, ps(0), {.collective = 0, .load = ps(1000)});
  EXPECT_EQ(end_of(port, 0), ps(1000));
  enter(port, ps(600), {.collective = 1, .load = ps(1000)});
  EXPECT_EQ(end_of(port, 0), ps(1400));
  EXPECT_EQ(end_of(port, 1), ps(2000));
}

TEST(PortQueueTest, ThirdArrivalAfterADeparture) {
  // A (10) and B (100) share from 0: A leaves at 20, B has 90 left. C (30) comes at 50, when B has
  // 60 left: C ends at 50 + 2*30 = 110, B has 30 left then and ends at 140 = the sum of all loads.
  PortQueue port;
  enter(port, ps(0), {.collective = 0, .load = ps(10)});
  enter(port, ps(0), {.collective = 1, .load = ps(100)});
  enter(port, ps(50), {.collective = 2, .load = ps(30)});
  EXPECT_EQ(end_of(port, 0), Time::zero());
  EXPECT_EQ(end_of(port, 2), ps(110));
  EXPECT_EQ(end_of(port, 1), ps(140));
}

TEST(PortQueueTest, ThirdsAddUpToWholePicoseconds) {
  // Three users of 1000 from 0, 1 and 2 on: after 1 ps alone and 1 ps by halves all share by
  // thirds. The last leaves when 3000 are drained.
  PortQueue port;
  enter(port, ps(0), {.collective = 0, .load = ps(1000)});
  enter(port, ps(1), {.collective = 1, .load = ps(1000)});
  enter(port, ps(2), {.collective = 2, .load = ps(1000)});
  // A has 998.5 left, B 999.5, C 1000 at 2: A leaves at 2 + 3*998.5 = 2997.5, B (1 left) at 2999.5,
  // C (1.5 left at 2997.5, 0.5 at 2999.5) at 3000.
  EXPECT_EQ(end_of(port, 0), ps(2998));
  EXPECT_EQ(end_of(port, 1), ps(3000));
  EXPECT_EQ(end_of(port, 2), ps(3000));
}

TEST(PortQueueTest, ArrivalAtTheMomentOfADepartureFindsThePortFree) {
  PortQueue port;
  enter(port, ps(0), {.collective = 0, .load = ps(100)});
  enter(port, ps(100), {.collective = 1, .load = ps(100)});
  EXPECT_EQ(port.users().size(), 1U);
  EXPECT_EQ(end_of(port, 1), ps(200));
}

TEST(PortQueueTest, OrderOfSimultaneousArrivalsDoesNotMatter) {
  PortQueue one;
  PortQueue other;
  for (int i = 0; i < 5; ++i) {
    enter(one, ps(3), {.collective = i, .load = ps(100 + i), .weight = 1 + 0.3 * i});
    enter(other,
          ps(3),
          {.collective = 4 - i, .load = ps(100 + (4 - i)), .weight = 1 + 0.3 * (4 - i)});
  }
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(end_of(one, i), end_of(other, i));
  }
}

TEST(PortQueueTest, AlwaysBusyPortDrainsExactlyItsLoads) {
  // 1,000 arrivals, each before the port is free: its last end is the sum of the loads.
  PortQueue port;
  std::int64_t sum = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t load = 1000 + 7 * i;
    enter(port, ps(900 * i), {.collective = i, .load = ps(load), .weight = 1.0 + i % 3});
    sum += load;
  }
  EXPECT_EQ(port.users().back().end, ps(sum));
}

TEST(PortQueueTest, AnEndThatDoesNotFitIsTheLatestTime) {
  // Twelve users of ten days each are 120 days together; Time holds 106.
  PortQueue port;
  for (int i = 0; i < 12; ++i) {
    enter(port, ps(0), {.collective = i, .load = Time::from_seconds(10 * 86'400)});
  }
  EXPECT_EQ(port.users().back().end, Time::max());
  PortQueue other;
  EXPECT_EQ(other.enter(ps(5), {.load = Time::max()}), Time::max());
}

TEST(PortQueueDeathTest, LoadAndWeightArePositive) {
  PortQueue port;
  EXPECT_DEATH(port.enter(ps(0), {.load = ps(0)}), "CHECK");
  EXPECT_DEATH(port.enter(ps(0), {.load = ps(1), .weight = 0}), "weight");
}

}  // namespace
}  // namespace moesim
