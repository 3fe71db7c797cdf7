// Where measured times of collectives may be spent.
#include "sim/engine/bottleneck_places.h"

#include <gmock/gmock.h>

#include "sim/cluster/wired_cluster.h"
#include "sim/engine/simulate.h"
#include "tests/unit/engine/program_maker.h"

namespace moesim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto kAllToAll = CollectiveOperation::kAllToAll;
constexpr auto kAllGather = CollectiveOperation::kAllGather;

// Two nodes of two GPUs behind a PCIe switch of 1 TB/s, a byte each picosecond, without NVLink.
Cluster cluster() {
  return wired(parse_cluster(R"(num_nodes: 2 gpus_per_node: 2 gpu_memory: "1 GiB"
nodes { node { gpus_per_pcie_switch: 2 pcie_rate: "1 TB/s" memory_rate: "100 TB/s"
  nics: 1 nic_rate: "100 TB/s" nic_placement: ROOT_PORT nic_pcie_rate: "100 TB/s" } }
fabric { single_switch {} })",
                             "c.txtpb"));
}

CollectiveCost measured(CollectiveOperation operation, Span span) {
  CollectiveCost cost;
  cost.operation = operation;
  cost.span = span;
  cost.seconds_per_byte = 1e-12;
  return cost;
}

Profile profile() {
  Profile profile;
  profile.collectives = {measured(kAllGather, Span::kNode), measured(kAllToAll, Span::kFabric)};
  return profile;
}

// An AllGather within the nodes on one stream, an AlltoAll between them on another.
Program inside_and_outside() {
  ProgramMaker maker(4);
  const int inside = maker.group("inside", {{0, 1}, {2, 3}});
  const int outside = maker.group("outside", {{0, 2}, {1, 3}});
  maker.collective("intra", {.operation = kAllGather, .group = inside, .bytes = 8000});
  maker.collective("inter", {.operation = kAllToAll, .group = outside, .bytes = 8000});
  return maker.program();
}

std::vector<std::string> links(const BottleneckChoices& choices) {
  std::vector<std::string> links;
  for (const BottleneckChoice& choice : choices.choices) {
    links.push_back(choice.link);
  }
  return links;
}

// Within a node: up to the switch and down again. Between nodes: by the GPU's link, the switch's
// uplink, the socket, and the NIC into the fabric.
TEST(BottleneckPlacesTest, EachSpanHasTheLinksThatItsCollectivesCross) {
  const Program program = inside_and_outside();
  const std::vector<BottleneckChoices> choices =
      bottleneck_choices({&program}, cluster(), profile());
  ASSERT_EQ(choices.size(), 2U);
  EXPECT_EQ(choices[0].span, Span::kNode);
  EXPECT_EQ(choices[0].choices[0].place, BottleneckPlace::kPort);
  EXPECT_EQ(choices[0].choices[1].place, BottleneckPlace::kPrivate);
  EXPECT_EQ(choices[0].choices[2].place, BottleneckPlace::kLink);
  EXPECT_THAT(links(choices[0]), ElementsAre("", "", "node:*/gpu:* -- node:*/pcie_switch:*"));
  EXPECT_EQ(choices[1].span, Span::kFabric);
  EXPECT_THAT(links(choices[1]),
              ElementsAre("",
                          "",
                          "node:*/gpu:* -- node:*/pcie_switch:*",
                          "node:*/nic:* -- node:*/root_port:*",
                          "node:*/nic:* -- switch:0/*",
                          "node:*/pcie_switch:* -- node:*/root_port:*",
                          "node:*/root_port:* -- node:*/socket:*"));
}

// A start-up alone is no time that is spent anywhere.
TEST(BottleneckPlacesTest, WhatIsNotMeasuredHasNoPlace) {
  const Program program = inside_and_outside();
  Profile startup = profile();
  startup.collectives[0].only_startup = true;
  const std::vector<BottleneckChoices> choices = bottleneck_choices({&program}, cluster(), startup);
  ASSERT_EQ(choices.size(), 1U);
  EXPECT_EQ(choices[0].span, Span::kFabric);
  EXPECT_THAT(bottleneck_choices({&program}, cluster(), {}), IsEmpty());
}

TEST(BottleneckPlacesTest, AClusterOfPortsHasNoLinks) {
  const Cluster ports = parse_cluster(
      "num_nodes: 2 gpus_per_node: 2 gpu_memory: '1 GiB' intra_node { rate: '1 TB/s' } "
      "inter_node { rate: '1 TB/s' }",
      "c.txtpb");
  const Program program = inside_and_outside();
  for (const BottleneckChoices& of_span : bottleneck_choices({&program}, ports, profile())) {
    EXPECT_THAT(links(of_span), ElementsAre("", ""));
  }
}

// 3 choices within nodes times 7 between them, all of which can be simulated. Alone each takes 8000
// ps. On one port or on the GPUs' links together they take 16000, with either on something of its
// own, or on links that the other does not cross, no more than the links themselves need: a GPU's
// carries 4000 of each, the uplink 2 * 4000 of the AlltoAll.
TEST(BottleneckPlacesTest, EveryPlacementRuns) {
  const Program program = inside_and_outside();
  const Cluster wired_cluster = cluster();
  const auto all = bottleneck_placements(bottleneck_choices({&program}, wired_cluster, profile()));
  EXPECT_EQ(all.size(), 21U);
  Time most;
  for (const BottleneckPlacement& placement : all) {
    const Profile changed = placed(profile(), placement);
    EXPECT_TRUE(is_placed(changed, placement));
    const Time end = simulate(program, &wired_cluster, &changed).end;
    EXPECT_GE(end, ps(8000));
    most = std::max(most, end);
  }
  EXPECT_EQ(most, ps(16000));
  EXPECT_TRUE(is_placed(profile(), all.front()));  // PORT, PORT
  EXPECT_FALSE(is_placed(profile(), all.back()));
}

}  // namespace
}  // namespace moesim
