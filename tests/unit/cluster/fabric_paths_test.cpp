// Ways through the fabric. Nodes of one GPU and one NIC of 1 GB/s.
#include "sim/cluster/fabric_paths.h"

#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/cluster/build_topology.h"
#include "tests/unit/cluster/small_clusters.h"

namespace moesim {
namespace {

using Names = std::vector<std::string>;

class Net {
 public:
  Net(int num_nodes, const std::string& fabric, const std::string& more = "")
      : cluster_(small_cluster(num_nodes, 1, plain_nodes(1) + "fabric { " + fabric + " }" + more)),
        topology_(build_topology(cluster_)),
        paths_(topology_, cluster_.wiring->fabric) {}

  const Topology& topology() const { return topology_; }

  Route route(int from, int to) const {
    Route route;
    paths_.append({from, to}, 1, route);
    return route;
  }

  Names names(int from, int to) const { return hops(topology_, route(from, to)); }

  // The switches, in order.
  Names switches(int from, int to) const {
    Names found;
    Route way = route(from, to);
    way.pop_back();
    for (const Hop& hop : way) {
      found.push_back(name(topology_.elements()[topology_.links()[hop.link].to]).substr(7));
    }
    return found;
  }

  // What sending a byte between all pairs of NICs puts on each link between switches.
  std::map<std::string, double> loads() const {
    std::map<std::string, double> loads;
    const auto count = static_cast<int>(topology_.nics().size());
    for (int pair = 0; pair < count * count; ++pair) {
      if (pair / count == pair % count) {
        continue;
      }
      for (const Hop& hop : route(pair / count, pair % count)) {
        if (topology_.elements()[topology_.links()[hop.link].from].node == kNone &&
            topology_.elements()[topology_.links()[hop.link].to].node == kNone) {
          loads[link_name(topology_, hop.link)] += hop.share;
        }
      }
    }
    return loads;
  }

 private:
  Cluster cluster_;
  Topology topology_;
  FabricPaths paths_;
};

std::set<double> values(const std::map<std::string, double>& loads) {
  std::set<double> all;
  for (const auto& [link, load] : loads) {
    all.insert(load);
  }
  return all;
}

TEST(FabricPathsTest, AtOneSwitch) {
  EXPECT_EQ(Net(3, "single_switch {}").names(0, 2),
            (Names{"node:0/nic:0 -> switch:0/0", "switch:0/0 -> node:2/nic:0"}));
}

TEST(FabricPathsTest, SprayedFatTree) {
  const Net net(8, "fat_tree { down: [2, 2, 2] }");
  EXPECT_EQ(net.switches(0, 1), (Names{"0/0"}));
  EXPECT_EQ(net.switches(0, 3), (Names{"0/0", "1/0", "0/1"}));
  EXPECT_EQ(net.switches(0, 7), (Names{"0/0", "1/0", "2/0", "1/1", "0/3"}));
}

// By the receiver's number d: leaf to spine d mod 2, spine to its core d/2 mod 2, that is core
// 2 (d mod 2) + d/2 mod 2 of its pod. NIC 6: spine 0, core 1; NIC 7: spine 1 of pod 0, core 3.
TEST(FabricPathsTest, DmodkFatTree) {
  const Net net(8, "fat_tree { down: [2, 2, 2] } routing: DMODK");
  EXPECT_EQ(net.switches(0, 6), (Names{"0/0", "1/0", "2/1", "1/2", "0/3"}));
  EXPECT_EQ(net.switches(0, 7), (Names{"0/0", "1/1", "2/3", "1/3", "0/3"}));
  EXPECT_EQ(net.switches(1, 7), (Names{"0/0", "1/1", "2/3", "1/3", "0/3"}));
}

// All pairs over a full tree. A leaf's two NICs send to 6 NICs beyond it: 12 messages over 2 links,
// 6 each; a spine (of 2, for a pod of 4 NICs and 4 beyond): 16 over the pod's 4 links, 4 each.
TEST(FabricPathsTest, DmodkIsBalanced) {
  const Net net(8, "fat_tree { down: [2, 2, 2] } routing: DMODK");
  for (const auto& [link, load] : net.loads()) {
    EXPECT_EQ(load, link.find("switch:2") == std::string::npos ? 6 : 4) << link;
  }
}

// Four rails on leaves of two nodes: NIC 0 of each of 4 nodes has numbers 0, 4, 8, 12 among all,
// but 0, 1 on its leaf. Between same rails, both links up of each leaf are used.
TEST(FabricPathsTest, DmodkUsesAllLinksOfARail) {
  const Cluster cluster = small_cluster(
      4, 4, plain_nodes(4) + "fabric { fat_tree { down: [2, 8] rails: true } routing: DMODK }");
  const Topology topology = build_topology(cluster);
  const FabricPaths paths(topology, cluster.wiring->fabric);
  std::set<int> used;
  for (const int to : {8, 12}) {  // NIC 0 of nodes 2 and 3
    Route route;
    paths.append({0, to}, 1, route);
    ASSERT_EQ(route.size(), 4);
    used.insert(route[1].link);
  }
  EXPECT_EQ(used.size(), 2);
}

TEST(FabricPathsTest, HashTakesOneWayThatTheSeedDecides) {
  const std::string tree = "fat_tree { down: [4, 2] } routing: HASH seed: ";
  const Net net(8, tree + "1");
  std::set<Names> ways;
  bool differs = false;
  for (int from = 0; from < 4; ++from) {
    for (int to = 4; to < 8; ++to) {
      EXPECT_EQ(net.switches(from, to).size(), 3);
      EXPECT_EQ(net.names(from, to), Net(8, tree + "1").names(from, to));
      differs |= net.names(from, to) != Net(8, tree + "2").names(from, to);
      ways.insert(net.switches(from, to));
    }
  }
  EXPECT_TRUE(differs);
  EXPECT_GT(ways.size(), 1U);
}

// 0 to 5 of a 3x3 torus is one step back on its row (0 to 2) and one down, in either order: half
// each way. DMODK goes along the row first.
TEST(FabricPathsTest, Torus) {
  const std::string torus = "torus { dimensions: [3, 3] }";
  EXPECT_EQ(Net(9, torus).names(0, 5),
            (Names{"node:0/nic:0 -> switch:0/0",
                   "switch:0/0 -> switch:0/2 * 0.5",
                   "switch:0/0 -> switch:0/3 * 0.5",
                   "switch:0/2 -> switch:0/5 * 0.5",
                   "switch:0/3 -> switch:0/5 * 0.5",
                   "switch:0/5 -> node:5/nic:0"}));
  EXPECT_EQ(Net(9, torus + "routing: DMODK").switches(0, 5), (Names{"0/0", "0/2", "0/5"}));
}

// All pairs of a 3x3 torus: distance sums are 4*1 + 4*2 = 12 from each, 108 in all, evenly over
// 36 directed links.
TEST(FabricPathsTest, SprayedTorusIsBalanced) {
  const auto loads = Net(9, "torus { dimensions: [3, 3] }").loads();
  EXPECT_EQ(loads.size(), 36);
  for (const auto& [link, load] : loads) {
    EXPECT_NEAR(load, 3, 1e-12) << link;
  }
}

// One link of a ring of four away: the other way round, 3 steps instead of one.
TEST(FabricPathsTest, AroundARemovedLink) {
  const Net net(
      4, "torus { dimensions: [4] }", "changes { at: 'switch:0/0 -- switch:0/1' remove: true }");
  EXPECT_EQ(net.switches(0, 1), (Names{"0/0", "0/3", "0/2", "0/1"}));
}

// A slower link takes its part: leaf 0 has links of 1 and 1/2 to two spines.
TEST(FabricPathsTest, SprayFollowsRates) {
  const std::string ring = "torus { dimensions: [4] }";
  const Net net(4, ring, "changes { at: 'switch:0/0 -- switch:0/1' rate_factor: 0.5 }");
  EXPECT_EQ(net.names(0, 2),
            (Names{"node:0/nic:0 -> switch:0/0",
                   "switch:0/0 -> switch:0/1 * 0.3333",
                   "switch:0/0 -> switch:0/3 * 0.6667",
                   "switch:0/1 -> switch:0/2 * 0.3333",
                   "switch:0/3 -> switch:0/2 * 0.6667",
                   "switch:0/2 -> node:2/nic:0"}));
}

// Three groups of two routers: 0 and 1, 2 and 3, 4 and 5; global cables 0-3, 1-4, 2-5 (each twice).
// NIC 0 to NIC 2 crosses 0 -> 3 -> 2; NIC 0 to NIC 5: to 1, 4 and 5, or to 3, 2 and 5: half each.
TEST(FabricPathsTest, Dragonfly) {
  const Net net(6,
                "dragonfly { routers_per_group: 2 nics_per_router: 1 global_links_per_router: 2 "
                "} routing: DMODK");
  EXPECT_EQ(net.switches(0, 2), (Names{"0/0", "0/3", "0/2"}));
  EXPECT_EQ(net.switches(0, 5).size(), 4);
}

TEST(FabricPathsTest, ADragonflysPairsHaveThreeLinksAtMost) {
  const Net net(20,
                "dragonfly { routers_per_group: 4 nics_per_router: 1 global_links_per_router: 1 } "
                "routing: DMODK");
  for (int pair = 0; pair < 400; ++pair) {
    if (pair / 20 != pair % 20) {
      EXPECT_LE(net.switches(pair / 20, pair % 20).size(), 4);
    }
  }
}

TEST(FabricPathsTest, SharesAddUpOnEachLevel) {
  const Net net(8, "fat_tree { down: [2, 2, 2] } routing: SPRAY");
  EXPECT_EQ(values(net.loads()), (std::set<double>{12, 16}));  // 2*6 of a leaf, 4*4 of a pod
}

}  // namespace
}  // namespace moesim
