// Loads of collectives on the ports: each expected number is the formula of docs/model.md written
// out. Times are in picoseconds (make_cost), rates one byte per picosecond (make_cluster).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "tests/unit/collective/collective_costs.h"

namespace moesim {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(CollectiveCostTest, ProfileWinsAndLoadsThePortOfItsSpan) {
  profile_.collectives = {make_cost(kAllGather, Span::kNode, 5, 2),
                          make_cost(kAllGather, Span::kFabric, 7, 3)};
  profile_.collectives[0].group_size = 4;
  profile_.collectives[1].group_size = 8;
  const CollectiveLoad inside = load(kAllGather, 100, ranks(4));
  EXPECT_EQ(inside.startup, ps(5));
  EXPECT_EQ(inside.load, loads(200, 200, 0, 0));
  EXPECT_EQ(inside.alone(), ps(205));
  const CollectiveLoad across = load(kAllGather, 100, ranks(8, 0, 4));
  EXPECT_EQ(across.startup, ps(7));
  EXPECT_EQ(across.load, loads(0, 0, 300, 300));
  EXPECT_THAT(costs_.assumptions(), IsEmpty());
}

// Two entries of 8 ranks, on 4 nodes (5 ps) and on 2 (7 ps).
std::vector<CollectiveCost> on_four_and_on_two_nodes() {
  std::vector<CollectiveCost> costs = {make_cost(kAllGather, Span::kBoth, 5, 2),
                                       make_cost(kAllGather, Span::kBoth, 7, 3)};
  costs[0].group_size = costs[1].group_size = 8;
  costs[0].num_nodes = 4;
  costs[1].num_nodes = 2;
  return costs;
}

TEST_F(CollectiveCostTest, OfEntriesOfOneSizeTheNumberOfNodesDecides) {
  profile_.collectives = on_four_and_on_two_nodes();
  EXPECT_EQ(load(kAllGather, 100, ranks(8)).startup, ps(7));
}

TEST_F(CollectiveCostTest, TheSizeDecidesBeforeTheNumberOfNodes) {
  profile_.collectives = on_four_and_on_two_nodes();
  profile_.collectives[1].group_size = 10;
  EXPECT_EQ(load(kAllGather, 100, ranks(8)).startup, ps(5));
}

TEST_F(CollectiveCostTest, AGroupOfOneIsFree) {
  EXPECT_EQ(load(kAllReduce, 100, {3}), CollectiveLoad());
  EXPECT_THAT(costs_.assumptions(), IsEmpty());
}

TEST_F(CollectiveCostTest, StartupPerPeer) {
  profile_.collectives = {make_cost(kAllToAll, Span::kFabric, 5, 1)};
  profile_.collectives[0].startup_per = StartupPer::kPeer;
  EXPECT_EQ(load(kAllToAll, 100, ranks(8, 0, 4)).startup, ps(35));
}

TEST_F(CollectiveCostTest, ExactSizeThenNearestByTheLawOfMoreSteps) {
  profile_.collectives = {make_cost(kAllGather, Span::kFabric, 0, 7),
                          make_cost(kAllGather, Span::kFabric, 0, 1),
                          make_cost(kAllGather, Span::kFabric, 0, 10)};
  profile_.collectives[1].group_size = 2;
  profile_.collectives[2].group_size = 8;
  EXPECT_EQ(load(kAllGather, 100, ranks(8, 0, 4)).alone(), ps(1000));
  EXPECT_THAT(costs_.assumptions(), IsEmpty());
  // 3 is nearest to 2: 100 * (2/3) / (1/2).
  EXPECT_EQ(load(kAllGather, 300, ranks(3, 0, 4)).alone(), ps(400));
  EXPECT_THAT(costs_.assumptions(), Contains(HasSubstr("groups of 2, taken to groups of 3")));
  // 4 is half of 8 and twice 2: the first of the two, 400 * (3/4) / (1/2).
  EXPECT_EQ(load(kAllGather, 400, ranks(4, 0, 4)).alone(), ps(600));
}

TEST_F(CollectiveCostTest, AnUnstatedSizeServesAnyGroup) {
  profile_.collectives = {make_cost(kAllReduce, Span::kNode, 0, 3)};
  EXPECT_EQ(load(kAllReduce, 100, ranks(2)).alone(), ps(300));
  EXPECT_EQ(load(kAllReduce, 100, ranks(4)).alone(), ps(300));
}

TEST_F(CollectiveCostTest, TablesAreInterpolatedAndFlaggedOutside) {
  CollectiveCost table = make_cost(kAllReduce, Span::kNode, 10, 0);
  table.points = {{100, 110e-12}, {1000, 1010e-12}};
  profile_.collectives = {table};
  const CollectiveLoad inside = load(kAllReduce, 1000, ranks(4));
  EXPECT_EQ(inside.startup, ps(10));
  EXPECT_EQ(inside.load[0], ps(1000));
  EXPECT_THAT(costs_.assumptions(), IsEmpty());
  load(kAllReduce, 2000, ranks(4));
  load(kAllReduce, 3000, ranks(4));
  EXPECT_THAT(costs_.assumptions(), SizeIs(1));
  EXPECT_THAT(costs_.assumptions()[0], HasSubstr("measured from 100 B to 1000 B"));
}

TEST_F(CollectiveCostTest, PortRatesStandInForAMissingFigure) {
  // All-reduce on 4: 2*3/4 of 100 bytes at 1 ps; latency 10 for each of 6 steps.
  cluster_.intra_node.latency_seconds = 10e-12;
  const CollectiveLoad load_ = load(kAllReduce, 100, ranks(4));
  EXPECT_EQ(load_.startup, ps(60));
  EXPECT_EQ(load_.load, loads(150, 150, 0, 0));
  EXPECT_THAT(costs_.assumptions(), SizeIs(1));
  EXPECT_THAT(costs_.assumptions()[0], HasSubstr("ALL_REDUCE within a node: not in the profile"));
}

TEST_F(CollectiveCostTest, AnAllReduceIsItsHalvesWhereItHasNoFigure) {
  profile_.collectives = {make_cost(CollectiveOperation::kReduceScatter, Span::kNode, 5, 2),
                          make_cost(kAllGather, Span::kNode, 7, 3)};
  // Startups 5 + 7, then 100 bytes at 2 + 3 ps.
  const CollectiveLoad sum = load(kAllReduce, 100, ranks(4));
  EXPECT_EQ(sum.startup, ps(12));
  EXPECT_EQ(sum.load, loads(500, 500, 0, 0));
  EXPECT_THAT(costs_.assumptions(), Contains(HasSubstr("its REDUCE_SCATTER and ALL_GATHER")));
}

// Halves on links of theirs do not say which links the whole fills: it loads the port, 100 bytes at
// 2 + 3 ps. It is the whole's own time only where both halves are their own.
TEST_F(CollectiveCostTest, HalvesOnLinksLoadThePortOfTheWhole) {
  profile_.collectives = {make_cost(CollectiveOperation::kReduceScatter, Span::kNode, 5, 2),
                          make_cost(kAllGather, Span::kNode, 7, 3),
                          make_cost(CollectiveOperation::kReduceScatter, Span::kFabric, 5, 2),
                          make_cost(kAllGather, Span::kFabric, 7, 3)};
  for (CollectiveCost& half : profile_.collectives) {
    half.bottleneck = BottleneckPlace::kPrivate;
  }
  profile_.collectives[0].bottleneck = BottleneckPlace::kLink;
  const CollectiveLoad inside = load(kAllReduce, 100, ranks(4));
  EXPECT_EQ(inside.load, loads(500, 500, 0, 0));
  EXPECT_EQ(inside.of_its_own, Time::zero());
  const CollectiveLoad across = load(kAllReduce, 100, ranks(8, 0, 4));
  EXPECT_EQ(across.load, loads(0, 0, 0, 0));
  EXPECT_EQ(across.of_its_own, ps(500));
}

TEST_F(CollectiveCostTest, FasterPortsScaleWhatWasMeasuredOnSlowerOnes) {
  profile_.collectives = {make_cost(kAllGather, Span::kNode, 5, 2),
                          make_cost(kAllToAll, Span::kFabric, 7, 3)};
  profile_.inter_node_rate = cluster_.inter_node.bytes_per_second / 4;
  // Transfers 100 * 3 / 4, the start-up stays; within the node nothing is said, nothing scales.
  const CollectiveLoad across = load(kAllToAll, 100, ranks(8, 0, 4));
  EXPECT_EQ(across.startup, ps(7));
  EXPECT_EQ(across.load, loads(0, 0, 75, 75));
  EXPECT_EQ(load(kAllGather, 100, ranks(4)).load, loads(200, 200, 0, 0));
  EXPECT_THAT(costs_.assumptions(), Contains(HasSubstr("transfers scaled to")));
}

// A profile's text has nine digits of a rate, the rate of a graph's port sixteen.
TEST_F(CollectiveCostTest, RatesThatReadAlikeAreEqual) {
  profile_.collectives = {make_cost(kAllToAll, Span::kFabric, 7, 3)};
  profile_.inter_node_rate = cluster_.inter_node.bytes_per_second * (1 + 1e-10);
  EXPECT_EQ(load(kAllToAll, 100, ranks(8, 0, 4)).load, loads(0, 0, 300, 300));
  EXPECT_THAT(costs_.assumptions(), testing::IsEmpty());
}

TEST_F(CollectiveCostTest, NoFigureAtAllIsAnError) {
  cluster_.intra_node.bytes_per_second = 0;
  EXPECT_THROW(load(kAllReduce, 100, ranks(4)), Error);
}

TEST_F(CollectiveCostTest, AbsurdTimesAreAnError) {
  profile_.collectives = {make_cost(kAllReduce, Span::kNode, 0, 1e12)};
  EXPECT_EQ(load(kAllReduce, 1000, ranks(4)).alone(), Time::from_seconds(1000));
  EXPECT_THROW(load(kAllReduce, 1'000'000'000, ranks(4)), Error);
}

TEST_F(CollectiveCostTest, MembersInAnyOrderSitWhereTheySit) {
  // Group order 0, 4, 1, 5: distance 1 always crosses, distance 2 never.
  const std::vector<int> members = {0, 4, 1, 5};
  Collective shift{.operation = kShift, .group = 0, .bytes = 10, .distance = 1, .wrap = true};
  EXPECT_EQ(load(shift, members, 2).load, loads(0, 0, 10, 10));
  shift.distance = 2;
  EXPECT_EQ(load(shift, members, 2).load, loads(10, 10, 0, 0));
}

TEST_F(CollectiveCostTest, ARoutingWithoutRegionsDecidesWhatEachMemberMoves) {
  // Two nodes of two; member j has expert j. Bytes are those of the members with the most tokens,
  // four: 100 a token. Every byte is one picosecond on its port.
  cluster_ = make_cluster(2, 2);
  program_.routings = {
      {.name = "skew", .tokens = {{4, 0, 0, 0}, {1, 1, 1, 1}, {0, 2, 2, 0}, {1, 0, 0, 3}}}};
  const Collective exchange{.operation = kAllToAll, .group = 0, .bytes = 400, .routing = 0};
  // 0 keeps all it has; one token comes from 1 on its node, one from 3.
  EXPECT_EQ(load(exchange, ranks(4), 0).load, loads(0, 100, 0, 100));
  // 1 sends one to 0 and two across; two come from 2.
  EXPECT_EQ(load(exchange, ranks(4), 1).load, loads(100, 0, 200, 200));
  // 3 sends one across and gets one from 1.
  EXPECT_EQ(load(exchange, ranks(4), 3).load, loads(0, 0, 100, 100));
}

TEST_F(CollectiveCostTest, ABalancedRoutingIsTheNominalSize) {
  profile_.collectives = {make_cost(kAllToAll, Span::kFabric, 50, 3)};
  program_.routings = {{.name = "even", .tokens = std::vector(32, std::vector<int>(8, 5))}};
  Collective exchange{.operation = kAllToAll, .group = 0, .bytes = 8000};
  const CollectiveLoad nominal = load(exchange, ranks(8, 0, 4), 2);
  exchange.routing = 0;
  EXPECT_EQ(load(exchange, ranks(8, 0, 4), 2), nominal);
}

}  // namespace
}  // namespace moesim
