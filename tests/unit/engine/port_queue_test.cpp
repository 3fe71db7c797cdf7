// A port's closed forms: the expected ends follow from "user i drains at w_i / sum(w)".
#include "sim/engine/port_queue.h"

#include <gtest/gtest.h>

#include "tests/unit/engine/program_maker.h"

namespace moesim {
namespace {

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
  port.enter(ps(7), 0, ps(1'000'000'007), 1);
  EXPECT_EQ(end_of(port, 0), ps(1'000'000'014));
}

TEST(PortQueueTest, AloneItsWeightDoesNotMatter) {
  // 1/3.7 is no binary fraction; alone a user still has the whole port.
  PortQueue port;
  port.enter(ps(7), 0, ps(1001), 3.7);
  EXPECT_EQ(end_of(port, 0), ps(1008));
  port.enter(ps(2000), 1, ps(13), 0.001);
  EXPECT_EQ(end_of(port, 1), ps(2013));
}

TEST(PortQueueTest, TwoEqualUsersTakeTwiceAsLong) {
  PortQueue port;
  port.enter(ps(0), 0, ps(500), 1);
  port.enter(ps(0), 1, ps(500), 1);
  EXPECT_EQ(end_of(port, 0), ps(1000));
  EXPECT_EQ(end_of(port, 1), ps(1000));
}

TEST(PortQueueTest, WeightsOneToThree) {
  // Loads 300 each. The heavy one has 3/4 of the port: it ends at 300 / (3/4) = 400; by then the
  // light one has drained 100 and has the port to itself for the other 200: 600.
  PortQueue port;
  port.enter(ps(0), 0, ps(300), 1);
  port.enter(ps(0), 1, ps(300), 3);
  EXPECT_EQ(end_of(port, 1), ps(400));
  EXPECT_EQ(end_of(port, 0), ps(600));
}

TEST(PortQueueTest, WeightsWithoutABinaryFractionKeepTheSumExact) {
  // Loads 100 each, weights 1:3: the heavy one ends at 133.33, reported 134; the light one when the
  // port has drained 200, whatever was rounded before.
  PortQueue port;
  port.enter(ps(0), 0, ps(100), 1);
  port.enter(ps(0), 1, ps(100), 3);
  EXPECT_EQ(end_of(port, 1), ps(134));
  EXPECT_EQ(end_of(port, 0), ps(200));
}

TEST(PortQueueTest, StaggeredArrival) {
  // A (1000) is alone until 600, then shares with B (1000): A's other 400 take 800, end 1400. B has
  // drained 400 by then, its other 600 end at 2000.
  PortQueue port;
  port.enter(ps(0), 0, ps(1000), 1);
  EXPECT_EQ(end_of(port, 0), ps(1000));
  port.enter(ps(600), 1, ps(1000), 1);
  EXPECT_EQ(end_of(port, 0), ps(1400));
  EXPECT_EQ(end_of(port, 1), ps(2000));
}

TEST(PortQueueTest, ThirdArrivalAfterADeparture) {
  // A (10) and B (100) share from 0: A leaves at 20, B has 90 left. C (30) comes at 50, when B has
  // 60 left: C ends at 50 + 2*30 = 110, B has 30 left then and ends at 140 = the sum of all loads.
  PortQueue port;
  port.enter(ps(0), 0, ps(10), 1);
  port.enter(ps(0), 1, ps(100), 1);
  port.enter(ps(50), 2, ps(30), 1);
  EXPECT_EQ(end_of(port, 0), Time::zero());
  EXPECT_EQ(end_of(port, 2), ps(110));
  EXPECT_EQ(end_of(port, 1), ps(140));
}

TEST(PortQueueTest, ThirdsAddUpToWholePicoseconds) {
  // Three users of 1000 from 0, 1 and 2 on: after 1 ps alone and 1 ps by halves all share by
  // thirds. The last leaves when 3000 are drained.
  PortQueue port;
  port.enter(ps(0), 0, ps(1000), 1);
  port.enter(ps(1), 1, ps(1000), 1);
  port.enter(ps(2), 2, ps(1000), 1);
  // A has 998.5 left, B 999.5, C 1000 at 2: A leaves at 2 + 3*998.5 = 2997.5, B (1 left) at 2999.5,
  // C (1.5 left at 2997.5, 0.5 at 2999.5) at 3000.
  EXPECT_EQ(end_of(port, 0), ps(2998));
  EXPECT_EQ(end_of(port, 1), ps(3000));
  EXPECT_EQ(end_of(port, 2), ps(3000));
}

TEST(PortQueueTest, ArrivalAtTheMomentOfADepartureFindsThePortFree) {
  PortQueue port;
  port.enter(ps(0), 0, ps(100), 1);
  port.enter(ps(100), 1, ps(100), 1);
  EXPECT_EQ(port.users().size(), 1U);
  EXPECT_EQ(end_of(port, 1), ps(200));
}

TEST(PortQueueTest, OrderOfSimultaneousArrivalsDoesNotMatter) {
  PortQueue one;
  PortQueue other;
  for (int i = 0; i < 5; ++i) {
    one.enter(ps(3), i, ps(100 + i), 1 + 0.3 * i);
    other.enter(ps(3), 4 - i, ps(100 + (4 - i)), 1 + 0.3 * (4 - i));
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
    port.enter(ps(900 * i), i, ps(load), 1 + i % 3);
    sum += load;
  }
  EXPECT_EQ(port.users().back().end, ps(sum));
}

TEST(PortQueueTest, AnEndThatDoesNotFitIsTheLatestTime) {
  // Twelve users of ten days each are 120 days together; Time holds 106.
  PortQueue port;
  for (int i = 0; i < 12; ++i) {
    port.enter(ps(0), i, Time::from_seconds(10 * 86'400), 1);
  }
  EXPECT_EQ(port.users().back().end, Time::max());
}

TEST(PortQueueDeathTest, LoadAndWeightArePositive) {
  PortQueue port;
  EXPECT_DEATH(port.enter(ps(0), 0, ps(0), 1), "CHECK");
  EXPECT_DEATH(port.enter(ps(0), 0, ps(1), 0), "weight");
}

}  // namespace
}  // namespace moesim
