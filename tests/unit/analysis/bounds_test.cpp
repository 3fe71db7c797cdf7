#include "sim/analysis/bounds.h"

#include <gtest/gtest.h>

#include "tests/support/hand_program.h"
#include "tests/support/rank_work.h"

namespace moesim {
namespace {

using test::all_to_all;
using test::HandProgram;
using test::ps;
using test::work_of_ranks;

LowerBounds bounds_of(const HandProgram& hand) {
  return lower_bounds(hand.program(), work_of_ranks(hand.program(), hand.durations()));
}

// compute has 3 + 4 + 2 = 9, inter 5 + 5 = 10. The longest chain is a, x, c: 3 + 5 + 2 = 10; y only
// shares a stream with x.
TEST(BoundsTest, BusiestStreamAndLongestChain) {
  HandProgram hand(1, {"compute", "inter"});
  const int a = hand.add_fixed("a", 0, ps(3));
  hand.add_fixed("b", 0, ps(4));
  const int x = hand.add_fixed("x", 1, ps(5), {a});
  hand.add_fixed("y", 1, ps(5));
  hand.add_fixed("c", 0, ps(2), {x});
  const LowerBounds bounds = bounds_of(hand);
  EXPECT_EQ(bounds.busiest, ps(10));
  EXPECT_EQ(bounds.busiest_name, "stream inter");
  EXPECT_EQ(bounds.dependency_chain, ps(10));
}

TEST(BoundsTest, NothingToDo) {
  const LowerBounds bounds = bounds_of(HandProgram(1, {"compute"}));
  EXPECT_EQ(bounds.busiest, ps(0));
  EXPECT_EQ(bounds.busiest_name, "");
  EXPECT_EQ(bounds.dependency_chain, ps(0));
}

// The order that `order_only` and hosts add could be another one.
TEST(BoundsTest, OrderAloneIsNoChain) {
  HandProgram hand(1, {"compute", "inter"});
  const int a = hand.add_fixed("a", 0, ps(3));
  const int x = hand.add_fixed("x", 1, ps(5));
  hand.task(x).order_only = {a};
  EXPECT_EQ(bounds_of(hand).dependency_chain, ps(5));
}

// Rank 2 takes five times as long: its stream is the busiest, and its chain the longest.
TEST(BoundsTest, TheSlowestRankCounts) {
  HandProgram hand(3, {"compute"});
  hand.add_fixed("a", 0, ps(4));
  Program program = hand.program();
  program.rank_scale = {1, 3, 5};
  program.roles = {{"first", {0}}, {"second", {1, 2}}};
  const LowerBounds bounds = lower_bounds(program, work_of_ranks(program, hand.durations()));
  EXPECT_EQ(bounds.busiest, ps(20));
  EXPECT_EQ(bounds.dependency_chain, ps(20));
}

// Rank 1 computes 4 * 3 before the exchange (2), rank 0 computes 6 * 2 after it: the chain changes
// ranks where the collective does. 12 + 2 + 12.
TEST(BoundsTest, ChainsCrossRanksInCollectives) {
  HandProgram hand(2, {"compute", "inter"});
  const int world = hand.add_group("world", {{0, 1}});
  const int a = hand.add_fixed("a", 0, ps(4));
  const int b = hand.add_fixed("b", 0, ps(0));
  const int x = hand.add_collective("x", 1, all_to_all(world), ps(2), {a, b});
  hand.add_fixed("c", 0, ps(6), {x});
  std::vector<RankWork> ranks = work_of_ranks(hand.program(), hand.durations());
  ranks[1].durations[a] = ps(12);
  ranks[0].durations[3] = ps(12);
  EXPECT_EQ(lower_bounds(hand.program(), ranks).dependency_chain, ps(26));
}

// Stage 0 computes 4 and sends (2); stage 1 receives and computes 6. The chain runs through the
// exchange, although the two stages call it by two names: 4 + 2 + 6.
TEST(BoundsTest, ChainsCrossRolesInCollectives) {
  HandProgram hand(2, {"compute", "inter"});
  const int pp = hand.add_group("pp", {{0, 1}});
  const int a = hand.add_fixed("a", 0, ps(4));
  const int send = hand.add_collective("send", 1, all_to_all(pp), ps(2), {a});
  const int receive = hand.add_collective("receive", 1, all_to_all(pp), ps(2));
  const int b = hand.add_fixed("b", 0, ps(6), {receive});
  hand.task(a).roles = {0};
  hand.task(send).roles = {0};
  hand.task(receive).roles = {1};
  hand.task(b).roles = {1};
  Program program = hand.program();
  program.roles = {{"first", {0}}, {"second", {1}}};
  EXPECT_EQ(lower_bounds(program, work_of_ranks(program, hand.durations())).dependency_chain,
            ps(12));
}

}  // namespace
}  // namespace moesim
