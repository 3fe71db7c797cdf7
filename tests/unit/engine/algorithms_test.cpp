// Algorithms of collectives over links and over ports: closed forms, in both resolutions. Links of
// 1 TB/s carry one byte per picosecond.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/cluster/cluster_links.h"
#include "sim/cluster/wired_cluster.h"
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

// NVLink of 1 byte per ps, a NIC of 1/2 for each GPU, one switch.
Cluster linked(int num_nodes, int gpus_per_node, const std::string& nvlink = "switches: 2") {
  const std::string gpus = std::to_string(gpus_per_node);
  return wired(parse_cluster(
      "num_nodes: " + std::to_string(num_nodes) + " gpus_per_node: " + gpus +
          " gpu_memory: '1 GiB' nodes { node { pcie_rate: '100 TB/s' memory_rate: '100 TB/s' "
          "nvlink { rate: '1 TB/s' " +
          nvlink + " } nics: " + gpus +
          " nic_rate: '500 GB/s' nic_placement: ROOT_PORT } } fabric { single_switch {} }",
      "c.txtpb"));
}

// Ports of the same rates.
Cluster ported(int num_nodes, int gpus_per_node) {
  Cluster cluster = make_cluster(num_nodes, gpus_per_node);
  cluster.inter_node.bytes_per_second = 0.5e12;
  return cluster;
}

Profile with(CollectiveOperation operation, Algorithm algorithm) {
  Profile profile;
  profile.algorithms = {{.operation = operation, .span = {}, .algorithm = algorithm}};
  return profile;
}

// A start-up and nothing else.
CollectiveCost startup(CollectiveOperation operation, Span span, double seconds, StartupPer per) {
  CollectiveCost cost = make_cost(operation, span, seconds * 1e12, 0);
  cost.startup_per = per;
  cost.only_startup = true;
  return cost;
}

std::vector<int> ranks(int count) {
  std::vector<int> all(count);
  for (int rank = 0; rank < count; ++rank) {
    all[rank] = rank;
  }
  return all;
}

class AlgorithmsTest : public testing::TestWithParam<Resolution> {
 protected:
  // One collective over all GPUs.
  Time run(const Cluster& cluster, const Profile& profile, Collective collective) {
    ProgramMaker maker(cluster.num_gpus());
    collective.group = maker.group("world", {ranks(cluster.num_gpus())});
    maker.collective("s", collective);
    const SimulationOptions options{.resolution = GetParam()};
    const Trace trace = simulate(maker.program(), &cluster, &profile, options);
    assumptions_ = trace.assumptions;
    // Alone, a collective takes what it is said to take.
    EXPECT_EQ(task_durations(maker.program(), &cluster, &profile)[0], trace.end);
    const UncontendedWork work = uncontended_work(maker.program(), &cluster, &profile);
    EXPECT_EQ(work.ranks[0].durations[0], trace.end);
    return trace.end;
  }

  std::vector<std::string> assumptions_;
};

INSTANTIATE_TEST_SUITE_P(Resolutions,
                         AlgorithmsTest,
                         testing::Values(Resolution::kFold, Resolution::kPorts, Resolution::kFlows),
                         [](const auto& of) { return std::string(name(of.param)); });

// Double binary tree over four nodes of one GPU, 8000 bytes: trees 0-2-{1,3} and its mirror
// 3-1-{2,0}, 4000 bytes up and down each edge. GPU 2 sends in the first up to 0 and down to 1 and
// 3, in the second up to 1: 16000 bytes over its NIC of 1/2 byte per ps: 32000 ps. A ring sends 2 *
// 3/4 * 8000 = 12000 bytes: 24000 ps.
TEST_P(AlgorithmsTest, TreeAllReduceBetweenNodes) {
  const Collective collective{.operation = kAllReduce, .bytes = 8000};
  for (const Cluster& cluster : {linked(4, 1), ported(4, 1)}) {
    EXPECT_EQ(run(cluster, with(kAllReduce, Algorithm::kTree), collective), ps(32000));
    EXPECT_EQ(run(cluster, with(kAllReduce, Algorithm::kRing), collective), ps(24000));
  }
}

// Two nodes send each the whole once: 8000 bytes, 16000 ps. With two GPUs on each it is 1/2 over
// each NIC, while a chain of two in the node carries 4000 bytes each way for each of two heads:
// 8000 ps on both. NCCL issue 812: "Tree: S".
TEST_P(AlgorithmsTest, TreeAllReduceOverTwoNodes) {
  const Collective collective{.operation = kAllReduce, .bytes = 8000};
  const Profile profile = with(kAllReduce, Algorithm::kTree);
  EXPECT_EQ(run(linked(2, 1), profile, collective), ps(16000));
  EXPECT_EQ(run(linked(2, 2), profile, collective), ps(8000));
  EXPECT_EQ(run(ported(2, 2), profile, collective), ps(8000));
}

// 2 ceil(log2 8) = 6 steps of a tree over eight nodes against 2 * 7 = 14 of a ring, 100 ps each. 80
// bytes: inner ones of the tree send twice the bytes at 1/2 byte per ps, 320 ps; the ring
// 2 * 7/8 * 80 / (1/2) = 280 ps. 600 + 320 against 1400 + 280.
TEST_P(AlgorithmsTest, TreesHaveFewerSteps) {
  const Collective collective{.operation = kAllReduce, .bytes = 80};
  Profile tree = with(kAllReduce, Algorithm::kTree);
  Profile ring;
  Profile fastest = with(kAllReduce, Algorithm::kFastest);
  for (Profile* profile : {&tree, &ring, &fastest}) {
    profile->collectives = {startup(kAllReduce, Span::kFabric, 100e-12, StartupPer::kStep)};
  }
  for (const Cluster& cluster : {linked(8, 1), ported(8, 1)}) {
    EXPECT_EQ(run(cluster, tree, collective), ps(920));
    EXPECT_EQ(run(cluster, ring, collective), ps(1680));
    EXPECT_EQ(run(cluster, fastest, collective), ps(920));
    EXPECT_THAT(assumptions_, testing::Contains(testing::HasSubstr("TREE is the fastest")));
  }
}

// A binomial tree of eight: its root sends log2(8) = 3 times 8000 bytes at 1/2 byte per ps.
TEST_P(AlgorithmsTest, BinomialBroadcast) {
  const Collective collective{.operation = kBroadcast, .bytes = 8000, .root = 3};
  const Profile profile = with(kBroadcast, Algorithm::kTree);
  EXPECT_EQ(run(linked(8, 1), profile, collective), ps(48000));
  EXPECT_EQ(run(ported(8, 1), profile, collective), ps(48000));
}

// NVLS on four GPUs: n + n/4 out and in for an all-reduce, 10000 ps of 8000 bytes against 12000 of
// a ring; all-gather 8000 in, reduce-scatter 8000 out, broadcast 8000.
TEST_P(AlgorithmsTest, InSwitchWithinANode) {
  const std::pair<CollectiveOperation, std::int64_t> forms[] = {
      {kAllReduce, 10000}, {kAllGather, 8000}, {kReduceScatter, 8000}, {kBroadcast, 8000}};
  for (const auto& [operation, expected] : forms) {
    const Profile profile = with(operation, Algorithm::kInSwitch);
    const Collective collective{.operation = operation, .bytes = 8000};
    EXPECT_EQ(run(linked(1, 4), profile, collective), ps(expected)) << to_string(operation);
    EXPECT_EQ(run(ported(1, 4), profile, collective), ps(expected)) << to_string(operation);
  }
}

// NVLSTree over two nodes of four GPUs: a quarter, 2000 bytes, crosses each NIC once, 4000 ps; the
// NVLinks need 10000 ps at the same time.
TEST_P(AlgorithmsTest, InSwitchOverNodes) {
  const Collective collective{.operation = kAllReduce, .bytes = 8000};
  EXPECT_EQ(run(linked(2, 4), with(kAllReduce, Algorithm::kInSwitch), collective), ps(10000));
}

TEST_P(AlgorithmsTest, InSwitchNeedsSwitches) {
  const Collective collective{.operation = kAllReduce, .bytes = 8000};
  const Cluster mesh = linked(1, 4, "form: MESH");
  EXPECT_THAT(
      [&] { run(mesh, with(kAllReduce, Algorithm::kInSwitch), collective); },
      testing::ThrowsMessage<Error>(testing::HasSubstr(
          "'t0' (ALL_REDUCE within a node) cannot be IN_SWITCH: no NVSwitches join the members")));
  run(mesh, with(kAllReduce, Algorithm::kFastest), collective);  // takes another one
}

// Hierarchical over four nodes of two GPUs, 8000 bytes: reduce-scatter 1/2 * 8000 at 1 byte per ps,
// all-reduce of the half 2 * 3/4 * 4000 at 1/2: 12000, all-gather 4000. One after the other: 20000.
TEST_P(AlgorithmsTest, HierarchicalAllReduce) {
  const Profile profile = with(kAllReduce, Algorithm::kHierarchical);
  const Collective collective{.operation = kAllReduce, .bytes = 8000};
  EXPECT_EQ(run(linked(4, 2), profile, collective), ps(20000));
  EXPECT_EQ(run(ported(4, 2), profile, collective), ps(20000));
}

// All-gather: 3/4 * 4000 at 1/2, then 1/2 * 8000: 10000. Reduce-scatter the other way around.
TEST_P(AlgorithmsTest, HierarchicalGatherAndScatter) {
  for (const CollectiveOperation operation : {kAllGather, kReduceScatter}) {
    const Profile profile = with(operation, Algorithm::kHierarchical);
    const Collective collective{.operation = operation, .bytes = 8000};
    EXPECT_EQ(run(linked(4, 2), profile, collective), ps(10000));
    EXPECT_EQ(run(ported(4, 2), profile, collective), ps(10000));
  }
}

// 2DH over four nodes of two GPUs, 8000 bytes: 1/2 * 8000 within, then 3/4 * 8000 at 1/2. With
// 1000 ps per peer: 1 + 3 of them against 7 of the linear one, which takes 6/8 * 8000 at 1/2:
// 4000 + 12000 + 4000 against 12000 + 7000. At 800 bytes: 1600 + 4000 against 1200 + 7000.
TEST_P(AlgorithmsTest, HierarchicalAllToAllHasFewerPeers) {
  Profile two = with(kAllToAll, Algorithm::kHierarchical);
  Profile linear;
  for (Profile* profile : {&two, &linear}) {
    profile->collectives = {startup(kAllToAll, Span::kNode, 1e-9, StartupPer::kPeer),
                            startup(kAllToAll, Span::kFabric, 1e-9, StartupPer::kPeer)};
  }
  for (const Cluster& cluster : {linked(4, 2), ported(4, 2)}) {
    EXPECT_EQ(run(cluster, two, {.operation = kAllToAll, .bytes = 8000}), ps(20000));
    EXPECT_EQ(run(cluster, linear, {.operation = kAllToAll, .bytes = 8000}), ps(19000));
    EXPECT_EQ(run(cluster, two, {.operation = kAllToAll, .bytes = 800}), ps(5600));
    EXPECT_EQ(run(cluster, linear, {.operation = kAllToAll, .bytes = 800}), ps(8200));
  }
}

// Pipe-A2A: as DIRECT on links, but 1 message within beside 6 between, so 6000 ps of start-ups.
TEST_P(AlgorithmsTest, PipeOverlapsStartups) {
  Profile profile = with(kAllToAll, Algorithm::kPipe);
  profile.collectives = {startup(kAllToAll, Span::kNode, 1e-9, StartupPer::kStep),
                         startup(kAllToAll, Span::kFabric, 1e-9, StartupPer::kStep)};
  for (const Cluster& cluster : {linked(4, 2), ported(4, 2)}) {
    EXPECT_EQ(run(cluster, profile, {.operation = kAllToAll, .bytes = 8000}), ps(18000));
  }
}

// Two nodes of two GPUs, four experts, two of them for each token, 8000 bytes: 4000 bytes are a
// copy of each token. A node has two experts: all but one of C(4, 2) = 6 pairs hit it, 5/6 of the
// tokens cross: 3333 1/3 bytes at 1/2. Half of the choices hit a member's expert: what crossed is
// handed on to one other, 2000 bytes, beside 2000 for the neighbour: 4000. So 6667 ps, the NIC's,
// where direct ones take 2/4 * 8000 at 1/2, 8000 ps.
TEST_P(AlgorithmsTest, DeduplicatedDispatch) {
  const Profile profile = with(kAllToAll, Algorithm::kDeduplicated);
  for (const bool combine : {false, true}) {
    const Collective collective{
        .operation = kAllToAll, .bytes = 8000, .top_k = 2, .num_experts = 4, .combine = combine};
    EXPECT_EQ(run(linked(2, 2), profile, collective), ps(6667));
    EXPECT_EQ(run(ported(2, 2), profile, collective), ps(6667));
  }
  EXPECT_THAT([&] { run(ported(2, 2), profile, {.operation = kAllToAll, .bytes = 8000}); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("give its top_k")));
}

// A message of a SHIFT at 1/4 byte per ps, whatever the NIC's 1/2 or NVLink's 1.
TEST_P(AlgorithmsTest, PeerRateLimitsAMessage) {
  Profile profile;
  CollectiveCost cost = make_cost(kShift, Span::kFabric, 0, 0);
  cost.only_startup = true;
  cost.peer_bytes_per_second = 0.25e12;
  profile.collectives = {cost};
  const Collective shift{.operation = kShift, .bytes = 8000, .distance = 1, .wrap = true};
  EXPECT_EQ(run(linked(4, 1), profile, shift), ps(32000));
  EXPECT_EQ(run(ported(4, 1), profile, shift), ps(32000));
  // Of an all-to-all over four a peer gets a quarter: 2000 bytes at 1/4; the NIC needs 12000.
  profile.collectives[0].operation = kAllToAll;
  const Collective exchange{.operation = kAllToAll, .bytes = 8000};
  EXPECT_EQ(run(linked(4, 1), profile, exchange), ps(12000));
  profile.collectives[0].peer_bytes_per_second = 0.125e12;
  EXPECT_EQ(run(linked(4, 1), profile, exchange), ps(16000));
}

// A limit of its own keeps others no longer: an all-to-all beside the SHIFT has the NIC to itself
// when that is drained. 8000 bytes of each: the SHIFT's drain at half rate until 32000, the
// all-to-all's 6000 bytes meanwhile: 24000 ps; the SHIFT ends with its message at 32000 ps.
TEST_P(AlgorithmsTest, PeerRateIsNobodyElses) {
  Profile profile;
  CollectiveCost cost = make_cost(kShift, Span::kFabric, 0, 0);
  cost.only_startup = true;
  cost.peer_bytes_per_second = 0.25e12;
  profile.collectives = {cost};
  const Cluster cluster = linked(4, 1);
  ProgramMaker maker(4);
  const int group = maker.group("world", {ranks(4)});
  maker.collective(
      "a", {.operation = kShift, .group = group, .bytes = 8000, .distance = 1, .wrap = true});
  maker.collective("b", {.operation = kAllToAll, .group = group, .bytes = 8000});
  const Trace trace = simulate(maker.program(), &cluster, &profile, {.resolution = GetParam()});
  EXPECT_EQ(trace.spans[0].end, ps(32000));
  EXPECT_EQ(trace.spans.back().end, ps(24000));
}

// What was measured with an algorithm is taken whole, and chooses it.
TEST_P(AlgorithmsTest, MeasuredAsAWhole) {
  Profile profile;
  CollectiveCost cost = make_cost(kAllToAll, Span::kBoth, 500, 3);
  cost.algorithm = Algorithm::kHierarchical;
  profile.collectives = {cost};
  EXPECT_EQ(run(ported(4, 2), profile, {.operation = kAllToAll, .bytes = 8000}), ps(24500));
  EXPECT_THAT(assumptions_, testing::Contains(testing::HasSubstr("algorithm HIERARCHICAL")));
  // The default one was not: what the ports take.
  profile.algorithms = {{.operation = kAllToAll, .span = {}, .algorithm = Algorithm::kDirect}};
  EXPECT_EQ(run(ported(4, 2), profile, {.operation = kAllToAll, .bytes = 8000}), ps(12000));
}

// While the first of two hierarchical all-to-alls is between nodes, the second may be within: on
// streams of their own, the second delayed by 4000 ps, neither slows the other's phases but where
// both are between nodes. Phases of 4000 and 12000 ps: [0, 4000) and [4000, 8000) within; between:
// the first alone until 8000, then both at half rate; the first has 8000 left and ends at 24000,
// the second has drained 8000 by then, 4000 left: 28000.
TEST_P(AlgorithmsTest, PhasesMeetOnlyTheirOwnKind) {
  const Profile profile = with(kAllToAll, Algorithm::kHierarchical);
  for (const Cluster& cluster : {linked(4, 2), ported(4, 2)}) {
    ProgramMaker maker(8);
    const int group = maker.group("world", {ranks(8)});
    const int first =
        maker.collective("a", {.operation = kAllToAll, .group = group, .bytes = 8000});
    const int delay = maker.fixed("c", 4000);
    const int second =
        maker.collective("b", {.operation = kAllToAll, .group = group, .bytes = 8000}, {delay});
    const Trace trace = simulate(maker.program(), &cluster, &profile, {.resolution = GetParam()});
    for (const TaskSpan& span : trace.spans) {
      if (span.task == first) {
        EXPECT_EQ(span.end, ps(24000));
      }
      if (span.task == second) {
        EXPECT_EQ(span.transfer, ps(4000));
        EXPECT_EQ(span.end, ps(28000));
      }
    }
  }
}

}  // namespace
}  // namespace moesim
