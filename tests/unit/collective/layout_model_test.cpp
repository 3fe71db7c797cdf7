// Formulas of layout_laws.h on costs t = startup + bytes * slope, in seconds, with round numbers.
#include "sim/collective/layout_model.h"

#include <cmath>

#include <gmock/gmock.h>

#include "sim/base/error.h"
#include "tests/unit/io/error_of.h"

namespace moesim {
namespace {

using enum CollectiveOperation;
using testing::HasSubstr;

constexpr double kRelative = 1e-9;

// A line: `hop` seconds for each other rank, and `slope` seconds a byte.
CollectiveCost line(CollectiveOperation operation, const Layout& layout, double hop, double slope) {
  return {.operation = operation,
          .span = layout.nodes == 1           ? Span::kNode
                  : layout.gpus_per_node == 1 ? Span::kFabric
                                              : Span::kBoth,
          .group_size = layout.size(),
          .num_nodes = layout.nodes,
          .startup_seconds = hop,
          .startup_per = StartupPer::kPeer,
          .seconds_per_byte = slope};
}

// The same measured at some sizes.
CollectiveCost table(CollectiveOperation operation,
                     const Layout& layout,
                     double hop,
                     double slope) {
  CollectiveCost cost = line(operation, layout, hop, slope);
  for (std::int64_t bytes = 1024; bytes <= 1 << 30; bytes *= 2) {
    cost.points.push_back({bytes, hop * (layout.size() - 1) + slope * static_cast<double>(bytes)});
  }
  return cost;
}

Profile profile_of(std::vector<CollectiveCost> costs) {
  Profile profile;
  profile.name = "p";
  profile.collectives = std::move(costs);
  return profile;
}

double estimated(const Profile& profile,
                 CollectiveOperation operation,
                 const Layout& layout,
                 double bytes) {
  return LayoutModel(profile, operation).estimate(layout, bytes).seconds;
}

TEST(WireShareOfLayoutTest, WhatPassesOneNic) {
  const Layout layout{10, 4};  // n = 40, g = 4
  EXPECT_DOUBLE_EQ(wire_share(kAllGather, layout), 39.0 / 40 / 4);
  EXPECT_DOUBLE_EQ(wire_share(kReduceScatter, layout), 39.0 / 40 / 4);
  EXPECT_DOUBLE_EQ(wire_share(kAllReduce, layout), 2 * 39.0 / 40 / 4);
  EXPECT_DOUBLE_EQ(wire_share(kAllToAll, layout), 0.9);
  EXPECT_DOUBLE_EQ(wire_share(kShift, layout), 1);
  EXPECT_DOUBLE_EQ(wire_share(kBroadcast, layout), 0.25);
  EXPECT_DOUBLE_EQ(wire_share(kAllToAll, Layout{1, 8}), 7.0 / 8);
  EXPECT_DOUBLE_EQ(wire_share(kAllReduce, Layout{1, 8}), 14.0 / 8);
}

// A ring of 8 ranks: 7 steps of (hop + message * step slope), the message bytes/8. Of 32 ranks: 31
// steps with messages of bytes/32.
TEST(LayoutModelTest, ARingTakesMoreSteps) {
  const double hop = 1e-5;
  const double step = 1e-9;  // seconds a byte of a message
  const Profile profile = profile_of({line(kAllGather, {2, 4}, hop, 7 * step / 8)});
  const double bytes = 1e6;
  EXPECT_NEAR(estimated(profile, kAllGather, {8, 4}, bytes),
              31 * (hop + step * bytes / 32),
              kRelative * 31 * hop);
  // The same law within a node.
  const Profile node = profile_of({line(kAllReduce, {1, 8}, hop, 14 * step / 8)});
  EXPECT_NEAR(estimated(node, kAllReduce, {1, 4}, bytes),
              3 * (hop + 2 * step * bytes / 4),
              kRelative * 31 * hop);
}

// An all-to-all sends (n-g)/n of its bytes over the NIC at `slope` a byte, and pays n-1 peers.
TEST(LayoutModelTest, AnAllToAllSendsToMorePeers) {
  const double hop = 1e-5;
  const double wire = 1e-9;
  const Profile profile = profile_of({line(kAllToAll, {2, 4}, hop, wire * 4 / 8)});
  EXPECT_NEAR(
      estimated(profile, kAllToAll, {8, 4}, 1e6), 31 * hop + wire * 1e6 * 28 / 32, kRelative);
}

// By a tree the start-up of 31 hops on 8 nodes grows with log2: 5/3 times on 32. A ring would take
// 127 hops.
TEST(LayoutModelTest, AnAllReduceTakesTheFasterOfRingAndTree) {
  const double hop = 1e-5;
  const double slope = 1e-9;
  const Profile profile = profile_of({table(kAllReduce, {8, 4}, hop, slope)});
  EXPECT_NEAR(
      estimated(profile, kAllReduce, {32, 4}, 1e6), 31 * hop * 5 / 3 + slope * 1e6, kRelative);
  // A line is a ring's, whose share of bytes on the wire grows from 31/32 to 127/128.
  const Profile ring = profile_of({line(kAllReduce, {8, 4}, hop, slope)});
  EXPECT_NEAR(
      estimated(ring, kAllReduce, {32, 4}, 1e6), 127 * hop + slope * 1e6 * 127 / 124, kRelative);
}

// n = 40: 39 hops, a quarter of them between nodes; each of 4 NICs carries a quarter of 39/40.
// Measured: one GPU on each of 10 nodes carries 9/10 of its bytes, 8 GPUs in a node 7/8.
TEST(LayoutModelTest, ARingOverTwoLevels) {
  const double between = 9e-6;
  const double inside = 4e-6;
  const double nic = 1.0 / 50e9;
  const double port = 1.0 / 400e9;
  const Profile profile = profile_of({line(kAllGather, {10, 1}, between, nic * 9 / 10),
                                      line(kAllGather, {1, 8}, inside, port * 7 / 8)});
  const double bytes = 1e9;
  // A NIC needs 39/160 * 20 ms = 4.9 ms, a port in the node 39/40 * 2.5 ms = 2.4 ms.
  const double startup = 39 * (between / 4 + inside * 3 / 4);
  const double transfer = bytes * 39 / 40 / 4 * nic;
  const LayoutEstimate estimate = LayoutModel(profile, kAllGather).estimate({10, 4}, bytes);
  EXPECT_NEAR(estimate.seconds, startup + transfer, kRelative);
  EXPECT_EQ(estimate.basis, "from 1 node x 8 GPUs and 10 nodes x 1 GPU");
  EXPECT_TRUE(estimate.extrapolated);
  EXPECT_LE(estimate.low, transfer);
  EXPECT_GE(estimate.high, startup + transfer + bytes * 39 / 40 * port - kRelative);
}

// 36 of 40 parts leave the node, 3 stay in it beside one's own: over the NIC
// 36 * 9 us, then 0.9 bytes * nic; inside at the same time 3 * 4 us, then 3/40 bytes * port. The
// longer start-up counts, and the longer transfer.
TEST(LayoutModelTest, AnAllToAllOverTwoLevelsTakesTheSlower) {
  const double nic = 1.0 / 50e9;
  const double port = 1.0 / 400e9;
  Profile profile = profile_of(
      {line(kAllToAll, {10, 1}, 9e-6, nic * 9 / 10), line(kAllToAll, {1, 8}, 4e-6, port * 7 / 8)});
  EXPECT_NEAR(estimated(profile, kAllToAll, {10, 4}, 1e9), 36 * 9e-6 + 0.9e9 * nic, kRelative);
  profile.collectives[1].seconds_per_byte *= 1000;
  EXPECT_NEAR(estimated(profile, kAllToAll, {10, 4}, 1e9), 36 * 9e-6 + 75e6 * port * 1000, 1e-8);
}

TEST(LayoutModelTest, WhatWasMeasuredIsTaken) {
  const Profile profile =
      profile_of({table(kAllGather, {2, 4}, 1e-5, 1e-9), table(kAllGather, {8, 4}, 1e-4, 1e-8)});
  const LayoutEstimate estimate = LayoutModel(profile, kAllGather).estimate({2, 4}, 1 << 20);
  EXPECT_NEAR(estimate.seconds, 7e-5 + (1 << 20) * 1e-9, kRelative);
  EXPECT_EQ(estimate.low, estimate.seconds);
  EXPECT_EQ(estimate.high, estimate.seconds);
  EXPECT_FALSE(estimate.extrapolated);
}

// Beyond 1 GiB: at the rate of the last points; stated are no change at all and, here narrower on
// the other side, twice the time for twice the bytes.
TEST(LayoutModelTest, SizesBeyondTheMeasuredAreFlagged) {
  const Profile profile = profile_of({table(kAllGather, {2, 4}, 1e-5, 1e-9)});
  const LayoutEstimate estimate =
      LayoutModel(profile, kAllGather).estimate({2, 4}, 2.0 * (1 << 30));
  EXPECT_TRUE(estimate.extrapolated);
  EXPECT_NEAR(estimate.low, 7e-5 + (1 << 30) * 1e-9, kRelative);
  EXPECT_NEAR(estimate.high, 2 * (7e-5 + (1 << 30) * 1e-9), kRelative);
  EXPECT_GT(estimate.seconds, estimate.low);
  EXPECT_LE(estimate.seconds, estimate.high);
}

// From 2 to 8 nodes the wire gets 4^0.25 slower than the law says, so from 8 to 128 it gets
// 16^0.25 = 2 times slower: 127*4/512 of the bytes leave a node.
TEST(LayoutModelTest, CongestionGoesOnWithTheNodeCount) {
  const double wire = 1e-9;
  const double slower = std::pow(4, 0.25);
  const Profile profile = profile_of({table(kAllToAll, {2, 4}, 0, wire * 4 / 8),
                                      table(kAllToAll, {8, 4}, 0, slower * wire * 28 / 32)});
  const double bytes = 1 << 28;
  const LayoutEstimate estimate = LayoutModel(profile, kAllToAll).estimate({128, 4}, bytes);
  EXPECT_NEAR(estimate.seconds, 2 * slower * wire * bytes * 508 / 512, 1e-9);
  // Explained to the last bit: the interval is the point.
  EXPECT_NEAR(estimate.high, estimate.seconds, 1e-9);
  // A rate that rises is no congestion, but the interval then holds what was not explained.
  const Profile rising = profile_of({table(kAllToAll, {2, 4}, 0, wire * 4 / 8),
                                     table(kAllToAll, {8, 4}, 0, wire / slower * 28 / 32)});
  const LayoutEstimate unexplained = LayoutModel(rising, kAllToAll).estimate({128, 4}, bytes);
  EXPECT_NEAR(unexplained.seconds, wire / slower * bytes * 508 / 512, 1e-9);
  EXPECT_NEAR(unexplained.low, unexplained.seconds / 2, 1e-9);
}

TEST(LayoutModelTest, ACalibrationWithoutACheckStatesAnAssumedInterval) {
  const Profile profile = profile_of({table(kAllGather, {2, 4}, 1e-5, 1e-9)});
  const LayoutEstimate estimate = LayoutModel(profile, kAllGather).estimate({8, 4}, 1 << 20);
  EXPECT_NEAR(estimate.high / estimate.seconds, 1.3, kRelative);
  EXPECT_NEAR(estimate.seconds / estimate.low, 1.3, kRelative);
}

TEST(LayoutModelTest, SaysWhatIsMissing) {
  const Profile profile = profile_of({table(kAllGather, {1, 8}, 1e-5, 1e-9)});
  EXPECT_THAT(error_of([&] {
                estimated(profile, kAllGather, {10, 4}, 1e6);
              }),
              HasSubstr("profile 'p' does not tell what ALL_GATHER takes on 10 nodes x 4 GPUs: it "
                        "has 1 node x 8 GPUs; give a log of"));
  EXPECT_THAT(error_of([&] {
                estimated(profile, kAllToAll, {10, 4}, 1e6);
              }),
              HasSubstr("it has no figure for"));
}

}  // namespace
}  // namespace moesim
