// How busy links are after an iteration: numbers, tables, colours.
#include "sim/report/link_load.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "sim/cluster/cluster_links.h"
#include "sim/cluster/wired_cluster.h"
#include "sim/report/load_scale.h"
#include "tests/support/golden.h"
#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using test::HandProgram;
using test::ps;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// `num_nodes` nodes of a GPU and a NIC, of which node 1's NIC is slower by half. PCIe: GPU, root
// port, socket, root port, NIC.
Cluster chain(int num_nodes) {
  return wired(parse_cluster("name: 'chain' num_nodes: " + std::to_string(num_nodes) + R"(
gpus_per_node: 1 gpu: "X" gpu_memory: "1 GiB"
nodes { node { pcie_rate: "10 GB/s" memory_rate: "100 GB/s"
               nics: 1 nic_rate: "4 GB/s" nic_placement: ROOT_PORT } }
fabric { single_switch {} }
changes { at: "node:1/nic:0" kind: NETWORK rate_factor: 0.5 }
)",
                             "chain.txtpb"));
}

// AlltoAll of 8 MB among all ranks.
HandProgram exchange(int num_ranks) {
  HandProgram hand(num_ranks, {"inter"});
  std::vector<int> ranks(num_ranks);
  for (int rank = 0; rank < num_ranks; ++rank) {
    ranks[rank] = rank;
  }
  Collective collective = test::all_to_all(hand.add_group("world", {ranks}));
  collective.bytes = 8'000'000;
  hand.add_collective("exchange", 0, collective, ps(0));
  return hand;
}

// Two ranks send 4 MB to each other: 2 ms at the slow NIC's 2 GB/s, 1 ms at the other's 4 GB/s,
// 0.4 ms over PCIe, of an iteration of 10 ms. Media that are used alike: both ways of node 1's NIC,
// of node 0's NIC, and PCIe of both nodes.
TEST(LinkLoadTest, RowsAreBusiestFirst) {
  const Cluster cluster = chain(2);
  const HandProgram hand = exchange(2);
  const Profile profile;
  const LinkLoad load = make_link_load(hand.program(), cluster, &profile, ps(10'000'000'000));
  ASSERT_GE(load.rows.size(), 3U);
  EXPECT_EQ(load.rows[0].kind, "network");
  EXPECT_THAT(load.rows[0].name, AllOf(HasSubstr("node:1/nic:0"), HasSubstr("switch:0/0")));
  EXPECT_EQ(load.rows[0].count, 2);
  EXPECT_DOUBLE_EQ(load.rows[0].rate, 2e9);
  EXPECT_DOUBLE_EQ(load.rows[0].bytes, 4e6);
  EXPECT_DOUBLE_EQ(load.rows[0].busy_seconds, 2e-3);
  EXPECT_DOUBLE_EQ(load.rows[0].utilisation, 0.2);
  EXPECT_THAT(load.rows[1].name, HasSubstr("node:0/nic:0"));
  EXPECT_DOUBLE_EQ(load.rows[1].utilisation, 0.1);
  EXPECT_EQ(load.rows[2].kind, "pcie");
  EXPECT_DOUBLE_EQ(load.rows[2].utilisation, 0.04);
  for (const LinkLoad::Row& row : load.rows) {
    EXPECT_NE(row.kind, "port");  // the profile has measured nothing
  }
  EXPECT_EQ(cluster.links->topology.media()[load.busiest_medium], 2e9);
}

// Measured at 1 ns a byte, the nominal 8 MB take 8 ms of each port between nodes.
TEST(LinkLoadTest, WhatIsMeasuredLoadsPorts) {
  CollectiveCost cost;
  cost.operation = CollectiveOperation::kAllToAll;
  cost.span = Span::kFabric;
  cost.group_size = 2;
  cost.seconds_per_byte = 1e-9;
  Profile profile;
  profile.collectives = {cost};
  const LinkLoad load =
      make_link_load(exchange(2).program(), chain(2), &profile, ps(10'000'000'000));
  ASSERT_GE(load.rows.size(), 2U);
  const LinkLoad::Row& port = load.rows[load.rows.size() - 2];
  EXPECT_EQ(port.kind, "port");
  EXPECT_EQ(port.name, "inter-node out");
  EXPECT_DOUBLE_EQ(port.utilisation, 0.8);
  EXPECT_THAT(to_csv(load), HasSubstr("\nport,inter-node out,2,,,0.008,0.8\n"));
  const auto json = nlohmann::json::parse(to_json(load));
  EXPECT_TRUE(json["links"].back()["bytes"].is_null());
  EXPECT_EQ(json["links"][0]["utilisation"], 0.2);
  EXPECT_EQ(json["iteration_seconds"], 0.01);
}

// Measured at 1 ns a byte and spent on the NICs' links, 8 MB make the slower one, on which 4 MB
// take 2 ms, busy for 8 ms, the faster one for 4; what they carry stays 4 MB.
TEST(LinkLoadTest, ALinkThatIsFullCarriesNoMore) {
  CollectiveCost cost;
  cost.operation = CollectiveOperation::kAllToAll;
  cost.span = Span::kFabric;
  cost.group_size = 2;
  cost.seconds_per_byte = 1e-9;
  cost.bottleneck = BottleneckPlace::kLink;
  cost.bottleneck_link = "node:*/nic:* -- switch:0/*";
  Profile profile;
  profile.collectives = {cost};
  const LinkLoad load =
      make_link_load(exchange(2).program(), chain(2), &profile, ps(10'000'000'000));
  ASSERT_GE(load.rows.size(), 3U);
  EXPECT_THAT(load.rows[0].name, HasSubstr("node:1/nic:0"));
  EXPECT_DOUBLE_EQ(load.rows[0].busy_seconds, 8e-3);
  EXPECT_DOUBLE_EQ(load.rows[0].utilisation, 0.8);
  EXPECT_DOUBLE_EQ(load.rows[0].bytes, 4e6);
  EXPECT_DOUBLE_EQ(load.rows[1].busy_seconds, 4e-3);
  EXPECT_DOUBLE_EQ(load.rows[1].bytes, 4e6);
  EXPECT_DOUBLE_EQ(load.rows[2].busy_seconds, 0.4e-3);  // PCIe, at 10 GB/s
  EXPECT_DOUBLE_EQ(load.rows[2].bytes, 4e6);
}

TEST(LinkLoadTest, Csv) {
  const Profile profile;
  const LinkLoad load =
      make_link_load(exchange(2).program(), chain(2), &profile, ps(10'000'000'000));
  EXPECT_THAT(to_csv(load),
              StartsWith("kind,name,count,bytes_per_second,bytes,busy_seconds,utilisation\n"
                         "network,node:1/nic:0 -> switch:0/0,2,2000000000,4000000,0.002,0.2\n"));
}

TEST(LinkLoadTest, Picture) {
  const Profile profile;
  const Cluster cluster = chain(3);
  const LinkLoad load =
      make_link_load(exchange(3).program(), cluster, &profile, ps(10'000'000'000));
  const std::string svg = to_svg(load, cluster);
  EXPECT_THAT(svg, HasSubstr("busiest link: node:1/nic:0 -&gt; switch:0/0"));
  EXPECT_THAT(svg, HasSubstr("chain: node 1"));  // that has it
  EXPECT_EQ(test::golden_difference("report/link_load.svg", svg), "");
}

TEST(LinkLoadTest, NothingIsBusyWhereNothingMoves) {
  HandProgram hand(2, {"compute"});
  hand.add_fixed("work", 0, ps(1000));
  const Cluster cluster = chain(2);
  const Profile profile;
  const LinkLoad load = make_link_load(hand.program(), cluster, &profile, ps(1000));
  EXPECT_EQ(load.busiest_medium, kNone);
  EXPECT_TRUE(load.rows.empty());
  const std::string svg = to_svg(load, cluster);
  EXPECT_THAT(svg, HasSubstr("no collective crosses a link"));
  EXPECT_THAT(svg, Not(HasSubstr(load_colour(1) + "\" stroke-width")));
  EXPECT_TRUE(make_link_load(hand.program(), cluster, &profile, Time::zero()).rows.empty());
}

// A node behind the first 23 that has the busiest link is not among those that are cut: of 30 nodes
// 23 are drawn, and node 26, and 6 more.
TEST(LinkLoadTest, TheBusiestNodeIsDrawnInALongRow) {
  const Cluster cluster = wired(parse_cluster(R"(name: "row" num_nodes: 30
gpus_per_node: 1 gpu: "X" gpu_memory: "1 GiB"
nodes { node { pcie_rate: "10 GB/s" memory_rate: "100 GB/s"
               nics: 1 nic_rate: "4 GB/s" nic_placement: ROOT_PORT } }
fabric { single_switch {} }
changes { at: "node:26/nic:0" kind: NETWORK rate_factor: 0.5 }
)",
                                              "row.txtpb"));
  const Profile profile;
  const std::string svg = to_svg(
      make_link_load(exchange(30).program(), cluster, &profile, ps(100'000'000'000)), cluster);
  for (const char* label : {">node:22<", ">node:26<", ">6 more<", "row: node 26"}) {
    EXPECT_THAT(svg, HasSubstr(label));
  }
  EXPECT_THAT(svg, Not(HasSubstr(">node:25<")));
}

TEST(LoadScaleTest, ColoursGoFromPaleBlueToRed) {
  EXPECT_EQ(load_colour(0), "#dddddd");
  EXPECT_EQ(load_colour(1e-9), "#b9cfe4");
  EXPECT_EQ(load_colour(0.45), "#3d7fbf");
  // Halfway from #3d7fbf to #8f63a3: (61 + 143) / 2, (127 + 99) / 2, (191 + 163) / 2.
  EXPECT_EQ(load_colour(0.55), "#6671b1");
  EXPECT_EQ(load_colour(1), "#b00d1e");
  EXPECT_EQ(load_colour(1.5), "#b00d1e");
}

}  // namespace
}  // namespace moesim
