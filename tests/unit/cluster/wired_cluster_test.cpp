// The rates of a cluster's ports, from its links.
#include "sim/cluster/wired_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cluster/small_clusters.h"

namespace moesim {
namespace {

Cluster wired_text(int num_nodes, int gpus, const std::string& parts) {
  return wired(small_cluster(num_nodes, gpus, parts));
}

TEST(WiredClusterTest, PortsOfATestbedStay) {
  const Cluster cluster =
      wired_text(2, 2, "intra_node { rate: '3 GB/s' } inter_node { rate: '2 GB/s' }");
  EXPECT_EQ(cluster.intra_node.bytes_per_second, 3e9);
  EXPECT_EQ(cluster.links, nullptr);
}

// NVLink into the node, a NIC for each GPU out of it.
TEST(WiredClusterTest, NvLinkAndNics) {
  const Cluster cluster = wired_text(2, 4, plain_nodes(4) + "fabric { single_switch {} }");
  EXPECT_EQ(cluster.intra_node.bytes_per_second, 4e9);
  EXPECT_EQ(cluster.inter_node.bytes_per_second, 1e9);
  EXPECT_NE(cluster.links, nullptr);
}

// Four GPUs share a NIC of 1 GB/s.
TEST(WiredClusterTest, OneNicForAll) {
  EXPECT_EQ(
      wired_text(2, 4, plain_nodes(1) + "fabric { single_switch {} }").inter_node.bytes_per_second,
      0.25e9);
}

// Two NICs beside each GPU carry twice what one does.
TEST(WiredClusterTest, TwoNicsForEachGpu) {
  const std::string parts = R"(
nodes { node { gpus_per_pcie_switch: 1 pcie_rate: "10 GB/s" memory_rate: "10 GB/s"
  nics: 4 nic_rate: "1 GB/s" } }
fabric { single_switch {} })";
  EXPECT_EQ(wired_text(2, 2, parts).inter_node.bytes_per_second, 2e9);
}

// 4 GPUs on two sockets: of a byte that each sends to 3 others, 2/3 cross the interconnect; two
// GPUs do, each way: 4/3 bytes at 1 GB/s: 0.75 GB/s. Their PCIe links would carry 10.
TEST(WiredClusterTest, TheInterconnectBinds) {
  EXPECT_DOUBLE_EQ(wired_text(1,
                              4,
                              "nodes { node { sockets: 2 pcie_rate: '10 GB/s' memory_rate: '100 "
                              "GB/s' socket_interconnect_rate: '1 GB/s' } }")
                       .intra_node.bytes_per_second,
                   0.75e9);
}

// Staged in memory of 8 GB/s for reads and writes together: 4 GPUs send a byte in, which is read
// again: 8 bytes at 8 GB/s.
TEST(WiredClusterTest, StagedInMemory) {
  EXPECT_DOUBLE_EQ(
      wired_text(1,
                 4,
                 "nodes { node { pcie_rate: '10 GB/s' memory_rate: '8 GB/s' } } transfers { "
                 "peer_access: NEVER }")
          .intra_node.bytes_per_second,
      1e9);
}

// Each GPU sends to the GPU of its number on the next node: of two nodes at each of two leaves,
// one sends out of its leaf. 2:1: one link of 1 GB/s for what one NIC sends; where that is slower,
// the ports of the others are not.
TEST(WiredClusterTest, OverAFabric) {
  const std::string tree = "fabric { fat_tree { down: [2, 2] oversubscription: 2 } }";
  EXPECT_EQ(wired_text(4, 1, plain_nodes(1) + tree).inter_node.bytes_per_second, 1e9);
  const std::string slow = tree + "changes { at: 'switch:1/0' rate_factor: 0.5 }";
  EXPECT_EQ(wired_text(4, 1, plain_nodes(1) + slow).inter_node.bytes_per_second, 1e9);
}

// 2:1: the two GPUs of each node leave its leaf over one link of 1 GB/s.
TEST(WiredClusterTest, TheFabricBindsAll) {
  const std::string tree = "fabric { fat_tree { down: [2, 2] oversubscription: 2 } }";
  EXPECT_EQ(wired_text(2, 2, plain_nodes(2) + tree).inter_node.bytes_per_second, 0.5e9);
}

Cluster three_nodes(const std::string& changes) {
  return wired_text(3, 2, plain_nodes(2) + "fabric { single_switch {} }" + changes);
}

// One slow NIC among six is a slow link and no slow port; when all are slow, the port is.
TEST(WiredClusterTest, SlowNics) {
  const std::string quarter = " kind: NETWORK rate_factor: 0.25 }";
  const Cluster one = three_nodes("changes { at: 'node:2/nic:1'" + quarter);
  EXPECT_EQ(one.inter_node.bytes_per_second, 1e9);
  EXPECT_EQ(one.intra_node.bytes_per_second, 4e9);
  const Cluster all = three_nodes("changes { at: 'node:*/nic:*'" + quarter);
  EXPECT_EQ(all.inter_node.bytes_per_second, 0.25e9);
}

// Both GPUs of a node with a slow NVLink send over it; those of the other nodes do not.
TEST(WiredClusterTest, SlowNvLinks) {
  const std::string half = " kind: NVLINK rate_factor: 0.5 }";
  EXPECT_EQ(three_nodes("changes { at: 'node:1/gpu:1'" + half).intra_node.bytes_per_second, 4e9);
  EXPECT_EQ(three_nodes("changes { at: 'node:*/gpu:1'" + half).intra_node.bytes_per_second, 2e9);
}

// Two NVLinks of 100 ns in a node. Across: GPU to root port 500 ns (the root port's own link is
// within the processor), to the NIC 500 ns, and two links of 2 us: 2 * 1000 ns + 4 us.
TEST(WiredClusterTest, Latencies) {
  const Cluster cluster = wired_text(2, 2, R"(
nodes { node { pcie_rate: "10 GB/s" pcie_latency: "500 ns" memory_rate: "10 GB/s"
  nvlink { rate: "10 GB/s" latency: "100 ns" } nics: 2 nic_rate: "1 GB/s"
  nic_placement: ROOT_PORT } }
fabric { single_switch {} link_latency: "2 us" })");
  EXPECT_NEAR(cluster.intra_node.latency_seconds, 200e-9, 1e-15);
  EXPECT_NEAR(cluster.inter_node.latency_seconds, 6e-6, 1e-15);
}

// One node has no port to others; one GPU none into its node.
TEST(WiredClusterTest, NobodyToSendTo) {
  EXPECT_EQ(wired_text(1, 2, plain_nodes(2)).inter_node.bytes_per_second, 0);
  EXPECT_EQ(wired_text(1, 1, plain_nodes(1)).intra_node.bytes_per_second, 0);
}

TEST(WiredClusterTest, ErrorsAreLocated) {
  EXPECT_THAT(error_of([] {
                wired_text(4,
                           2,
                           plain_nodes(2) +
                               "fabric { fat_tree { down: [2, 4] rails: true } } changes { at: "
                               "'switch:0/3 -- switch:1/0' remove: true }");
              }),
              testing::AllOf(testing::StartsWith("c.txtpb:2:"),
                             testing::HasSubstr("no way through the fabric")));
}

}  // namespace
}  // namespace moesim
