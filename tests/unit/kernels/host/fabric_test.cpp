#include "kernels/host/fabric.h"

#include <gmock/gmock.h>

#include "kernels/row_spans.h"
#include "sim/base/error.h"
#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using test::HandProgram;
using testing::ElementsAre;

// Two nodes of two GPUs. GPU 0's ports are links 0 to 3: into the node out and in, between nodes
// out and in; GPU 1's 4 to 7, and so on.
Cluster two_nodes() {
  Cluster cluster;
  cluster.name = "two nodes";
  cluster.num_nodes = 2;
  cluster.gpus_per_node = 2;
  cluster.intra_node = {4e9, 1e-6};
  cluster.inter_node = {1e9, 5e-6};
  return cluster;
}

TEST(FabricTest, FlowsGoThroughThePortsOfTheirReach) {
  const HandProgram hand(4, {"s"});
  const Fabric fabric(two_nodes(), hand.program());
  ASSERT_EQ(fabric.rates().size(), 16U);
  EXPECT_EQ(fabric.rates()[4], 4e9);
  EXPECT_EQ(fabric.rates()[7], 1e9);
  // Of the three members, 0 and 1 share a node. What a member keeps and pairs without bytes cross
  // no link.
  const Traffic traffic = {{9, 1, 2}, {0, 9, 0}, {3, 0, 9}};
  EXPECT_THAT(fabric.flows(traffic, {0, 1, 2}),
              ElementsAre(Flow{1, {0, 5}}, Flow{2, {2, 11}}, Flow{3, {10, 3}}));
  EXPECT_EQ(fabric.latency({0, 1}), Time::from_picoseconds(1'000'000));
  EXPECT_EQ(fabric.latency({0, 1, 2}), Time::from_picoseconds(5'000'000));
}

TEST(FabricTest, RefusesAClusterThatIsTooSmall) {
  const HandProgram hand(5, {"s"});
  EXPECT_THROW(Fabric(two_nodes(), hand.program()), Error);
}

TEST(FabricTest, TrafficOfCollectivesWithoutRegions) {
  HandProgram hand(3, {"s"});
  Collective collective = test::all_to_all(hand.add_group("all", {{0, 1, 2}}));
  collective.bytes = 12;
  const std::vector<int> members = {0, 1, 2};
  const auto traffic = [&](CollectiveOperation operation) {
    collective.operation = operation;
    return traffic_of(hand.program(), collective, members);
  };
  EXPECT_THAT(traffic(CollectiveOperation::kAllToAll)[1], ElementsAre(4, 4, 4));
  EXPECT_THAT(traffic(CollectiveOperation::kAllGather)[1], ElementsAre(4, 4, 4));
  EXPECT_THAT(traffic(CollectiveOperation::kReduceScatter)[1], ElementsAre(4, 4, 4));
  EXPECT_THAT(traffic(CollectiveOperation::kAllReduce)[1], ElementsAre(8, 8, 8));
  collective.root = 1;
  EXPECT_THAT(traffic(CollectiveOperation::kBroadcast),
              ElementsAre(ElementsAre(0, 0, 0), ElementsAre(12, 12, 12), ElementsAre(0, 0, 0)));
  collective.distance = -1;
  EXPECT_THAT(traffic(CollectiveOperation::kShift),
              ElementsAre(ElementsAre(0, 0, 0), ElementsAre(12, 0, 0), ElementsAre(0, 12, 0)));
  collective.wrap = true;
  EXPECT_THAT(traffic(CollectiveOperation::kShift)[0], ElementsAre(0, 0, 12));
}

// Rank 1 sends the most, 8 tokens for 16 bytes: 2 bytes a token. Experts 0, 1 are member 0's.
TEST(FabricTest, TrafficFollowsARouting) {
  HandProgram hand(2, {"s"});
  Collective collective = test::all_to_all(hand.add_group("all", {{0, 1}}));
  collective.bytes = 16;
  collective.routing = 0;
  Program program = hand.program();
  program.routings = {{"skewed", {{1, 0, 3, 2}, {4, 1, 0, 3}}}};
  EXPECT_THAT(traffic_of(program, collective, {0, 1}),
              ElementsAre(ElementsAre(2, 10), ElementsAre(10, 6)));
}

// An all-reduce of 8 rows of 2 bytes by 4 members: each sends 2 rows of every part to its owner and
// the 2 rows of its own part to everybody, 4 + 4 bytes for each pair.
TEST(FabricTest, TrafficOfAPlanCountsAllSteps) {
  HandProgram hand(4, {"s"});
  const int group = hand.add_group("all", {{0, 1, 2, 3}});
  const int tensor = hand.add_tensor("x", 8, true);
  Task task;
  task.stream = 0;
  task.reads = task.writes = {test::rows(hand.program(), tensor)};
  Collective collective;
  collective.group = group;
  task.descriptor = collective;
  hand.add(task, Time::zero());
  const RowMap map(hand.program());
  const MovePlan plan = plan_collective(map, hand.program().tasks[0], {0, 1, 2, 3});
  const Traffic traffic = traffic_of(plan, 2, 4);
  for (int from = 0; from < 4; ++from) {
    for (int to = 0; to < 4; ++to) {
      if (from != to) {
        EXPECT_EQ(traffic[from][to], 8);
      }
    }
  }
}

}  // namespace
}  // namespace moesim
