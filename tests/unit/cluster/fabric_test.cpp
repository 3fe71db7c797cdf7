// Switches and links of each kind of fabric. NICs have 1 GB/s, and links between switches too where
// nothing else is said.
#include "sim/cluster/fabric.h"

#include <map>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/cluster/build_topology.h"
#include "tests/unit/cluster/small_clusters.h"

namespace moesim {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Nodes of one GPU and one NIC.
Topology joined(int num_nodes, const std::string& fabric) {
  return build_topology(small_cluster(num_nodes, 1, plain_nodes(1) + "fabric { " + fabric + " }"));
}

std::string error_with(int num_nodes, const std::string& fabric) {
  return error_of([&] { joined(num_nodes, fabric); });
}

// How many switches there are on each level.
std::map<int, int> levels(const Topology& topology) {
  std::map<int, int> counts;
  for (const Element& element : topology.elements()) {
    counts[element.level] += element.node == kNone ? 1 : 0;
  }
  return counts;
}

using Counts = std::map<int, int>;

// Cables between switches, as "level/index--level/index" with the rate in GB/s, in order.
std::vector<std::string> cables(const Topology& topology) {
  std::vector<std::string> found;
  for (int link = 0; link < std::ssize(topology.links()); link += 2) {
    const Element& from = topology.elements()[topology.links()[link].from];
    const Element& to = topology.elements()[topology.links()[link].to];
    if (from.node == kNone) {
      found.push_back(fmt::format("{}/{}--{}/{} {}",
                                  from.level,
                                  from.index,
                                  to.level,
                                  to.index,
                                  topology.rate(link) / 1e9));
    }
  }
  return found;
}

using Cables = std::vector<std::string>;

// The switch of each NIC.
std::vector<int> leaves(const Topology& topology) {
  std::vector<int> indices;
  for (const int nic : topology.nics()) {
    for (const int link : topology.out(nic)) {
      if (topology.links()[link].kind == LinkKind::kNetwork) {
        indices.push_back(topology.elements()[topology.links()[link].to].index);
      }
    }
  }
  return indices;
}

TEST(FabricTest, SingleSwitch) {
  const Topology topology = joined(5, "single_switch {} link_latency: '2 us'");
  EXPECT_EQ(levels(topology), (Counts{{0, 1}}));
  EXPECT_EQ(leaves(topology), (std::vector<int>{0, 0, 0, 0, 0}));
  EXPECT_EQ(topology.links().back().latency, 2e-6);
}

// Five NICs, two at a leaf: three leaves. All switches above are one, and each leaf's two links
// to them one of 2 GB/s.
TEST(FabricTest, SprayedFatTreeOfTwoLevels) {
  const Topology topology = joined(5, "fat_tree { down: [2, 4] }");
  EXPECT_EQ(levels(topology), (Counts{{0, 3}, {1, 1}}));
  EXPECT_EQ(leaves(topology), (std::vector<int>{0, 0, 1, 1, 2}));
  EXPECT_EQ(cables(topology), (Cables{"0/0--1/0 2", "0/1--1/0 2", "0/2--1/0 2"}));
  EXPECT_EQ(topology.elements().back().width, 2);
}

// With DMODK there are the two spines, and each leaf has a link to each.
TEST(FabricTest, DmodkFatTreeOfTwoLevels) {
  const Topology topology = joined(5, "fat_tree { down: [2, 4] } routing: DMODK");
  EXPECT_EQ(levels(topology), (Counts{{0, 3}, {1, 2}}));
  EXPECT_EQ(
      cables(topology),
      (Cables{"0/0--1/0 1", "0/0--1/1 1", "0/1--1/0 1", "0/1--1/1 1", "0/2--1/0 1", "0/2--1/1 1"}));
}

// Eight NICs in pods of 2*2: a pod has 2 leaves with 2 links up to 2 spines, which have 2 up to
// each 2 of 4 cores. Sprayed: a pod's spines are one, with 4 GB/s up.
TEST(FabricTest, FatTreeOfThreeLevels) {
  const Topology sprayed = joined(8, "fat_tree { down: [2, 2, 2] }");
  EXPECT_EQ(levels(sprayed), (Counts{{0, 4}, {1, 2}, {2, 1}}));
  EXPECT_EQ(
      cables(sprayed),
      (Cables{"0/0--1/0 2", "0/1--1/0 2", "0/2--1/1 2", "0/3--1/1 2", "1/0--2/0 4", "1/1--2/0 4"}));
  const Topology dmodk = joined(8, "fat_tree { down: [2, 2, 2] } routing: DMODK");
  EXPECT_EQ(levels(dmodk), (Counts{{0, 4}, {1, 4}, {2, 4}}));
  EXPECT_EQ(cables(dmodk).size(), 4 * 2 + 4 * 2);
  EXPECT_THAT(cables(dmodk), testing::Contains("1/1--2/2 1"));  // spine w = 1: cores 2w, 2w + 1
  EXPECT_THAT(cables(dmodk), testing::Contains("1/3--2/3 1"));
}

// Four NICs of 1 GB/s at a leaf over oversubscription 2: two links up, or one of 2 GB/s.
// 4 NICs are two leaves below one pair of spines: the third level, for 2 such groups, would join
// nothing. 2 NICs are one leaf.
TEST(FabricTest, LevelsThatJoinNothingAreNotThere) {
  for (const std::string routing : {"SPRAY", "DMODK"}) {
    const std::string fabric = "fat_tree { down: [2, 2, 2] } routing: " + routing;
    const auto top = [&](int nics) { return levels(joined(nics, fabric)).rbegin()->first; };
    EXPECT_EQ(top(8), 2) << routing;
    EXPECT_EQ(top(4), 1) << routing;
    EXPECT_EQ(top(2), 0) << routing;
  }
}

TEST(FabricTest, Oversubscription) {
  const std::string tree = "fat_tree { down: [4, 2] oversubscription: 2 } routing: DMODK";
  EXPECT_EQ(levels(joined(8, tree)), (Counts{{0, 2}, {1, 2}}));
  EXPECT_EQ(cables(joined(8, tree + " link_rate: '2 GB/s'")), (Cables{"0/0--1/0 2", "0/1--1/0 2"}));
}

// Rails of two nodes each: NIC i of nodes 0 and 1 at leaf i, of nodes 2 and 3 at leaf 2 + i.
TEST(FabricTest, Rails) {
  const Topology topology =
      build_topology(small_cluster(4,
                                   2,
                                   plain_nodes(2) + "fabric { fat_tree { down: [2, 4] rails: "
                                                    "true } }"));
  EXPECT_EQ(leaves(topology), (std::vector<int>{0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(levels(topology), (Counts{{0, 4}, {1, 1}}));
}

// Three groups of two routers with two global ports each: 4 ports to 2 groups, 2 to each. Group 0's
// links to group 1 are its ports 0 and 1, of router 0, and there ports 2 and 3 (from group 1,
// group 0 comes second), of router 3; to group 2 ports 2 and 3, of router 1, there 0 and 1.
TEST(FabricTest, Dragonfly) {
  const Topology topology =
      joined(6, "dragonfly { routers_per_group: 2 nics_per_router: 1 global_links_per_router: 2 }");
  EXPECT_EQ(levels(topology), (Counts{{0, 6}}));
  EXPECT_EQ(cables(topology),
            (Cables{"0/0--0/1 1",
                    "0/0--0/3 1",
                    "0/0--0/3 1",
                    "0/1--0/4 1",
                    "0/1--0/4 1",
                    "0/2--0/3 1",
                    "0/2--0/5 1",
                    "0/2--0/5 1",
                    "0/4--0/5 1"}));
}

// 3x2: rings of three, and a single link where the ring would be of two.
TEST(FabricTest, Torus) {
  const Topology topology = joined(6, "torus { dimensions: [3, 2] }");
  EXPECT_EQ(cables(topology),
            (Cables{"0/0--0/1 1",
                    "0/1--0/2 1",
                    "0/2--0/0 1",
                    "0/3--0/4 1",
                    "0/4--0/5 1",
                    "0/5--0/3 1",
                    "0/0--0/3 1",
                    "0/1--0/4 1",
                    "0/2--0/5 1"}));
  EXPECT_EQ(cables(joined(8, "torus { dimensions: [2, 2, 2] }")).size(), 12);  // a cube's edges
}

TEST(FabricTest, NoRoom) {
  EXPECT_THAT(error_with(7, "torus { dimensions: [3, 2] }"), HasSubstr("room for 6 NICs"));
  EXPECT_THAT(error_with(9, "fat_tree { down: [2, 4] }"),
              HasSubstr("the top level has 2 switches that nothing joins"));
  EXPECT_THAT(error_with(8,
                         "dragonfly { routers_per_group: 1 nics_per_router: 1 "
                         "global_links_per_router: 2 }"),
              HasSubstr("8 groups need 7 global links of each, which has 2"));
}

TEST(FabricTest, LinksMustBeWhole) {
  EXPECT_THAT(error_with(6, "fat_tree { down: [3, 2] oversubscription: 2 }"),
              HasSubstr("a switch of level 0 would have 1.5 links upward"));
  EXPECT_THAT(error_with(6, "fat_tree { down: [3, 2] oversubscription: 100 }"),
              HasSubstr("would have 0.03 links upward"));
}

TEST(FabricTest, RailsNeedEqualNodes) {
  const std::string more = "nodes { count: 1 node { pcie_rate: '1 GB/s' memory_rate: '1 GB/s' } }";
  const std::string fabric = "fabric { fat_tree { down: [4, 4] rails: true } }";
  EXPECT_THAT(
      error_of([&] { build_topology(small_cluster(3, 1, plain_nodes(1) + more + fabric)); }),
      HasSubstr("rails need as many NICs in every node"));
}

// Each is one error at the fabric or the nodes, before memory or time is spent.
TEST(FabricTest, AbsurdSizes) {
  const auto refused = [](const std::string& fabric, const std::string& why) {
    EXPECT_THAT(error_with(16, fabric), testing::AllOf(StartsWith("c.txtpb:"), HasSubstr(why)));
  };
  refused("torus { dimensions: [1000, 1000, 1000] }", "1e+09 switches with 3e+09 links for 16");
  refused("torus { dimensions: [1048576, 1048576, 1048576, 1048576] }", "1.20893e+24 switches");
  refused("fat_tree { down: [1000000, 8] }", "would have 1e+06 links upward");
  refused("fat_tree { down: [40000, 40000, 8] }", "1600000000 switches of level 2");
  refused(
      "dragonfly { routers_per_group: 1000000 nics_per_router: 1 global_links_per_router: 1000000 "
      "}",
      "1e+06 switches with 5e+11 links");
  refused(
      "dragonfly { routers_per_group: 1 nics_per_router: 1 global_links_per_router: 1000000000 }",
      "global_links_per_router");
}

// Ways to 65,536 switches, each found among all.
TEST(FabricTest, TooManySwitchesToFindWaysThrough) {
  EXPECT_THAT(error_with(65536, "torus { dimensions: [64, 32, 32] }"),
              HasSubstr("65536 switches, 65536 of them with NICs: more than ways can be found"));
}

TEST(FabricTest, TooManyPartsOfNodes) {
  EXPECT_THAT(error_of([] {
                build_topology(small_cluster(
                    10000,
                    2,
                    "nodes { node { pcie_rate: '1 GB/s' memory_rate: '1 GB/s' nvlink { rate: '1 "
                    "GB/s' switches: 1024 } nics: 1 nic_rate: '1 GB/s' nic_placement: ROOT_PORT } "
                    "} fabric { single_switch {} }"));
              }),
              testing::AllOf(StartsWith("c.txtpb:2:"), HasSubstr("parts and")));
}

}  // namespace
}  // namespace moesim
