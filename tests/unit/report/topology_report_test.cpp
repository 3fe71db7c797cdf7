// What is shown of a cluster's links: table, JSON, Graphviz, SVG.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sim/cluster/cluster_links.h"
#include "sim/cluster/wired_cluster.h"
#include "sim/report/layered_picture.h"
#include "sim/report/link_style.h"
#include "sim/report/topology_dot.h"
#include "sim/report/topology_summary.h"
#include "sim/report/topology_svg.h"

namespace moesim {
namespace {

using testing::HasSubstr;
using testing::Not;

// Two nodes of two GPUs; a NIC of the second one is slower, a NVLink of the first one is gone.
Cluster two_nodes() {
  return wired(parse_cluster(R"(
name: "two" num_nodes: 2 gpus_per_node: 2 gpu: "X" gpu_memory: "1 GiB"
nodes { node { pcie_rate: "10 GB/s" pcie_latency: "500 ns" memory_rate: "100 GB/s"
  nvlink { rate: "40 GB/s" switches: 2 } nics: 2 nic_rate: "4 GB/s" nic_placement: ROOT_PORT } }
fabric { fat_tree { down: [2, 2] } link_latency: "1 us" }
changes { at: "node:1/nic:1" kind: NETWORK rate_factor: 0.5 }
changes { at: "node:0/gpu:1 -- node:0/nvswitch:1" remove: true }
)",
                             "two.txtpb"));
}

// Bisection: node 0 sends 2 * 4 GB/s, of which node 1 takes 4 + 2. Ports, the fastest's: node 1's
// GPUs have both NVSwitches of 20 GB/s; the other NICs carry 4 GB/s. Latencies: two links of PCIe
// at each end, one of which is within the processor, but for root ports: GPU, root port, NIC:
// 2 * 500 ns at each end, and four links of the network.
TEST(TopologyReportTest, Table) {
  EXPECT_EQ(to_text(summarize(two_nodes(), {{1, 2}})),
            R"(two: 2 nodes of 2 GPUs X, 1 GiB each

parts of a node  gpu  nic  nvswitch  pcie_switch  root_port  socket  memory
  nodes 0..1       2    2         2            0          4       1       1

switches of the fabric
  level 0: 2
  level 1: 1, each for 2 equal ones over which messages are sprayed

links      between                   rate                         latency  number
  nvlink   gpu -- nvswitch        20 GB/s  each way                   0 s       7
  nvlink   gpu -- nvswitch        removed                             0 s       1
  pcie     gpu -- root_port       10 GB/s  each way            500.000 ns       4
  pcie     nic -- root_port       10 GB/s  each way            500.000 ns       4
  pcie     root_port -- socket    10 GB/s  each way                   0 s       8
  memory   socket -- memory      100 GB/s  both ways together         0 s       2
  network  nic -- switch 0         4 GB/s  each way              1.000 us       3
  network  nic -- switch 0         2 GB/s  each way              1.000 us       1
  network  switch 0 -- switch 1    8 GB/s  each way              1.000 us       2

ports of a GPU       rate  latency
  into its node   40 GB/s  0 s
  to other nodes   4 GB/s  6.000 us

transfers
  GPUs that no NVLink joins  over PCIe in the whole node (peer_access: SYSTEM)
  GPUs and NICs              directly: GPUDirect
  to other nodes             by a NIC near the sender

bisection bandwidth: 6 GB/s from the first 1 of 2 nodes to the rest (minimal cut)

route from rank 1 to 2: alone 4 GB/s, latency 6.000 us
  100.0 %  node:0/gpu:1 -> node:0/root_port:1     pcie     10 GB/s
  100.0 %  node:0/root_port:1 -> node:0/socket:0  pcie     10 GB/s
  100.0 %  node:0/socket:0 -> node:0/root_port:3  pcie     10 GB/s
  100.0 %  node:0/root_port:3 -> node:0/nic:1     pcie     10 GB/s
  100.0 %  node:0/nic:1 -> switch:0/0             network   4 GB/s
  100.0 %  switch:0/0 -> switch:1/0               network   8 GB/s
  100.0 %  switch:1/0 -> switch:0/1               network   8 GB/s
  100.0 %  switch:0/1 -> node:1/nic:0             network   4 GB/s
  100.0 %  node:1/nic:0 -> node:1/root_port:2     pcie     10 GB/s
  100.0 %  node:1/root_port:2 -> node:1/socket:0  pcie     10 GB/s
  100.0 %  node:1/socket:0 -> node:1/root_port:0  pcie     10 GB/s
  100.0 %  node:1/root_port:0 -> node:1/gpu:0     pcie     10 GB/s
)");
}

// Staged in memory of 3 GB/s for both ways, a message alone gets half of that.
// What an option for transfers comes to, also where it comes to nothing.
TEST(TopologyReportTest, Transfers) {
  const auto summary = [](const std::string& nvlink) {
    return summarize(wired(parse_cluster(
        R"(name: "t" num_nodes: 2 gpus_per_node: 2 gpu_memory: "1 GiB"
nodes { node { pcie_rate: "10 GB/s" memory_rate: "100 GB/s" nics: 2 nic_rate: "4 GB/s"
  nic_placement: ROOT_PORT )" +
            nvlink + R"( } }
fabric { single_switch {} }
transfers { peer_access: NEVER no_gpudirect: true pxn: true })",
        "t.txtpb")));
  };
  const TopologySummary without = summary("");
  EXPECT_THAT(to_text(without), HasSubstr(R"(
transfers
  GPUs of a node  through a socket's memory (peer_access: NEVER)
  GPUs and NICs   through a socket's memory (no_gpudirect)
  to other nodes  by a NIC near the sender: pxn is without effect, no NVLink leads to a neighbour
)"));
  const auto json = nlohmann::json::parse(to_json(without))["transfers"];
  EXPECT_EQ(json["peer_access"], "NEVER");
  EXPECT_EQ(json["no_gpudirect"], true);
  EXPECT_EQ(json["pxn"], true);
  EXPECT_EQ(json["pxn_has_effect"], false);
  const TopologySummary with = summary("nvlink { rate: '40 GB/s' }");
  EXPECT_THAT(to_text(with), HasSubstr("\n  to other nodes             PXN: by the NIC of the"));
  EXPECT_EQ(nlohmann::json::parse(to_json(with))["transfers"]["pxn_has_effect"], true);
}

TEST(TopologyReportTest, AMessageThatTakesAMediumTwiceGetsHalf) {
  const TopologySummary summary = summarize(wired(parse_cluster(
      "num_nodes: 1 gpus_per_node: 2 gpu_memory: '1 GiB' nodes { node { pcie_rate: '10 GB/s' "
      "memory_rate: '3 GB/s' } } transfers { peer_access: NEVER }",
      "c.txtpb")));
  ASSERT_EQ(summary.ways.size(), 1);
  EXPECT_DOUBLE_EQ(summary.ways[0].rate, 1.5e9);
}

// Within the first node and across, each once.
TEST(TopologyReportTest, ExampleRoutes) {
  std::vector<int> ends;
  for (const TopologySummary::Way& way : summarize(two_nodes()).ways) {
    EXPECT_EQ(way.from, 0);
    ends.push_back(way.to);
  }
  EXPECT_EQ(ends, (std::vector<int>{1, 2, 3}));
}

TEST(TopologyReportTest, PortsWithoutLinks) {
  const Cluster cluster = parse_cluster(
      "num_nodes: 2 gpus_per_node: 4 gpu_memory: '1 GiB' intra_node { rate: '3 GB/s' } inter_node "
      "{ rate: '1 GB/s' latency: '2 us' }",
      "ports.txtpb");
  EXPECT_EQ(to_text(summarize(cluster)),
            R"(ports: 2 nodes of 4 GPUs, 1 GiB each

ports of a GPU      rate  latency
  into its node   3 GB/s  0 s
  to other nodes  1 GB/s  2.000 us

It is described by ports, not link by link.
)");
}

TEST(TopologyReportTest, Json) {
  const auto json = nlohmann::json::parse(to_json(summarize(two_nodes(), {{1, 2}})));
  EXPECT_EQ(json["cluster"], "two");
  EXPECT_EQ(json["nodes"][0]["parts"]["root_port"], 4);
  EXPECT_EQ(json["switches"][1]["width"], 2);
  EXPECT_EQ(json["links"][1]["bytes_per_second"], 0.0);
  EXPECT_EQ(json["links"][5]["half_duplex"], true);
  EXPECT_EQ(json["intra_node"]["bytes_per_second"], 40e9);
  EXPECT_EQ(json["bisection_bytes_per_second"], 6e9);
  EXPECT_EQ(json["routes"][0]["bytes_per_second"], 4e9);
  EXPECT_EQ(json["routes"][0]["hops"].size(), 12);
  EXPECT_EQ(json["routes"][0]["hops"][4]["link"], "node:0/nic:1 -> switch:0/0");
}

// One node opened, the other a vertex with both of its NICs on one line; what is removed is not
// there.
TEST(TopologyReportTest, Dot) {
  const std::string dot = to_dot(two_nodes().links->topology, "a \"b\"", 0);
  EXPECT_THAT(dot, HasSubstr("graph \"a \\\"b\\\"\" {\n"));
  EXPECT_THAT(dot, HasSubstr("    \"node:0/nic:1\" [label=\"nic:1\""));
  EXPECT_THAT(dot, HasSubstr("  \"node:1\";\n"));
  EXPECT_THAT(dot, HasSubstr("[label=\"switch:1/0 (2 equal)\""));
  EXPECT_THAT(dot, HasSubstr("\"node:1\" -- \"switch:0/1\" [label=\"2 x 3 GB/s\""));
  EXPECT_THAT(dot, HasSubstr("\"node:0/gpu:0\" -- \"node:0/nvswitch:1\""));
  EXPECT_THAT(dot, Not(HasSubstr("\"node:0/gpu:1\" -- \"node:0/nvswitch:1\"")));
  EXPECT_THAT(dot, Not(HasSubstr("node:1/gpu")));
  EXPECT_EQ(std::ranges::count(dot, '{'), std::ranges::count(dot, '}'));
}

TEST(TopologyReportTest, Svg) {
  const std::string svg = to_svg(two_nodes().links->topology, "a < b", 1);
  EXPECT_THAT(svg, HasSubstr(">a &lt; b: fabric</text>"));
  EXPECT_THAT(svg, HasSubstr(">a &lt; b: node 1</text>"));
  EXPECT_THAT(svg, HasSubstr(">switch:1/0 x2</text>"));
  EXPECT_THAT(svg, HasSubstr("<title>gpu:1 -- nvswitch:1: 20 GB/s, nvlink</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>node:0 -- switch:0/0: 2 x 4 GB/s, network</title>"));
  EXPECT_THAT(svg, HasSubstr(">nvlink 20 GB/s: 4 lines</text>"));
  EXPECT_THAT(svg, HasSubstr(">network 2 GB/s: 1 line</text>"));
}

// 30 nodes: the first 23 and the rest as one.
TEST(TopologyReportTest, LongRowsAreCutShort) {
  const std::string svg =
      to_svg(wired(parse_cluster("num_nodes: 30 gpus_per_node: 1 gpu_memory: '1 GiB' nodes { node "
                                 "{ pcie_rate: '1 GB/s' memory_rate: '1 GB/s' nics: 1 nic_rate: "
                                 "'1 GB/s' nic_placement: ROOT_PORT } } fabric { single_switch {} "
                                 "}",
                                 "c.txtpb"))
                 .links->topology,
             "c",
             0);
  EXPECT_THAT(svg, HasSubstr(">node:22</text>"));
  EXPECT_THAT(svg, Not(HasSubstr(">node:23</text>")));
  EXPECT_THAT(svg, HasSubstr(">7 more</text>"));
}

// A row in order; what hangs below two of it stands between them; nothing overlaps.
TEST(LayeredPictureTest, VerticesStandNearTheirNeighbours) {
  LayeredPicture picture;
  for (const char* label : {"a", "b", "c", "d"}) {
    picture.add(0, label, "#ffffff");
  }
  picture.add(1, "right", "#ffffff");
  picture.add(1, "left", "#ffffff");
  picture.cables.join({2, 4});
  picture.cables.join({3, 4});
  picture.cables.join({0, 5});
  picture.cables.join({1, 5});
  EXPECT_GT(picture.place(0), 0);
  const auto x = [&](int vertex) { return picture.vertices[vertex].x; };
  EXPECT_LT(x(0), x(1));
  EXPECT_LT(x(1), x(2));
  EXPECT_LT(x(5), x(4));
}

TEST(CablesTest, OfAKindBetweenTheSameAreOneBundle) {
  Cables cables;
  cables.join({0, 1, LinkKind::kPcie, 2e9});
  cables.join({0, 1, LinkKind::kPcie, 3e9});
  cables.join({0, 1, LinkKind::kNvLink, 3e9});
  ASSERT_EQ(cables.bundles().size(), 2);
  EXPECT_EQ(cables.bundles()[0].rate, 5e9);
  EXPECT_EQ(cables.bundles()[0].count, 2);
}

// 2 GB/s * 2^5 = 64 GB/s: five times 0.6 pixels.
TEST(LinkStyleTest, WidthsAreLogarithmic) {
  EXPECT_DOUBLE_EQ(width_of_link(64e9), 3.0);
  EXPECT_EQ(width_of_link(1e6), 0.8);
  EXPECT_EQ(width_of_link(1e18), 8);
}

}  // namespace
}  // namespace moesim
