// The clusters of this repository: each is built, and every GPU reaches every other one.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/cluster/bisection.h"
#include "sim/cluster/cluster_links.h"
#include "sim/cluster/wired_cluster.h"

namespace moesim {
namespace {

std::vector<std::string> names() {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("topologies")) {
    found.push_back(entry.path().stem());
  }
  std::ranges::sort(found);
  return found;
}

Cluster shipped(const std::string& name) {
  return wired(load_cluster("topologies/" + name + ".txtpb"));
}

TEST(TopologiesTest, AllAreWired) {
  EXPECT_GE(names().size(), 12U);
  for (const std::string& name : names()) {
    const Cluster cluster = shipped(name);
    EXPECT_EQ(cluster.name, name);
    EXPECT_NE(cluster.source, "") << name;
    EXPECT_GT(cluster.intra_node.bytes_per_second, 0) << name;
    EXPECT_GT(cluster.inter_node.bytes_per_second, 0) << name;
  }
}

// NVLink of a GPU into its node; its NIC, or its part of the node's NICs, to others.
TEST(TopologiesTest, PortsFollowFromTheLinks) {
  struct Ports {
    const char* name;
    double intra;
    double inter;
  };
  for (const Ports& expected : {Ports{"dgx_a100", 300e9, 25e9},
                                Ports{"dgx_h100", 450e9, 50e9},
                                Ports{"dgx_h200", 450e9, 50e9},
                                Ports{"gb200_nvl72", 900e9, 50e9},
                                Ports{"slingshot_a100", 300e9, 2 * 25e9 / 4},
                                Ports{"pcie_a6000", 31.5e9 * 7 / 16, 25e9 / 8},
                                Ports{"pcie_2080ti", 15.75e9, 12.5e9 / 4}}) {
    const Cluster cluster = shipped(expected.name);
    EXPECT_NEAR(cluster.intra_node.bytes_per_second, expected.intra, 1) << expected.name;
    EXPECT_NEAR(cluster.inter_node.bytes_per_second, expected.inter, 1) << expected.name;
  }
}

// Four GPUs of an A6000 box send 4/7 of their bytes each over their switch's x16 link: 16/7 bytes
// for one of each GPU, as above. Half of the nodes of a full fat tree send at all their NICs'
// rates.
TEST(TopologiesTest, BisectionOfFullFatTrees) {
  EXPECT_EQ(bisection_bandwidth(shipped("dgx_h100").links->topology), 8 * 8 * 50e9);
  EXPECT_EQ(bisection_bandwidth(shipped("gb200_nvl72").links->topology), 4 * 72 * 50e9);
}

}  // namespace
}  // namespace moesim
