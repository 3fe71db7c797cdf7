#include "kernels/device/communicator_plan.h"

#include <gmock/gmock.h>

#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using namespace test;
using ::testing::ElementsAre;

// Groups a (pairs), b (one member each), c (ranks 2, 0, 1 in this order; 3 outside).
class CommunicatorPlanTest : public ::testing::Test {
 protected:
  CommunicatorPlanTest() : hand_(4, {"s", "t"}) {
    a_ = hand_.add_group("a", {{0, 1}, {2, 3}});
    b_ = hand_.add_group("b", {{0}, {1}, {2}, {3}});
    c_ = hand_.add_group("c", {{2, 0, 1}});
  }

  CommunicatorSeat seat(int group, int rank) {
    GroupTable groups;
    groups.update(hand_.program());
    return seat_in(hand_.program(), groups, {group, 0}, rank);
  }

  HandProgram hand_;
  int a_ = 0;
  int b_ = 0;
  int c_ = 0;
};

// One for each group on each stream, by first use; collectives of one rank need none.
TEST_F(CommunicatorPlanTest, OneForEachGroupAndStream) {
  EXPECT_THAT(plan_communicators(hand_.program()), ElementsAre());
  hand_.add_collective("1", 1, all_to_all(a_), ps(1));
  hand_.add_collective("2", 0, all_to_all(b_), ps(1));
  hand_.add_fixed("3", 0, ps(1));
  hand_.add_collective("4", 0, all_to_all(c_), ps(1));
  hand_.add_collective("5", 1, all_to_all(a_), ps(1));
  hand_.add_collective("6", 0, all_to_all(a_), ps(1));
  EXPECT_THAT(plan_communicators(hand_.program()),
              ElementsAre(CommunicatorKey{a_, 1}, CommunicatorKey{c_, 0}, CommunicatorKey{a_, 0}));
}

TEST_F(CommunicatorPlanTest, SeatsFollowTheOrderOfTheGroup) {
  EXPECT_EQ(seat(a_, 2).color, 1);
  EXPECT_EQ(seat(a_, 2).member, 0);
  EXPECT_EQ(seat(a_, 1).color, 0);
  EXPECT_EQ(seat(a_, 1).member, 1);
  EXPECT_EQ(seat(c_, 2).member, 0);
  EXPECT_EQ(seat(c_, 1).member, 2);
  for (const CommunicatorSeat& outside : {seat(c_, 3), seat(b_, 1)}) {
    EXPECT_EQ(outside.color, kNone);
    EXPECT_EQ(outside.member, kNone);
  }
}

}  // namespace
}  // namespace moesim
