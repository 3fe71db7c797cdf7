// Collectives whose groups are on several nodes with several GPUs of each: each expected number is
// the formula of docs/model.md written out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/collective/collective_costs.h"

namespace moesim {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

TEST_F(CollectiveCostTest, AllToAllOverBothSpansUsesBothPortsAtOnce) {
  // 32 ranks, 4 a node. Between nodes: alpha 50, beta 2 per byte, measured over 8 nodes, the same
  // share 7/8 of the bytes. Within: 300 bytes of 3200 pass a port, as of an AllGather of 400 bytes,
  // of which each of 4 GPUs has 100 itself: 400 at the AllGather's 16 per byte of its output.
  profile_.collectives = {make_cost(kAllGather, Span::kNode, 9, 16),
                          make_cost(kAllToAll, Span::kFabric, 50, 2)};
  profile_.collectives[0].group_size = 4;
  profile_.collectives[1].group_size = 8;
  const CollectiveLoad load_ = load(kAllToAll, 3200, ranks(32));
  EXPECT_EQ(load_.startup, ps(50));
  EXPECT_EQ(load_.load, loads(6400, 6400, 6400, 6400));
  EXPECT_EQ(load_.alone(), ps(6450));
  EXPECT_THAT(costs_.assumptions(), SizeIs(1));
}

// Port for port the stand-in is what an AlltoAll within the node of as fast a port would be. An
// AllGather of 8 GPUs has 7/8 of its bytes on the wire: at 8 ps a byte a port passes one in 64/7
// ps, and 300 bytes in 2743 ps. An AlltoAll of 4 GPUs, 3/4 on the wire at 48/7 ps a byte, as well.
TEST_F(CollectiveCostTest, AnAllGatherStandsInWithAsManyBytesOnTheWire) {
  profile_.collectives = {make_cost(kAllGather, Span::kNode, 9, 8),
                          make_cost(kAllToAll, Span::kFabric, 50, 2)};
  profile_.collectives[0].group_size = 8;
  EXPECT_EQ(load(kAllToAll, 3200, ranks(32)).load, loads(2743, 2743, 6400, 6400));
  EXPECT_THAT(costs_.assumptions(),
              Contains("ALL_GATHER within a node: measured in groups of 8, "
                       "here of 4: at as many bytes on the wire"));
  Profile with_own;
  with_own.collectives = {make_cost(kAllToAll, Span::kNode, 9, 48.0 / 7),
                          make_cost(kAllToAll, Span::kFabric, 50, 2)};
  CollectiveCosts costs{program_, cluster_, with_own, valid_rows_};
  Task task;
  task.descriptor = Collective{.operation = kAllToAll, .group = 0, .bytes = 3200};
  EXPECT_EQ(costs.load(task, ranks(32), 0).load, loads(2743, 2743, 6400, 6400));
}

// The law of more steps is that of AlltoAlls on one level; over both, as many bytes on the wire
// count, and the result says the latter.
TEST_F(CollectiveCostTest, AllToAllOverBothSpansSaysWhatWasDone) {
  profile_.collectives = {make_cost(kAllToAll, Span::kFabric, 50, 2)};
  profile_.collectives[0].group_size = 4;
  // 2800 bytes on the wire, of a measured one 3/4: 3200 * (7/8) / (3/4) * 2.
  EXPECT_EQ(load(kAllToAll, 3200, ranks(32)).load, loads(300, 300, 7467, 7467));
  EXPECT_THAT(costs_.assumptions(),
              Contains("ALL_TO_ALL between nodes: measured in groups of 4, "
                       "here of 8: at as many bytes on the wire"));
  EXPECT_THAT(costs_.assumptions(), Not(Contains(HasSubstr("by the law of more steps"))));
}

TEST_F(CollectiveCostTest, AllToAllOverBothSpansPrefersAnAllToAllWithinTheNode) {
  // The node's part is an AlltoAll of 4/32 of the buffer among 4: 400 bytes at 5.
  profile_.collectives = {make_cost(kAllGather, Span::kNode, 9, 16),
                          make_cost(kAllToAll, Span::kNode, 9, 5),
                          make_cost(kAllToAll, Span::kFabric, 50, 2)};
  EXPECT_EQ(load(kAllToAll, 3200, ranks(32)).load, loads(2000, 2000, 6400, 6400));
}

TEST_F(CollectiveCostTest, AllToAllOverBothSpansFromPortRates) {
  // 3200 bytes: 28/32 between nodes, 3/32 within; 31 peers at latency 10.
  cluster_.inter_node.latency_seconds = 10e-12;
  const CollectiveLoad load_ = load(kAllToAll, 3200, ranks(32));
  EXPECT_EQ(load_.startup, ps(310));
  EXPECT_EQ(load_.load, loads(300, 300, 2800, 2800));
}

TEST_F(CollectiveCostTest, AllToAllWithUnevenNodes) {
  // Ranks 0, 1, 2 on one node, 4 on another: 0 sends 1/4 off its node, 4 sends 3/4. The figure was
  // measured over 2 nodes, where half of the bytes cross.
  profile_.collectives = {make_cost(kAllToAll, Span::kFabric, 0, 1)};
  profile_.collectives[0].group_size = 2;
  const std::vector<int> members = {0, 1, 2, 4};
  EXPECT_EQ(load(kAllToAll, 400, members, 0).load, loads(200, 200, 200, 200));
  EXPECT_EQ(load(kAllToAll, 400, members, 3).load, loads(0, 0, 600, 600));
}

// 32 ranks, 4 on each of 8 nodes: of 31 hops 8/32 cross nodes. All-gather of 3200 bytes: a port in
// the node carries 31/32 of them, each of the 4 NICs a quarter of that. A ring that was measured
// over 8 nodes carries 7/8 of its bytes, one over 4 GPUs 3/4.
TEST_F(CollectiveCostTest, ARingOverBothSpansTakesWhatItsLevelsTake) {
  profile_.collectives = {make_cost(kAllGather, Span::kNode, 9, 3),
                          make_cost(kAllGather, Span::kFabric, 50, 14)};
  // 3100 / (3/4) * 3 and 775 / (7/8) * 14; start-ups that are paid once are.
  const CollectiveLoad once = load(kAllGather, 3200, ranks(32));
  EXPECT_EQ(once.startup, ps(59));
  EXPECT_EQ(once.load, loads(12400, 12400, 12400, 12400));
  EXPECT_THAT(costs_.assumptions(), Contains(HasSubstr("from what it takes within a node and")));
}

TEST_F(CollectiveCostTest, StartUpsOfARingOverBothSpansAreThoseOfItsHops) {
  profile_.collectives = {make_cost(kAllGather, Span::kNode, 16, 3),
                          make_cost(kAllGather, Span::kFabric, 64, 14)};
  profile_.collectives[0].startup_per = profile_.collectives[1].startup_per = StartupPer::kPeer;
  EXPECT_EQ(load(kAllGather, 3200, ranks(32)).startup, ps(31 * 64 / 4 + 31 * 16 * 3 / 4));
}

// What the profile lacks of the two the cluster's ports carry, at 1 ps a byte; 23.25 hops within a
// node at their latency of 8 ps.
TEST_F(CollectiveCostTest, ARingOverBothSpansTakesPortsWhereALevelHasNoFigure) {
  cluster_.intra_node.latency_seconds = 8e-12;
  profile_.collectives = {make_cost(kAllGather, Span::kFabric, 50, 14)};
  const CollectiveLoad load_ = load(kAllGather, 3200, ranks(32));
  EXPECT_EQ(load_.startup, ps(50 + 186));
  EXPECT_EQ(load_.load, loads(3100, 3100, 12400, 12400));
}

TEST_F(CollectiveCostTest, ARingOverBothSpansSaysWhenNothingIsKnownWithinANode) {
  cluster_.intra_node.bytes_per_second = 0;
  profile_.collectives = {make_cost(kAllGather, Span::kFabric, 50, 14)};
  EXPECT_EQ(load(kAllGather, 3200, ranks(32)).load, loads(0, 0, 12400, 12400));
  EXPECT_THAT(costs_.assumptions(), Contains(HasSubstr("is not known and counts as nothing")));
}

// An entry of 2 GPUs on each node says less of 4 than its levels do.
TEST_F(CollectiveCostTest, LevelsWinOverAFigureOfOtherNodes) {
  profile_.collectives = {make_cost(kAllGather, Span::kNode, 9, 3),
                          make_cost(kAllGather, Span::kFabric, 50, 14),
                          make_cost(kAllGather, Span::kBoth, 1, 1)};
  profile_.collectives[2].group_size = 16;
  profile_.collectives[2].num_nodes = 8;
  EXPECT_EQ(load(kAllGather, 3200, ranks(32)).startup, ps(59));
  profile_.collectives.erase(profile_.collectives.begin());
  // 3200 * (31/32) / (15/16), to the picosecond above.
  CollectiveCosts costs{program_, cluster_, profile_, valid_rows_};
  Task task;
  task.descriptor = Collective{.operation = kAllGather, .group = 0, .bytes = 3200};
  EXPECT_EQ(costs.load(task, ranks(32), 0).load, loads(3307, 3307, 3307, 3307));
}

TEST_F(CollectiveCostTest, AFigureForBothSpansLoadsBothPorts) {
  profile_.collectives = {make_cost(kAllReduce, Span::kBoth, 5, 2)};
  EXPECT_EQ(load(kAllReduce, 100, ranks(32)).load, loads(200, 200, 200, 200));
}

}  // namespace
}  // namespace moesim
