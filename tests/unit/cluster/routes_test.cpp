// Whole ways between GPUs of different nodes: NICs, rails, PXN.
#include "sim/cluster/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/cluster/build_topology.h"
#include "sim/cluster/reach.h"
#include "tests/unit/cluster/small_clusters.h"

namespace moesim {
namespace {

using testing::HasSubstr;
using Names = std::vector<std::string>;

class Machine {
 public:
  Machine(int num_nodes, int gpus, const std::string& parts)
      : cluster_(small_cluster(num_nodes, gpus, parts)),
        topology_(build_topology(cluster_)),
        routes_(topology_, *cluster_.wiring) {}

  Route route(int from, int to) const { return routes_.between(from, to); }
  Names names(int from, int to) const { return hops(topology_, route(from, to)); }
  void check() const { check_reach(topology_, routes_); }

 private:
  Cluster cluster_;
  Topology topology_;
  Routes routes_;
};

// Two GPUs, each with its NIC at a switch; rails of one leaf each and a spine.
const std::string kRails = R"(
nodes { node { gpus_per_pcie_switch: 1 pcie_rate: "10 GB/s" memory_rate: "10 GB/s"
  nvlink { rate: "10 GB/s" } nics: 2 nic_rate: "1 GB/s" } }
fabric { fat_tree { down: [2, 4] rails: true } }
)";

TEST(RoutesTest, WithinANodeAndAcross) {
  const Machine machine(2, 2, kRails);
  EXPECT_EQ(machine.names(2, 3),
            (Names{"node:1/gpu:0 -> node:1/nvswitch:0", "node:1/nvswitch:0 -> node:1/gpu:1"}));
  EXPECT_EQ(machine.names(1, 3),
            (Names{"node:0/gpu:1 -> node:0/pcie_switch:1",
                   "node:0/pcie_switch:1 -> node:0/nic:1",
                   "node:0/nic:1 -> switch:0/1",
                   "switch:0/1 -> node:1/nic:1",
                   "node:1/nic:1 -> node:1/pcie_switch:1",
                   "node:1/pcie_switch:1 -> node:1/gpu:1"}));
}

// Another rail is reached over the spine, or with PXN by NVLink to the GPU of that rail first.
TEST(RoutesTest, AcrossRails) {
  EXPECT_THAT(Machine(2, 2, kRails).names(0, 3), testing::Contains("switch:1/0 -> switch:0/1"));
  EXPECT_EQ(Machine(2, 2, kRails + "transfers { pxn: true }").names(0, 3),
            (Names{"node:0/gpu:0 -> node:0/nvswitch:0",
                   "node:0/nvswitch:0 -> node:0/gpu:1",
                   "node:0/gpu:1 -> node:0/pcie_switch:1",
                   "node:0/pcie_switch:1 -> node:0/nic:1",
                   "node:0/nic:1 -> switch:0/1",
                   "switch:0/1 -> node:1/nic:1",
                   "node:1/nic:1 -> node:1/pcie_switch:1",
                   "node:1/pcie_switch:1 -> node:1/gpu:1"}));
}

// No NVLink leads to the GPU of that rail.
TEST(RoutesTest, PxnNeedsNvLink) {
  std::string parts = kRails + "transfers { pxn: true }";
  parts.replace(parts.find("nvlink { rate: \"10 GB/s\" }"), 26, "");
  EXPECT_THAT(Machine(2, 2, parts).names(0, 3), testing::Contains("switch:1/0 -> switch:0/1"));
}

// Node 0 has a NIC for each of its two GPUs, node 1 one for both.
const std::string kUnlike = R"(
nodes { count: 1 node { gpus_per_pcie_switch: 1 pcie_rate: "10 GB/s" memory_rate: "10 GB/s"
  nvlink { rate: "10 GB/s" } nics: 2 nic_rate: "1 GB/s" } }
nodes { node { gpus_per_pcie_switch: 2 pcie_rate: "10 GB/s" memory_rate: "10 GB/s"
  nvlink { rate: "10 GB/s" } nics: 1 nic_rate: "2 GB/s" } }
fabric { single_switch {} }
transfers { pxn: true }
)";

// How many messages cross the link when each sender has one for each receiver.
double load(const Machine& machine,
            const std::string& link,
            const std::vector<int>& senders,
            const std::vector<int>& receivers) {
  double sum = 0;
  for (const int from : senders) {
    for (const int to : receivers) {
      const Route route = machine.route(from, to);
      const Names names = machine.names(from, to);
      for (size_t i = 0; i < route.size(); ++i) {
        sum += names[i].starts_with(link) ? route[i].share : 0;
      }
    }
  }
  return sum;
}

// Four messages from node 0 to node 1, and four back. Node 1 receives them all at its one NIC; they
// leave node 0 by the NICs of its GPUs 0 and 1, two each, and not by the NIC 0 alone that has the
// number of the receiver's.
TEST(RoutesTest, PxnBetweenUnlikeNodesUsesAllNicsOfTheSender) {
  const Machine machine(2, 2, kUnlike);
  EXPECT_EQ(load(machine, "node:0/nic:0 -> switch:0/0", {0, 1}, {2, 3}), 2);
  EXPECT_EQ(load(machine, "node:0/nic:1 -> switch:0/0", {0, 1}, {2, 3}), 2);
  EXPECT_EQ(load(machine, "switch:0/0 -> node:1/nic:0", {0, 1}, {2, 3}), 4);
  EXPECT_EQ(load(machine, "node:1/nic:0 -> switch:0/0", {2, 3}, {0, 1}), 4);
  EXPECT_EQ(load(machine, "switch:0/0 -> node:0/nic:0", {2, 3}, {0, 1}), 2);
  EXPECT_EQ(load(machine, "switch:0/0 -> node:0/nic:1", {2, 3}, {0, 1}), 2);
  // 0 -> 3 and 1 -> 2 take NVLink first; back, both GPUs of node 1 use its NIC themselves.
  EXPECT_EQ(load(machine, "node:0/gpu:0 -> node:0/nvswitch:0", {0, 1}, {2, 3}), 1);
  EXPECT_EQ(load(machine, "node:0/gpu:1 -> node:0/nvswitch:0", {0, 1}, {2, 3}), 1);
  EXPECT_EQ(load(machine, "node:1/gpu:0 -> node:1/nvswitch:0", {2, 3}, {0, 1}), 0);
}

// A receiver whose NIC is gone receives at its neighbour's. Its senders do not know: they go on to
// leave by their own NIC 1, and the fabric leads to the other rail.
TEST(RoutesTest, PxnDoesNotFollowALostNic) {
  const std::string lost = "changes { at: 'node:1/nic:1' kind: NETWORK remove: true }";
  const Machine machine(2, 2, kRails + "transfers { pxn: true }" + lost);
  EXPECT_THAT(machine.names(0, 3),
              testing::IsSupersetOf({"node:0/nic:1 -> switch:0/1",
                                     "switch:0/1 -> switch:1/0",
                                     "switch:0/0 -> node:1/nic:0"}));
}

// Two NICs for each GPU: half of the message over each, first to first, second to second.
TEST(RoutesTest, TwoNicsForAGpu) {
  const std::string parts = R"(
nodes { node { gpus_per_pcie_switch: 1 pcie_rate: "10 GB/s" memory_rate: "10 GB/s"
  nics: 2 nic_rate: "1 GB/s" } }
fabric { single_switch {} })";
  EXPECT_EQ(Machine(2, 1, parts).names(0, 1),
            (Names{"node:0/gpu:0 -> node:0/pcie_switch:0 * 0.5",
                   "node:0/pcie_switch:0 -> node:0/nic:0 * 0.5",
                   "node:0/nic:0 -> switch:0/0 * 0.5",
                   "switch:0/0 -> node:1/nic:0 * 0.5",
                   "node:1/nic:0 -> node:1/pcie_switch:0 * 0.5",
                   "node:1/pcie_switch:0 -> node:1/gpu:0 * 0.5",
                   "node:0/gpu:0 -> node:0/pcie_switch:0 * 0.5",
                   "node:0/pcie_switch:0 -> node:0/nic:1 * 0.5",
                   "node:0/nic:1 -> switch:0/0 * 0.5",
                   "switch:0/0 -> node:1/nic:1 * 0.5",
                   "node:1/nic:1 -> node:1/pcie_switch:0 * 0.5",
                   "node:1/pcie_switch:0 -> node:1/gpu:0 * 0.5"}));
}

// From a node with two NICs for a GPU to one with three: thirds arrive, halves leave. 0 -> 0 has
// 1/3, 0 -> 1 and 1 -> 1 have 1/6, 1 -> 2 has 1/3.
TEST(RoutesTest, TwoNicsToThree) {
  const std::string parts = R"(
nodes { count: 1 node { gpus_per_pcie_switch: 1 pcie_rate: "10 GB/s" memory_rate: "10 GB/s"
  nics: 2 nic_rate: "1 GB/s" } }
nodes { node { gpus_per_pcie_switch: 1 pcie_rate: "10 GB/s" memory_rate: "10 GB/s"
  nics: 3 nic_rate: "1 GB/s" } }
fabric { single_switch {} })";
  const Names names = Machine(2, 1, parts).names(0, 1);
  ASSERT_EQ(names.size(), 24);
  EXPECT_EQ(names[2], "node:0/nic:0 -> switch:0/0 * 0.3333");
  EXPECT_EQ(names[3], "switch:0/0 -> node:1/nic:0 * 0.3333");
  EXPECT_EQ(names[8], "node:0/nic:0 -> switch:0/0 * 0.1667");
  EXPECT_EQ(names[9], "switch:0/0 -> node:1/nic:1 * 0.1667");
  EXPECT_EQ(names[14], "node:0/nic:1 -> switch:0/0 * 0.1667");
  EXPECT_EQ(names[20], "node:0/nic:1 -> switch:0/0 * 0.3333");
  EXPECT_EQ(names[21], "switch:0/0 -> node:1/nic:2 * 0.3333");
}

// A node that was changed has ways of its own, its neighbours those of their model.
TEST(RoutesTest, ChangedNodes) {
  const Machine machine(3, 2, kRails + "changes { at: 'node:1/nic:1' kind: NETWORK remove: true }");
  EXPECT_THAT(machine.names(3, 1), testing::Contains("node:1/nic:0 -> switch:0/0"));
  EXPECT_THAT(machine.names(5, 1), testing::Contains("node:2/nic:1 -> switch:0/3"));
}

// Rail 1 of nodes 2 and 3 has lost its way to the spine.
const std::string kCut = "changes { at: 'switch:0/3 -- switch:1/0' remove: true }";

// Their GPU 1 still has PCIe and NVLink to the other rail, so that all parts are connected; but no
// rule sends a message that way.
TEST(CheckReachTest, AnIslandInTheFabricIsAnError) {
  EXPECT_EQ(error_of([] { Machine(4, 2, kRails + kCut).check(); }),
            "no way through the fabric from switch:0/0 to switch:0/3; join them");
  EXPECT_EQ(error_of([] { Machine(4, 2, kRails).check(); }), "");
}

// With PXN a rail that is joined to no other is enough, as long as its nodes are all on it.
TEST(CheckReachTest, RailsAloneAreEnoughWithPxn) {
  const std::string cut = "changes { at: 'switch:0/1 -- switch:1/0' remove: true }";
  EXPECT_EQ(error_of([&] { Machine(2, 2, kRails + "transfers { pxn: true }" + cut).check(); }), "");
  EXPECT_THAT(error_of([&] { Machine(2, 2, kRails + cut).check(); }),
              HasSubstr("no way through the fabric"));
}

}  // namespace
}  // namespace moesim
