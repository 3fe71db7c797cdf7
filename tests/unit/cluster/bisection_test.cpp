// What one half of a cluster can send to the other.
#include "sim/cluster/bisection.h"

#include <gtest/gtest.h>

#include "sim/cluster/build_topology.h"
#include "tests/unit/cluster/small_clusters.h"

namespace moesim {
namespace {

double bisection(int num_nodes, int gpus, const std::string& parts) {
  return bisection_bandwidth(build_topology(small_cluster(num_nodes, gpus, parts)));
}

// Two GPUs send over NVLink of 4 GB/s each, and over PCIe of 10.
TEST(BisectionTest, HalvesOfANode) {
  EXPECT_EQ(bisection(1, 4, plain_nodes(1)), 2 * 14e9);
  EXPECT_EQ(bisection(1, 1, plain_nodes(1)), 0);
}

// Two GPUs on each socket: the interconnect of 3 GB/s between them.
TEST(BisectionTest, SocketsOfANode) {
  EXPECT_EQ(bisection(1,
                      4,
                      "nodes { node { sockets: 2 pcie_rate: '10 GB/s' memory_rate: '9 GB/s' "
                      "socket_interconnect_rate: '3 GB/s' } }"),
            3e9);
}

// Of three nodes the first one sends, with four NICs.
TEST(BisectionTest, NodesAtASwitch) {
  EXPECT_EQ(bisection(3, 4, plain_nodes(4) + "fabric { single_switch {} }"), 4e9);
}

// Four NICs at each leaf with two links up: 2 GB/s, 4 without oversubscription.
TEST(BisectionTest, AFatTree) {
  for (const std::string routing : {"SPRAY", "DMODK"}) {
    const std::string rest = "} routing: " + routing + " }";
    EXPECT_EQ(bisection(8, 1, plain_nodes(1) + "fabric { fat_tree { down: [4, 2] " + rest), 4e9);
    EXPECT_EQ(
        bisection(
            8, 1, plain_nodes(1) + "fabric { fat_tree { down: [4, 2] oversubscription: 2 " + rest),
        2e9);
  }
}

// Cuts two links of each of four columns of a 4x4 torus, and each column's way around.
TEST(BisectionTest, ATorus) {
  EXPECT_EQ(bisection(16,
                      1,
                      plain_nodes(1) + "fabric { torus { dimensions: [4, 4] } link_rate: '0.1 "
                                       "GB/s' }"),
            4 * 2 * 0.1e9);
}

TEST(BisectionTest, ARemovedLinkCarriesNothing) {
  EXPECT_EQ(bisection(2,
                      2,
                      plain_nodes(2) + "fabric { single_switch {} } changes { at: 'node:0/nic:1' "
                                       "kind: NETWORK remove: true }"),
            1e9);
}

}  // namespace
}  // namespace moesim
