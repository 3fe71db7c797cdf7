// One law, one place: what the simulator takes for a collective alone is what LayoutModel predicts
// (`moesim predict-collective`), from the same profile and layout.
#include <cmath>

#include <gtest/gtest.h>

#include "sim/collective/layout_model.h"
#include "sim/engine/simulate.h"
#include "tests/unit/engine/program_maker.h"

namespace moesim {
namespace {

using enum CollectiveOperation;

// The start-up and the transfer are whole picoseconds each.
constexpr double kRounding = 1e-12;

// Times as of a network whose small messages are slow: bytes^0.8 above 5 us for each other rank.
CollectiveCost table(CollectiveOperation operation, const Layout& layout, double slowness = 1) {
  CollectiveCost cost{.operation = operation,
                      .span = layout.nodes == 1           ? Span::kNode
                              : layout.gpus_per_node == 1 ? Span::kFabric
                                                          : Span::kBoth,
                      .group_size = layout.size(),
                      .num_nodes = layout.nodes,
                      .startup_seconds = layout.nodes == 1 ? 2e-6 : 5e-6,
                      .startup_per = StartupPer::kPeer};
  const double startup = cost.startup_seconds * (layout.size() - 1);
  const double rate = layout.nodes == 1 ? 6e9 : 1e9;
  for (std::int64_t bytes = 1024; bytes <= 1 << 30; bytes *= 4) {
    const double transfer = slowness * std::pow(static_cast<double>(bytes), 0.8) / rate * 40;
    cost.points.push_back({bytes, startup + transfer});
  }
  return cost;
}

double simulated(const Profile& profile,
                 CollectiveOperation operation,
                 const Layout& layout,
                 std::int64_t bytes) {
  ProgramMaker maker(layout.size());
  std::vector<int> members(layout.size());
  for (int rank = 0; rank < layout.size(); ++rank) {
    members[rank] = rank;
  }
  maker.collective(
      "communication",
      {.operation = operation, .group = maker.group("all", {members}), .bytes = bytes});
  const Cluster cluster = make_cluster(layout.nodes, layout.gpus_per_node);
  return simulate(maker.program(), &cluster, &profile).end.seconds();
}

void expect_as_predicted(const Profile& profile,
                         CollectiveOperation operation,
                         const Layout& layout) {
  for (const std::int64_t bytes : {4096, 1 << 20, 1 << 28}) {
    const double predicted =
        LayoutModel(profile, operation).estimate(layout, static_cast<double>(bytes)).seconds;
    EXPECT_NEAR(simulated(profile, operation, layout, bytes), predicted, kRounding)
        << to_string(operation) << " on " << to_string(layout) << " of " << bytes;
  }
}

// 40 ranks, 4 on each of 10 nodes, all-gather of 4e9 bytes in lines. 10 of 40 hops cross nodes:
// start-up 39 (10/40 * 5 us + 30/40 * 2 us) = 107.25 us. A NIC carries 39/40/4 of the bytes, where
// the measured one carried 9/10 of its own in 0.9 * 20 ps each: 975e6 * 20 ps = 19.5 ms; a port in
// the node 39/40 at 0.75 * 4 ps / 0.75: 3.9e9 * 4 ps = 15.6 ms, at the same time.
TEST(LayoutPricesTest, ARingOverNodesAndGpusByHand) {
  Profile profile;
  profile.collectives = {table(kAllGather, {10, 1}), table(kAllGather, {1, 4})};
  for (CollectiveCost& cost : profile.collectives) {
    cost.points.clear();
  }
  profile.collectives[0].seconds_per_byte = 0.9 * 20e-12;
  profile.collectives[1].seconds_per_byte = 0.75 * 4e-12;
  EXPECT_NEAR(
      simulated(profile, kAllGather, {10, 4}, 4'000'000'000), 107.25e-6 + 19.5e-3, kRounding);
}

TEST(LayoutPricesTest, FromOneNodeAndOneGpuOnEachNode) {
  for (const auto operation : {kAllGather, kReduceScatter, kAllReduce, kAllToAll, kBroadcast}) {
    Profile profile;
    profile.collectives = {table(operation, {10, 1}), table(operation, {1, 8})};
    expect_as_predicted(profile, operation, {10, 4});
    expect_as_predicted(profile, operation, {10, 8});
    expect_as_predicted(profile, operation, {16, 4});
  }
}

// Where both have been measured twice the nearest counts, and congestion goes on from 2 to 6 to 12
// nodes.
TEST(LayoutPricesTest, FromSeveralOfEach) {
  for (const auto operation : {kAllGather, kReduceScatter, kAllReduce, kAllToAll}) {
    Profile profile;
    profile.collectives = {table(operation, {2, 1}),
                           table(operation, {6, 1}, 3),
                           table(operation, {1, 2}),
                           table(operation, {1, 8}, 1.5)};
    ASSERT_GT(LayoutModel(profile, operation).congestion({12, 1}), 1);
    expect_as_predicted(profile, operation, {12, 4});
    expect_as_predicted(profile, operation, {6, 3});
  }
}

// Within a node, between nodes, and over both with as many GPUs on each, some of it all-reduces by
// trees.
TEST(LayoutPricesTest, ByMoreSteps) {
  for (const auto operation : {kAllGather, kReduceScatter, kAllReduce, kAllToAll, kBroadcast}) {
    Profile profile;
    profile.collectives = {table(operation, {1, 8}),
                           table(operation, {4, 1}),
                           table(operation, {8, 1}, 2),
                           table(operation, {2, 4}),
                           table(operation, {8, 4}, 2)};
    for (const Layout& layout :
         {Layout{1, 4}, Layout{32, 1}, Layout{6, 1}, Layout{16, 4}, Layout{3, 4}}) {
      expect_as_predicted(profile, operation, layout);
    }
  }
}

// The law of trees is used: 7 hops of 5 us on 8 nodes are log2(64)/log2(8) = 2 times as many on 64,
// not 63.
TEST(LayoutPricesTest, AnAllReduceOverMoreNodesMayBeATree) {
  Profile profile;
  profile.collectives = {table(kAllReduce, {8, 1})};
  profile.collectives[0].points = {{1024, 35e-6}, {1 << 20, 35e-6 + 1e-6}};
  EXPECT_NEAR(simulated(profile, kAllReduce, {64, 1}, 1 << 20), 70e-6 + 1e-6, kRounding);
}

}  // namespace
}  // namespace moesim
