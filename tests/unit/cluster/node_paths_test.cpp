// How messages move within a node, and to its NICs.
#include "sim/cluster/node_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/cluster/build_topology.h"
#include "tests/unit/cluster/small_clusters.h"

namespace moesim {
namespace {

using testing::HasSubstr;
using Names = std::vector<std::string>;

// A node, and how its parts may reach each other. Names of parts lack "node:0/".
class Box {
 public:
  explicit Box(int gpus, const std::string& node, const std::string& more = "")
      : cluster_(small_cluster(1, gpus, "nodes { node { " + node + " } } " + more)),
        topology_(build_topology(cluster_)),
        paths_(topology_, 0, cluster_.wiring->transfers) {}

  const NodePaths& paths() const { return paths_; }
  Names between(int from, int to) const { return short_hops(paths_.between(from, to)); }
  Names to_nic(int gpu, int i = 0) const { return short_hops(paths_.nics(gpu)[i].to); }
  Names from_nic(int gpu, int i = 0) const { return short_hops(paths_.nics(gpu)[i].from); }

  std::vector<std::vector<int>> nics() const {
    std::vector<std::vector<int>> of_gpus;
    for (int gpu = 0; gpu < cluster_.gpus_per_node; ++gpu) {
      of_gpus.emplace_back();
      for (const NodePaths::NicPath& path : paths_.nics(gpu)) {
        of_gpus.back().push_back(path.nic);
      }
    }
    return of_gpus;
  }

 private:
  Names short_hops(const Route& route) const {
    Names names = hops(topology_, route);
    for (std::string& name : names) {
      for (size_t at = name.find("node:0/"); at != std::string::npos; at = name.find("node:0/")) {
        name.erase(at, 7);
      }
    }
    return names;
  }

  Cluster cluster_;
  Topology topology_;
  NodePaths paths_;
};

const std::string kPcie = "pcie_rate: '10 GB/s' memory_rate: '100 GB/s' ";
const std::string kSockets = "sockets: 2 socket_interconnect_rate: '10 GB/s' ";
const std::string kPeer = "transfers { peer_access: ";

// Through both switches, half of the message each.
TEST(NodePathsTest, OverNvSwitches) {
  const Box box(2, kPcie + "nvlink { rate: '4 GB/s' switches: 2 }");
  EXPECT_EQ(box.between(0, 1),
            (Names{"gpu:0 -> nvswitch:0 * 0.5",
                   "nvswitch:0 -> gpu:1 * 0.5",
                   "gpu:0 -> nvswitch:1 * 0.5",
                   "nvswitch:1 -> gpu:1 * 0.5"}));
  EXPECT_TRUE(box.paths().by_nvlink(0, 1));
}

// One way has half the rate: a third of the message.
TEST(NodePathsTest, SlowerNvSwitchesCarryLess) {
  const Box box(2,
                kPcie + "nvlink { rate: '4 GB/s' switches: 2 }",
                "changes { at: 'node:0/gpu:1 -- node:0/nvswitch:1' rate_factor: 0.5 }");
  EXPECT_EQ(box.between(0, 1),
            (Names{"gpu:0 -> nvswitch:0 * 0.6667",
                   "nvswitch:0 -> gpu:1 * 0.6667",
                   "gpu:0 -> nvswitch:1 * 0.3333",
                   "nvswitch:1 -> gpu:1 * 0.3333"}));
}

// Without its links to the switches, a GPU is reached over PCIe.
TEST(NodePathsTest, PcieWhereNvLinkIsGone) {
  const Box box(2,
                kPcie + "nvlink { rate: '4 GB/s' }",
                "changes { at: 'node:0/gpu:1' kind: NVLINK remove: true }");
  EXPECT_EQ(box.between(1, 0),
            (Names{"gpu:1 -> root_port:1",
                   "root_port:1 -> socket:0",
                   "socket:0 -> root_port:0",
                   "root_port:0 -> gpu:0"}));
  EXPECT_FALSE(box.paths().by_nvlink(0, 1));
}

TEST(NodePathsTest, BridgesAndMeshesAreDirect) {
  const Box pairs(4, kPcie + "nvlink { form: PAIRS rate: '4 GB/s' }");
  EXPECT_EQ(pairs.between(2, 3), (Names{"gpu:2 -> gpu:3"}));
  EXPECT_FALSE(pairs.paths().by_nvlink(1, 2));
  EXPECT_EQ(pairs.between(1, 2).size(), 4);
  const Box mesh(3, kPcie + "nvlink { form: MESH rate: '4 GB/s' }");
  EXPECT_EQ(mesh.between(2, 0), (Names{"gpu:2 -> gpu:0"}));
}

// Four GPUs, two switches, two sockets... with eight GPUs each switch has two, each socket two
// switches. Peers at one switch stay below it; others go over the socket, or both.
const Names kStaged01 = {"gpu:0 -> pcie_switch:0",
                         "pcie_switch:0 -> root_port:0",
                         "root_port:0 -> socket:0",
                         "socket:0 -> memory:0",
                         "memory:0 -> socket:0",
                         "socket:0 -> root_port:0",
                         "root_port:0 -> pcie_switch:0",
                         "pcie_switch:0 -> gpu:1"};

Box tree(const std::string& peer_access) {
  return Box(8, kPcie + kSockets + "gpus_per_pcie_switch: 2", kPeer + peer_access + " }");
}

TEST(NodePathsTest, PeersBelowASwitch) {
  const Names direct = {"gpu:0 -> pcie_switch:0", "pcie_switch:0 -> gpu:1"};
  EXPECT_EQ(tree("SYSTEM").between(0, 1), direct);
  EXPECT_EQ(tree("SOCKET").between(0, 1), direct);
  EXPECT_EQ(tree("PCIE_SWITCH").between(0, 1), direct);
  EXPECT_EQ(tree("NEVER").between(0, 1), kStaged01);
}

TEST(NodePathsTest, PeersBelowASocket) {
  const Names direct = {"gpu:0 -> pcie_switch:0",
                        "pcie_switch:0 -> root_port:0",
                        "root_port:0 -> socket:0",
                        "socket:0 -> root_port:1",
                        "root_port:1 -> pcie_switch:1",
                        "pcie_switch:1 -> gpu:2"};
  EXPECT_EQ(tree("SYSTEM").between(0, 2), direct);
  EXPECT_EQ(tree("SOCKET").between(0, 2), direct);
  EXPECT_EQ(tree("PCIE_SWITCH").between(0, 2).size(), 8);  // and into memory and back
  EXPECT_EQ(tree("NEVER").between(0, 2).size(), 8);
}

// Staged in the sender's memory: three links up, to memory and back, across, three down.
TEST(NodePathsTest, PeersAcrossSockets) {
  EXPECT_EQ(tree("SYSTEM").between(0, 4).size(), 7);
  for (const char* access : {"SOCKET", "PCIE_SWITCH", "NEVER"}) {
    const Names staged = tree(access).between(0, 4);
    ASSERT_EQ(staged.size(), 9) << access;
    EXPECT_EQ(staged[3], "socket:0 -> memory:0");
    EXPECT_EQ(staged[5], "socket:0 -> socket:1");
    EXPECT_EQ(tree(access).between(4, 0)[3], "socket:1 -> memory:1");
  }
}

TEST(NodePathsTest, NvLinkNeedsNoPeerAccess) {
  EXPECT_EQ(
      Box(2, kPcie + "nvlink { form: PAIRS rate: '4 GB/s' }", kPeer + "NEVER }").between(0, 1),
      (Names{"gpu:0 -> gpu:1"}));
}

const std::string kNics = "nic_rate: '1 GB/s' nics: ";

TEST(NodePathsTest, GpudirectToTheNicAtTheSwitch) {
  const Box box(2, kPcie + "gpus_per_pcie_switch: 1 " + kNics + "2");
  EXPECT_EQ(box.nics(), (std::vector<std::vector<int>>{{0}, {1}}));
  EXPECT_EQ(box.to_nic(1), (Names{"gpu:1 -> pcie_switch:1", "pcie_switch:1 -> nic:1"}));
  EXPECT_EQ(box.from_nic(1), (Names{"nic:1 -> pcie_switch:1", "pcie_switch:1 -> gpu:1"}));
}

// Through the memory of the NIC's socket: the switch's link carries the message up and down.
TEST(NodePathsTest, StagedToTheNicWithoutGpudirect) {
  const Box box(
      1, kPcie + "gpus_per_pcie_switch: 1 " + kNics + "1", "transfers { no_gpudirect: true }");
  EXPECT_EQ(box.to_nic(0),
            (Names{"gpu:0 -> pcie_switch:0",
                   "pcie_switch:0 -> root_port:0",
                   "root_port:0 -> socket:0",
                   "socket:0 -> memory:0",
                   "memory:0 -> socket:0",
                   "socket:0 -> root_port:0",
                   "root_port:0 -> pcie_switch:0",
                   "pcie_switch:0 -> nic:0"}));
  const Box across(2,
                   kPcie + kSockets + "nic_placement: ROOT_PORT " + kNics + "1",
                   "transfers { no_gpudirect: true }");
  EXPECT_EQ(across.to_nic(1)[2], "socket:1 -> socket:0");  // to the NIC's memory, not its own
  EXPECT_EQ(across.to_nic(1)[3], "socket:0 -> memory:0");
}

// Four GPUs and two NICs on each of two sockets: each socket's GPUs take turns.
TEST(NodePathsTest, GpusTakeTurnsAtEquallyNearNics) {
  const Box box(8, kPcie + kSockets + "nic_placement: ROOT_PORT " + kNics + "4");
  EXPECT_EQ(box.nics(), (std::vector<std::vector<int>>{{0}, {1}, {0}, {1}, {2}, {3}, {2}, {3}}));
}

// Two NICs beside each GPU: it uses both. With three for two GPUs at a switch, both use all.
TEST(NodePathsTest, MoreNicsThanGpusAreAllUsed) {
  const Box two(2, kPcie + "gpus_per_pcie_switch: 1 " + kNics + "4");
  EXPECT_EQ(two.nics(), (std::vector<std::vector<int>>{{0, 1}, {2, 3}}));
  EXPECT_EQ(two.to_nic(1, 1), (Names{"gpu:1 -> pcie_switch:1", "pcie_switch:1 -> nic:3"}));
  const Box three(2, kPcie + "gpus_per_pcie_switch: 2 " + kNics + "3");
  EXPECT_EQ(three.nics(), (std::vector<std::vector<int>>{{0, 1, 2}, {0, 1, 2}}));
}

// A NIC that lost its cable serves nobody.
TEST(NodePathsTest, NicsThatReachTheFabricOnly) {
  const Box box(2,
                kPcie + "gpus_per_pcie_switch: 1 " + kNics + "2",
                "changes { at: 'node:0/nic:1' kind: NETWORK remove: true }");
  EXPECT_EQ(box.nics(), (std::vector<std::vector<int>>{{0}, {0}}));
  EXPECT_EQ(box.to_nic(1).size(), 6);
}

TEST(NodePathsTest, NoNics) {
  EXPECT_EQ(Box(2, kPcie).nics(), (std::vector<std::vector<int>>{{}, {}}));
}

TEST(NodePathsTest, NoWayIsAnErrorThatNamesTheParts) {
  const std::string cut = "changes { at: 'node:0/gpu:1' kind: PCIE remove: true }";
  EXPECT_THAT(error_of([&] { Box(3, kPcie + "nvlink { form: PAIRS rate: '1 GB/s' }", cut); }),
              HasSubstr("3 GPUs do not divide"));
  EXPECT_THAT(error_of([&] { Box(4, kPcie + "nvlink { form: PAIRS rate: '1 GB/s' }", cut); }),
              HasSubstr("no way from node:0/gpu:1 to node:0/gpu:2 within the node"));
  EXPECT_THAT(
      error_of([&] {
        Box(2, kPcie + "nvlink { rate: '1 GB/s' } gpus_per_pcie_switch: 2 " + kNics + "1", cut);
      }),
      HasSubstr("node:0/gpu:1 reaches no NIC; join it to one by PCIe"));
  EXPECT_THAT(error_of([&] {
                Box(4,
                    kPcie + "sockets: 2 nvlink { form: PAIRS rate: '1 GB/s' }",
                    "transfers { peer_access: SOCKET }");
              }),
              HasSubstr("no way from node:0/gpu:0 to node:0/gpu:2"));
}

}  // namespace
}  // namespace moesim
