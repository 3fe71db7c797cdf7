// Collectives over the links of a cluster: closed forms with start-up times of zero, in all
// resolutions. Links of 1 TB/s carry one byte per picosecond.
#include <algorithm>
#include <numeric>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/cluster/cluster_links.h"
#include "sim/cluster/wired_cluster.h"
#include "sim/engine/flow_maker.h"
#include "sim/engine/simulate.h"
#include "sim/engine/uncontended_work.h"
#include "tests/unit/engine/program_maker.h"

namespace moesim {
namespace {

constexpr auto kAllToAll = CollectiveOperation::kAllToAll;
constexpr auto kAllGather = CollectiveOperation::kAllGather;
constexpr auto kAllReduce = CollectiveOperation::kAllReduce;
constexpr auto kReduceScatter = CollectiveOperation::kReduceScatter;
constexpr auto kBroadcast = CollectiveOperation::kBroadcast;
constexpr auto kShift = CollectiveOperation::kShift;

// Nodes with NVLink and a NIC for each GPU at its own root port; PCIe is no bottleneck.
constexpr const char* kNvLinkNode = R"(
nodes { node { pcie_rate: "100 TB/s" memory_rate: "100 TB/s"
  nvlink { rate: "1 TB/s" } nics: GPUS nic_rate: "500 GB/s" nic_placement: ROOT_PORT } }
)";

Cluster cluster(int num_nodes, int gpus_per_node, std::string parts) {
  const size_t gpus = parts.find("GPUS");
  if (gpus != std::string::npos) {
    parts.replace(gpus, 4, std::to_string(gpus_per_node));
  }
  return wired(parse_cluster("num_nodes: " + std::to_string(num_nodes) + " gpus_per_node: " +
                                 std::to_string(gpus_per_node) + " gpu_memory: '1 GiB'" + parts,
                             "c.txtpb"));
}

class LinksTest : public testing::TestWithParam<Resolution> {
 protected:
  int collective(const Collective& descriptor, const std::string& stream = "s") {
    return maker_.collective(stream, descriptor);
  }

  Time run(const Cluster& cluster, const Profile& profile = {}) {
    maker_.program().num_ranks = cluster.num_gpus();
    const SimulationOptions options{.resolution = GetParam()};
    const Trace trace = simulate(maker_.program(), &cluster, &profile, options);
    num_classes_ = trace.classes.size();
    assumptions_ = trace.assumptions;
    return trace.end;
  }

  int world(int num_ranks) {
    std::vector<int> ranks;
    for (int rank = 0; rank < num_ranks; ++rank) {
      ranks.push_back(rank);
    }
    return maker_.group("world", {ranks});
  }

  ProgramMaker maker_{0};
  size_t num_classes_ = 0;
  std::vector<std::string> assumptions_;
};

INSTANTIATE_TEST_SUITE_P(Resolutions,
                         LinksTest,
                         testing::Values(Resolution::kFold, Resolution::kPorts, Resolution::kFlows),
                         [](const auto& of) { return std::string(name(of.param)); });

// (n-1)/n * bytes / B within a node: 3/4 * 8000 bytes at one byte per ps. Rings the same for
// AllGather and ReduceScatter, twice for AllReduce; a Broadcast is all bytes over each edge, a
// Shift all bytes over one link.
TEST_P(LinksTest, ClosedFormsWithinANode) {
  const std::pair<CollectiveOperation, std::int64_t> forms[] = {{kAllToAll, 6000},
                                                                {kAllGather, 6000},
                                                                {kReduceScatter, 6000},
                                                                {kAllReduce, 12000},
                                                                {kBroadcast, 8000},
                                                                {kShift, 8000}};
  for (const auto& [operation, expected] : forms) {
    maker_ = ProgramMaker(4);
    collective(
        {.operation = operation, .group = world(4), .bytes = 8000, .distance = 1, .wrap = true});
    EXPECT_EQ(run(cluster(1, 4, kNvLinkNode)), ps(expected)) << to_string(operation);
  }
}

// Four nodes of two GPUs at one switch, NICs of 1/2 byte per ps. AlltoAll over 8 ranks: 6/8 of 8000
// bytes cross each NIC: 12000 ps. AllReduce: two rings with half the bytes each; a NIC carries one
// ring's 2 * 7/8 * 4000: 14000 ps. AllGather half that.
TEST_P(LinksTest, ClosedFormsOverNodes) {
  const std::string wiring = std::string(kNvLinkNode) + "fabric { single_switch {} }";
  const std::pair<CollectiveOperation, std::int64_t> forms[] = {
      {kAllToAll, 12000}, {kAllReduce, 14000}, {kAllGather, 7000}, {kReduceScatter, 7000}};
  for (const auto& [operation, expected] : forms) {
    maker_ = ProgramMaker(8);
    collective({.operation = operation, .group = world(8), .bytes = 8000});
    EXPECT_EQ(run(cluster(4, 2, wiring)), ps(expected)) << to_string(operation);
  }
}

// Two AlltoAlls of 6000 ps on all ports at once take twice as long.
TEST_P(LinksTest, TwoCollectivesShareALink) {
  const int group = world(4);
  collective({.operation = kAllToAll, .group = group, .bytes = 8000}, "a");
  collective({.operation = kAllToAll, .group = group, .bytes = 8000}, "b");
  EXPECT_EQ(run(cluster(1, 4, kNvLinkNode)), ps(12000));
}

// Two GPUs behind one PCIe switch of 1 TB/s up, in two nodes, without NVLink. An AllGather between
// the GPUs of a node crosses their own links alone: 1/2 * 8000 = 4000 ps. An AlltoAll between the
// nodes leaves each GPU by its link, 4000 ps. Both at once on one link: 8000 ps. The NIC hangs at a
// root port, so all of the node's AlltoAll, 2 * 4000 bytes, also goes through the switch's uplink.
TEST_P(LinksTest, InsideAndOutsideShareAPcieLink) {
  const std::string wiring = R"(
nodes { node { gpus_per_pcie_switch: 2 pcie_rate: "1 TB/s" memory_rate: "100 TB/s"
  nics: 1 nic_rate: "100 TB/s" nic_placement: ROOT_PORT nic_pcie_rate: "100 TB/s" } }
fabric { single_switch {} })";
  const int inside = maker_.group("inside", {{0, 1}, {2, 3}});
  const int outside = maker_.group("outside", {{0, 2}, {1, 3}});
  collective({.operation = kAllGather, .group = inside, .bytes = 8000}, "intra");
  EXPECT_EQ(run(cluster(2, 2, wiring)), ps(4000));
  collective({.operation = kAllToAll, .group = outside, .bytes = 8000}, "inter");
  EXPECT_EQ(run(cluster(2, 2, wiring)), ps(8000));
  maker_.program().tasks.erase(maker_.program().tasks.begin());
  EXPECT_EQ(run(cluster(2, 2, wiring)), ps(8000));  // the uplink's 8000 bytes alone
}

// Without GPUDirect the sender's bytes go GPU -> memory -> NIC: with the NIC at the GPUs' switch,
// through the switch's uplink twice, once each way, beside what is received. One GPU, 8000 bytes
// each way, of which half: out 4000 up + 4000 down, in the same: 8000 ps each way instead of none.
TEST_P(LinksTest, HostStagingDoublesAnUplinksLoad) {
  const std::string node = R"(
nodes { node { gpus_per_pcie_switch: 1 pcie_rate: "1 TB/s" memory_rate: "100 TB/s"
  nics: 1 nic_rate: "100 TB/s" nic_pcie_rate: "100 TB/s" } }
fabric { single_switch {} })";
  const int group = world(2);
  collective({.operation = kAllToAll, .group = group, .bytes = 8000});
  EXPECT_EQ(run(cluster(2, 1, node)), ps(4000));  // the GPU's own link
  EXPECT_EQ(run(cluster(2, 1, node + "transfers { no_gpudirect: true }")), ps(8000));
}

// Eight GPUs, each a node with a NIC of 1 byte per ps, on two leaves of four; half of an AlltoAll's
// partners are beyond the leaf. 2:1 leaves two uplinks' worth: 4 NICs * 4/8 * 8000 bytes = 16000
// over 2 bytes per ps is 8000 ps; the NICs themselves take 7000 ps, which is what 1:1 takes.
TEST_P(LinksTest, Oversubscription) {
  const std::string node = R"(
nodes { node { pcie_rate: "100 TB/s" memory_rate: "100 TB/s" nics: 1 nic_rate: "1 TB/s"
  nic_placement: ROOT_PORT } } )";
  const int group = world(8);
  collective({.operation = kAllToAll, .group = group, .bytes = 8000});
  for (const std::string routing : {"SPRAY", "DMODK"}) {
    const std::string rest = "} routing: " + routing + " }";
    EXPECT_EQ(run(cluster(8, 1, node + "fabric { fat_tree { down: [4, 2] " + rest)), ps(7000));
    EXPECT_EQ(
        run(cluster(8, 1, node + "fabric { fat_tree { down: [4, 2] oversubscription: 2 " + rest)),
        ps(8000));
  }
}

// ASTRA-sim's congestion-unaware model lets it finish 560 times earlier: 1024 GPUs with a port of
// 50 GB/s each, direct AlltoAll of 64 MiB: 1023/1024 * 67108864 / 50e9 s = 1.340866 ms; ring
// AllReduce: twice that. A million messages are more than flows follows.
TEST_P(LinksTest, AThousandPorts) {
  const std::string wiring = R"(
nodes { node { pcie_rate: "1 TB/s" memory_rate: "1 TB/s" nics: 1 nic_rate: "50 GB/s"
  nic_placement: ROOT_PORT } }
fabric { single_switch {} })";
  const int group = world(1024);
  collective({.operation = kAllToAll, .group = group, .bytes = 64 << 20});
  if (GetParam() == Resolution::kFlows) {
    try {
      run(cluster(1024, 1, wiring));
      FAIL() << "no Error";
    } catch (const Error& error) {
      EXPECT_THAT(error.text(), testing::HasSubstr("follows at most"));
    }
  } else {
    EXPECT_NEAR(run(cluster(1024, 1, wiring)).seconds(), 1.3408665e-3, 1e-9);
    EXPECT_EQ(num_classes_, GetParam() == Resolution::kFold ? 1U : 1024U);
  }
  maker_ = ProgramMaker(1024);
  collective({.operation = kAllReduce, .group = world(1024), .bytes = 64 << 20});
  EXPECT_NEAR(run(cluster(1024, 1, wiring)).seconds(), 2.681733e-3, 1e-9);
}

// 4,096 ranks send 4096 * 4095 messages to each other: refused before any is made. With a routing a
// part may be empty; groups of 64 send 64 * 64 * 63 in all, which are followed.
TEST(ManyMessagesTest, AreRefusedBeforeTheyAreMade) {
  ProgramMaker maker(4096);
  std::vector<int> all(4096);
  std::iota(all.begin(), all.end(), 0);
  maker.collective("s", {.operation = kAllToAll, .group = maker.group("world", {all}), .bytes = 1});
  const Cluster ports = parse_cluster(
      "num_nodes: 4096 gpus_per_node: 1 gpu_memory: '1 GiB' intra_node { rate: '1 TB/s' } "
      "inter_node { rate: '1 TB/s' }",
      "c.txtpb");
  const Profile profile;
  const TaskCosts costs(maker.program(), &ports, &profile);
  EXPECT_THAT([&] { check_num_messages(costs); },
              testing::ThrowsMessage<Error>(testing::StartsWith(
                  "'t0' sends 16773120 messages; resolution flows follows at most 10000000 ")));
  std::vector<std::vector<int>> groups(64);
  for (const int rank : all) {
    groups[rank / 64].push_back(rank);
  }
  maker.program().groups[0].members = groups;
  const TaskCosts fewer(maker.program(), &ports, &profile);
  EXPECT_NO_THROW(check_num_messages(fewer));
}

// A profile that took 10000 ps for what the links do in 6000: of its own, two of them end together
// after what the links need for both, 12000 ps; on the port they share it, 20000 ps.
TEST_P(LinksTest, WhereACollectivesOwnTimeIsSpentMattersForTwo) {
  Profile profile;
  profile.collectives = {make_cost(kAllToAll, Span::kNode, 0, 1.25)};
  const int group = world(4);
  collective({.operation = kAllToAll, .group = group, .bytes = 8000}, "a");
  EXPECT_EQ(run(cluster(1, 4, kNvLinkNode), profile), ps(10000));
  collective({.operation = kAllToAll, .group = group, .bytes = 8000}, "b");
  EXPECT_EQ(run(cluster(1, 4, kNvLinkNode), profile), ps(20000));
  profile.collectives[0].bottleneck = BottleneckPlace::kPrivate;
  EXPECT_EQ(run(cluster(1, 4, kNvLinkNode), profile), ps(12000));
}

// Two GPUs behind one PCIe switch. Both collectives were measured at 10000 ps, more than their 4000
// and 8000 bytes take on any link. Where that time is spent on the GPUs' own links, which both
// cross, these are full for 20000 ps. Where the AlltoAll's is spent on the uplink, which the
// AllGather does not cross, its 4000 bytes still pass the GPUs' links beside the AllGather's 10000:
// 14000 ps. Where the AllGather's is its own, both sets of bytes fit: 10000 ps.
TEST_P(LinksTest, ATimeThatIsSpentOnALinkFillsIt) {
  const std::string wiring = R"(
nodes { node { gpus_per_pcie_switch: 2 pcie_rate: "1 TB/s" memory_rate: "100 TB/s"
  nics: 1 nic_rate: "100 TB/s" nic_placement: ROOT_PORT nic_pcie_rate: "100 TB/s" } }
fabric { single_switch {} })";
  Profile profile;
  profile.collectives = {make_cost(kAllGather, Span::kNode, 0, 1.25),
                         make_cost(kAllToAll, Span::kFabric, 0, 1.25)};
  for (CollectiveCost& cost : profile.collectives) {
    cost.bottleneck = BottleneckPlace::kLink;
    cost.bottleneck_link = "node:*/gpu:* -- node:*/pcie_switch:*";
  }
  const int inside = maker_.group("inside", {{0, 1}, {2, 3}});
  const int outside = maker_.group("outside", {{0, 2}, {1, 3}});
  collective({.operation = kAllGather, .group = inside, .bytes = 8000}, "intra");
  EXPECT_EQ(run(cluster(2, 2, wiring), profile), ps(10000));
  collective({.operation = kAllToAll, .group = outside, .bytes = 8000}, "inter");
  EXPECT_EQ(run(cluster(2, 2, wiring), profile), ps(20000));
  profile.collectives[1].bottleneck_link = "node:*/pcie_switch:* -- node:*/root_port:*";
  EXPECT_EQ(run(cluster(2, 2, wiring), profile), ps(14000));
  profile.collectives[0].bottleneck = BottleneckPlace::kPrivate;
  EXPECT_EQ(run(cluster(2, 2, wiring), profile), ps(10000));
}

// The NICs of 1/2 byte per ps take 12000 ps for 3/4 of 8000 bytes: a profile that says 10000 does
// not make them faster, nor one at 1/4 of its rate: 48000 ps.
TEST_P(LinksTest, ATimeOnALinkIsNotLessThanTheLinks) {
  Profile profile;
  profile.collectives = {make_cost(kAllToAll, Span::kFabric, 0, 1.25)};
  profile.collectives[0].bottleneck = BottleneckPlace::kLink;
  profile.collectives[0].bottleneck_link = "node:*/nic:*";
  const std::string wiring = std::string(kNvLinkNode) + "fabric { single_switch {} }";
  collective(
      {.operation = kAllToAll, .group = maker_.group("nodes", {{0, 1, 2, 3}}), .bytes = 8000});
  EXPECT_EQ(run(cluster(4, 1, wiring), profile), ps(12000));
  const std::string slow =
      wiring + "changes { at: 'node:2/nic:0' kind: NETWORK rate_factor: 0.25 }";
  EXPECT_EQ(run(cluster(4, 1, slow), profile), ps(48000));
  EXPECT_THAT(assumptions_,
              testing::Contains("ALL_TO_ALL between nodes: node:*/nic:* is slower than what was "
                                "measured and counts: 4.8 times as long"));
}

// The same on the port: the result names the collective whose links are slowest against what was
// measured, once for two of a kind, and says nothing where the links are as fast: 8000 bytes at 1.5
// ps are 12000 ps.
TEST_P(LinksTest, LinksThatAreSlowerThanWhatWasMeasuredAreSaid) {
  Profile profile;
  profile.collectives = {make_cost(kAllToAll, Span::kFabric, 0, 1.25)};
  const std::string wiring = std::string(kNvLinkNode) + "fabric { single_switch {} }";
  const int group = maker_.group("nodes", {{0, 1, 2, 3}});
  collective({.operation = kAllToAll, .group = group, .bytes = 8000});
  collective({.operation = kAllToAll, .group = group, .bytes = 16000});
  EXPECT_EQ(run(cluster(4, 1, wiring), profile), ps(36000));
  const auto said = testing::HasSubstr("links are slower than what was measured");
  EXPECT_THAT(assumptions_, testing::Contains(said).Times(1));
  EXPECT_THAT(
      assumptions_,
      testing::Contains("ALL_TO_ALL between nodes: the cluster's links are slower than what "
                        "was measured and count: 't0' would move its data in 10.000 ns, the "
                        "links take 12.000 ns, 1.2 times as long"));
  profile.collectives[0].seconds_per_byte = 1.5e-12;
  EXPECT_EQ(run(cluster(4, 1, wiring), profile), ps(36000));
  EXPECT_THAT(assumptions_, testing::Not(testing::Contains(said)));
}

TEST_P(LinksTest, ATimeIsNotSpentOnALinkThatIsNotUsed) {
  Profile profile;
  profile.collectives = {make_cost(kAllToAll, Span::kNode, 0, 1.25)};
  profile.collectives[0].bottleneck = BottleneckPlace::kLink;
  profile.collectives[0].bottleneck_link = "node:*/nic:*";
  profile.collectives[0].bottleneck_location = "p.txtpb:3:4";
  collective({.operation = kAllToAll, .group = world(4), .bytes = 8000});
  EXPECT_THAT([&] { run(cluster(1, 4, kNvLinkNode), profile); },
              testing::ThrowsMessage<Error>(testing::AllOf(
                  testing::HasSubstr("p.txtpb:3:4: ALL_TO_ALL within a node puts nothing on"),
                  testing::HasSubstr("node:*/nic:*"))));
}

// Of four AlltoAlls of 8000 bytes over the NICs of a node each, 3/4 cross every NIC: the busiest
// link is the slow one, busy for 6000 bytes at 1/4 byte per ps.
TEST(BusiestLinkTest, IsTheSlowestNic) {
  ProgramMaker maker(8);
  const int group = maker.group("same_gpu", {{0, 2, 4, 6}, {1, 3, 5, 7}});
  maker.collective("s", {.operation = kAllToAll, .group = group, .bytes = 8000});
  const Cluster degraded = cluster(4,
                                   2,
                                   std::string(kNvLinkNode) +
                                       "fabric { single_switch {} } changes { at: 'node:1/nic:0' "
                                       "kind: NETWORK rate_factor: 0.5 }");
  const Profile profile;
  const UncontendedWork work = uncontended_work(maker.program(), &degraded, &profile);
  const auto busiest = std::ranges::max_element(work.media, {}, &MediumWork::load);
  ASSERT_NE(busiest, work.media.end());
  EXPECT_EQ(busiest->load, ps(24000));
  EXPECT_EQ(degraded.links->topology.media()[busiest->medium], 250e9);
}

// One NIC of eight at half rate: the AlltoAlls over it take twice as long, and it splits only what
// it touches: its own GPU, the one beside it that shares nothing but the switch, and the rest.
TEST_P(LinksTest, ADegradedNic) {
  const std::string wiring = std::string(kNvLinkNode) +
                             "fabric { single_switch {} } changes { at: 'node:1/nic:0' kind: "
                             "NETWORK rate_factor: 0.5 }";
  const int group = maker_.group("same_gpu", {{0, 2, 4, 6}, {1, 3, 5, 7}});
  collective({.operation = kAllToAll, .group = group, .bytes = 8000});
  // 3/4 * 8000 bytes over 1/4 byte per ps.
  EXPECT_EQ(run(cluster(4, 2, wiring)), ps(24000));
  if (GetParam() == Resolution::kFold) {
    EXPECT_LE(num_classes_, 4U);
  }
}

}  // namespace
}  // namespace moesim
