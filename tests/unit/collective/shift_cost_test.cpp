// SHIFT: each expected number is the formula of docs/model.md written out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/collective/collective_costs.h"

namespace moesim {
namespace {

TEST_F(CollectiveCostTest, ShiftIsOneStepOfAnAllToAll) {
  // 8 nodes: alpha 70 / 7 steps; of the AlltoAll's buffer 7/8 crosses in 7 steps, so that a step of
  // b bytes transfers 2 * 8/7 * b.
  profile_.collectives = {make_cost(kAllToAll, Span::kFabric, 70, 2)};
  profile_.collectives[0].group_size = 8;
  const CollectiveLoad load_ = load(
      {.operation = kShift, .group = 0, .bytes = 700, .distance = 3, .wrap = true}, ranks(8, 0, 4));
  EXPECT_EQ(load_.startup, ps(10));
  EXPECT_EQ(load_.load, loads(0, 0, 1600, 1600));
}

TEST_F(CollectiveCostTest, AllStepsOfAShiftAddUpToTheAllToAll) {
  // Parm's kernel over 32 ranks: the 31 shifts of 1/32 of the buffer take what the AlltoAll takes
  // on each port, on average over a node's ranks (who is near depends on the distance).
  profile_.collectives = {make_cost(kAllGather, Span::kNode, 9, 16),
                          make_cost(kAllToAll, Span::kFabric, 310, 2)};
  profile_.collectives[0].group_size = 4;
  profile_.collectives[1].group_size = 8;
  const CollectiveLoad whole = load(kAllToAll, 32 * 21'000, ranks(32));
  CollectiveLoad sum;
  for (int distance = 1; distance < 32; ++distance) {
    const CollectiveLoad step =
        load({.operation = kShift, .group = 0, .bytes = 21'000, .distance = distance, .wrap = true},
             ranks(32),
             5);
    sum.startup += step.startup;
    for (int port = 0; port < kNumPorts; ++port) {
      sum.load[port] += step.load[port];
    }
  }
  EXPECT_EQ(sum, whole);
}

// Without an AlltoAll between nodes a SHIFT within one pays one hop of the AllGather that stands
// in: 4 GPUs, an output of 4 b in 3 hops of b: a hop of 300 bytes is 1200 * 16 / 3.
TEST_F(CollectiveCostTest, ShiftWithinANodeIsAHopOfTheAllGatherThatStandsIn) {
  profile_.collectives = {make_cost(kAllGather, Span::kNode, 9, 16)};
  profile_.collectives[0].startup_per = StartupPer::kPeer;
  profile_.collectives[0].group_size = 4;
  const CollectiveLoad step = load(
      {.operation = kShift, .group = 0, .bytes = 300, .distance = 1, .wrap = true}, ranks(32), 1);
  EXPECT_EQ(step.startup, ps(9));
  EXPECT_EQ(step.load, loads(6400, 6400, 0, 0));
}

// A table of 4 nodes, of which 8 send messages as large: one of b bytes is one of the 3 of an
// AlltoAll of 4 b: 400 bytes there take 90, each of its messages 30.
TEST_F(CollectiveCostTest, AStepOfAMeasuredTableIsOneOfItsMessages) {
  CollectiveCost table = make_cost(kAllToAll, Span::kFabric, 0, 0);
  table.group_size = 4;
  table.points = {{100, 60e-12}, {400, 90e-12}, {1600, 480e-12}};
  profile_.collectives = {table};
  const CollectiveLoad step = load(
      {.operation = kShift, .group = 0, .bytes = 100, .distance = 1, .wrap = true}, ranks(8, 0, 4));
  EXPECT_EQ(step.load, loads(0, 0, 30, 30));
}

TEST_F(CollectiveCostTest, ShiftCrossesThePortThatItsDistanceSays) {
  // Distance 1 over nodes of four: rank 0 sends within its node and receives from rank 31, rank 3
  // sends across and receives within, ranks 1 and 2 do both within. 1 ps a byte on every port.
  const Collective shift{.operation = kShift, .group = 0, .bytes = 10, .distance = 1, .wrap = true};
  EXPECT_EQ(load(shift, ranks(32), 0).load, loads(10, 0, 0, 10));
  EXPECT_EQ(load(shift, ranks(32), 1).load, loads(10, 10, 0, 0));
  EXPECT_EQ(load(shift, ranks(32), 3).load, loads(0, 10, 10, 0));
}

TEST_F(CollectiveCostTest, ShiftWithoutWrapEndsAtTheEnds) {
  Collective shift{.operation = kShift, .group = 0, .bytes = 10, .distance = 1, .wrap = false};
  EXPECT_EQ(load(shift, ranks(4), 0).load, loads(10, 0, 0, 0));
  EXPECT_EQ(load(shift, ranks(4), 3).load, loads(0, 10, 0, 0));
  shift.distance = -1;
  EXPECT_EQ(load(shift, ranks(4), 0).load, loads(0, 10, 0, 0));
  EXPECT_EQ(load(shift, ranks(4), 3).load, loads(10, 0, 0, 0));
}

TEST_F(CollectiveCostTest, ShiftByNothingIsALocalCopy) {
  cluster_.intra_node.latency_seconds = 10e-12;
  for (const int distance : {0, 4, -8}) {
    const Collective shift{
        .operation = kShift, .group = 0, .bytes = 10, .distance = distance, .wrap = true};
    EXPECT_EQ(load(shift, ranks(4), 1).alone(), Time::zero());
  }
}

TEST_F(CollectiveCostTest, AShiftOfItsOwnInTheProfileWins) {
  profile_.collectives = {make_cost(kShift, Span::kFabric, 4, 3),
                          make_cost(kAllToAll, Span::kFabric, 70, 2)};
  const CollectiveLoad load_ = load(
      {.operation = kShift, .group = 0, .bytes = 10, .distance = 1, .wrap = true}, ranks(8, 0, 4));
  EXPECT_EQ(load_.startup, ps(4));
  EXPECT_EQ(load_.load, loads(0, 0, 30, 30));
}

}  // namespace
}  // namespace moesim
