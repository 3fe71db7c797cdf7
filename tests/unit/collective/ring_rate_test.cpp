// What rings have over links, and what of it scales measured figures. Links of 1 TB/s carry one
// byte per picosecond; memory is fast enough not to count.
#include "sim/collective/ring_rate.h"

#include <string>

#include <gmock/gmock.h>

#include "sim/cluster/wired_cluster.h"
#include "sim/collective/collective_cost.h"
#include "tests/unit/engine/program_maker.h"

namespace moesim {
namespace {

using enum CollectiveOperation;
using testing::Contains;
using testing::HasSubstr;

// Two nodes of four GPUs over PCIe, with a NIC.
Cluster box(const std::string& pcie_rate, int gpus_per_switch, const std::string& more = "") {
  return wired(parse_cluster(
      "num_nodes: 2 gpus_per_node: 4 gpu_memory: '1 GiB' nodes { node { memory_rate: '100 TB/s' "
      "pcie_rate: '" +
          pcie_rate + "' gpus_per_pcie_switch: " + std::to_string(gpus_per_switch) +
          " nics: 1 nic_rate: '1 TB/s' nic_placement: ROOT_PORT } } fabric { single_switch {} }" +
          more,
      "c.txtpb"));
}

// Two GPUs behind each of two switches: a ring 0-1-2-3 crosses each switch's uplink once each way,
// with what every other link carries. Of what GPUs send to all three others, each a third, four
// thirds cross an uplink: a port has 3/4 TB/s.
TEST(RingRateTest, ARingCrossesSharedLinksLessThanAnAllToAll) {
  const Cluster shared = box("1 TB/s", 2);
  EXPECT_NEAR(ring_rate(shared, kAllGather, {1, 4}), 1e12, 1);
  EXPECT_NEAR(ring_rate(shared, kAllReduce, {1, 4}), 1e12, 1);
  EXPECT_NEAR(shared.intra_node.bytes_per_second, 0.75e12, 1);
}

// One GPU on each node: the NIC's rate.
TEST(RingRateTest, BetweenNodesItIsTheNics) {
  EXPECT_NEAR(ring_rate(box("2 TB/s", 2), kBroadcast, {8, 1}), 1e12, 1);
}

TEST(RingRateTest, OneSlowLinkIsNoSlowMachine) {
  const Cluster degraded = box("1 TB/s", 2, "changes { at: 'node:0/gpu:1' rate_factor: 0.5 }");
  EXPECT_NEAR(ring_rate(degraded, kAllGather, {1, 4}), 1e12, 1);
}

TEST(RingRateTest, NothingIsKnownOfPortsExchangesAndLargerNodes) {
  EXPECT_EQ(ring_rate(make_cluster(2, 4), kAllGather, {1, 4}), 0);
  EXPECT_EQ(ring_rate(box("1 TB/s", 2), kAllToAll, {1, 4}), 0);
  EXPECT_EQ(ring_rate(box("1 TB/s", 2), kShift, {1, 4}), 0);
  EXPECT_EQ(ring_rate(box("1 TB/s", 2), kAllGather, {1, 8}), 0);
}

// An all-gather of 3 ps a byte was measured on the shared box. With twice the rate and each GPU at
// a root port of its own a ring has 2 TB/s instead of 1: half the time. The ports' rates, 2 to 3/4,
// would have made it 9/8 ps a byte.
TEST(RingRateTest, MeasuredRingsAreScaledByWhatRingsHave) {
  const Cluster target = box("2 TB/s", 0);
  ASSERT_NEAR(target.intra_node.bytes_per_second, 2e12, 1);
  CollectiveCost cost = make_cost(kAllGather, Span::kNode, 5, 3);
  cost.group_size = 4;
  cost.ring_bytes_per_second = 1e12;
  Profile profile;
  profile.intra_node_rate = 0.75e12;
  profile.collectives = {cost};
  Program program;
  program.num_ranks = 8;
  program.groups = {{.name = "node", .members = {{0, 1, 2, 3}}}};
  const ValidRows valid_rows(program);
  const auto port = [&] {
    const CollectiveCosts costs(program, target, profile, valid_rows);
    Task task;
    task.descriptor = Collective{.operation = kAllGather, .group = 0, .bytes = 800};
    const Time load = costs.load(task, program.groups[0].members[0], 0).load[0];
    return std::pair(load, costs.assumptions());
  };
  EXPECT_EQ(port().first, ps(1200));
  EXPECT_THAT(port().second,
              Contains(HasSubstr("where a ring has 1000 GB/s, transfers scaled to 2000 GB/s")));
  profile.collectives[0].ring_bytes_per_second = 0;
  EXPECT_EQ(port().first, ps(900));
}

// Of 8 bytes an all-gather on 4 GPUs has 6 on each link. Ports: 2 nodes x 4 GPUs, 7/8 of the bytes
// within a node, a quarter of that between.
TEST(LeastSecondsTest, LinksAndPorts) {
  EXPECT_NEAR(least_seconds_per_byte(box("1 TB/s", 2), kAllGather, {1, 4}), 0.75e-12, 1e-18);
  EXPECT_NEAR(least_seconds_per_byte(make_cluster(2, 4), kAllGather, {2, 4}), 0.875e-12, 1e-18);
  EXPECT_EQ(least_seconds_per_byte(make_cluster(2, 4), kAllGather, {3, 4}), 0);
}

}  // namespace
}  // namespace moesim
