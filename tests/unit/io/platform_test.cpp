// Clusters and profiles.
#include <gmock/gmock.h>

#include "sim/io/cluster.h"
#include "sim/io/profile.h"
#include "tests/unit/io/error_of.h"

namespace moesim {
namespace {

constexpr const char* kCluster = R"(num_nodes: 2 gpus_per_node: 4 gpu_memory: "16 GiB"
intra_node { rate: "16 GB/s" latency: "1.5 us" }
inter_node { rate: "200 Gb/s" }
)";

std::string cluster_error(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return error_of([&] { parse_cluster(text, "c.txtpb", overrides); });
}

std::string profile_error(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return error_of([&] { parse_profile(text, "p.txtpb", overrides); });
}

// 200 Gb/s are 25 GB/s.
TEST(ClusterTest, ReadsQuantities) {
  const Cluster cluster = parse_cluster(kCluster, "folder/small.txtpb");
  EXPECT_EQ(cluster.name, "small");
  EXPECT_EQ(cluster.num_gpus(), 8);
  EXPECT_EQ(cluster.gpu_memory_bytes, std::int64_t{16} << 30);
  EXPECT_EQ(cluster.intra_node.bytes_per_second, 16e9);
  EXPECT_EQ(cluster.intra_node.latency_seconds, 1.5e-6);
  EXPECT_EQ(cluster.inter_node.bytes_per_second, 25e9);
  EXPECT_EQ(cluster.inter_node.latency_seconds, 0);
}

TEST(ClusterTest, RefusesAbsurdSizes) {
  EXPECT_EQ(cluster_error("num_nodes: 0 gpus_per_node: 4"),
            "c.txtpb:1:12: num_nodes is 0; write a number from 1 to 1048576");
  EXPECT_EQ(cluster_error("num_nodes: -1 gpus_per_node: 4"),
            "c.txtpb:1:12: num_nodes is -1; write a number from 1 to 1048576");
  EXPECT_EQ(cluster_error("num_nodes: 1048576 gpus_per_node: 2"),
            "c.txtpb:1:12: 1048576 nodes of 2 GPUs are more than 1048576 ranks; use fewer");
  EXPECT_EQ(cluster_error("num_nodes: 1 gpus_per_node: 1 gpu_memory: '0 B'"),
            "c.txtpb:1:43: a GPU without memory; write its size, such as \"48 GiB\"");
  EXPECT_EQ(cluster_error("num_nodes: 1 gpus_per_node: 1 gpu_memory: '1 GiB' intra_node { rate: "
                          "'0 GB/s' }"),
            "c.txtpb:1:70: \"0 GB/s\": must be more than zero; write a rate such as \"200 Gb/s\" "
            "(bits) or \"25 GB/s\"");
  EXPECT_EQ(cluster_error("num_nodes: 1 gpus_per_node: 1 gpu_memory: '1 GiB'"),
            "c.txtpb:1:1: Cluster has no \"intra_node\"; add it");
}

TEST(ClusterTest, TakesItsOverridesOnly) {
  const Cluster cluster = parse_cluster(
      kCluster,
      "c.txtpb",
      {"cluster.num_nodes=4", "model.sequence=1", "cluster.inter_node.latency=2 us", "cluster=x"});
  EXPECT_EQ(cluster.num_nodes, 4);
  EXPECT_EQ(cluster.inter_node.latency_seconds, 2e-6);
  EXPECT_EQ(cluster_error(kCluster, {"cluster.num_node=4"}),
            "--set cluster.num_node=4: no field \"num_node\" in Cluster; did you mean "
            "\"num_nodes\"?");
}

TEST(ProfileTest, EmptyProfileCostsNothing) {
  const Profile profile = parse_profile("", "folder/none.txtpb");
  EXPECT_EQ(profile.name, "none");
  EXPECT_FALSE(profile.gemm);
  EXPECT_FALSE(profile.memory_bytes_per_second);
  EXPECT_EQ(profile.launch_overhead_seconds, 0);
  EXPECT_EQ(profile.hardware_queues, 32);
}

// 45.8 ns/MFLOP = 45.8e-9 / 1e6 s/FLOP.
TEST(ProfileTest, ReadsEveryField) {
  const Profile profile = parse_profile(
      R"(name: "p" source: "made up" environment: ["a=1", "b=2"]
         gemm { startup: "42.6 us" per_flop: "45.8 ns/MFLOP"
                fit { num_samples: 24 r_squared: 0.9987 standard_error: 0.01 } }
         memory_rate: "768 GB/s" launch_overhead: "5 us" hardware_queues: 1
         collectives { operation: ALL_TO_ALL span: FABRIC group_size: 6 startup: "287 us"
                       startup_per: PEER per_byte: "552.5 ns/KB" weight: 2 }
         collectives { operation: ALL_TO_ALL span: BOTH
                       points { bytes: "1 KiB" time: "10 us" }
                       points { bytes: "1 MiB" time: "1 ms" }
                     })",
      "p.txtpb");
  EXPECT_DOUBLE_EQ(profile.gemm->seconds_per_flop, 4.58e-14);
  EXPECT_EQ(profile.gemm->fit.num_samples, 24);
  EXPECT_EQ(profile.memory_bytes_per_second, 768e9);
  EXPECT_EQ(profile.launch_overhead_seconds, 5e-6);
  EXPECT_EQ(profile.hardware_queues, 1);
  ASSERT_EQ(profile.collectives.size(), 2U);
  const CollectiveCost& fitted = profile.collectives[0];
  EXPECT_EQ(fitted.span, Span::kFabric);
  EXPECT_EQ(fitted.startup_per, StartupPer::kPeer);
  EXPECT_DOUBLE_EQ(fitted.seconds_per_byte, 5.525e-10);
  EXPECT_EQ(fitted.weight, 2);
  EXPECT_EQ(profile.collectives[1].points[1].size, 1 << 20);
  EXPECT_EQ(profile.collectives[1].points[1].seconds, 1e-3);
}

TEST(ProfileTest, RefusesWhatCannotBe) {
  EXPECT_EQ(profile_error("hardware_queues: 33"),
            "p.txtpb:1:18: hardware_queues is 33; write a number from 1 to 32");
  EXPECT_EQ(profile_error("gemm { startup: '1 us' }"),
            "p.txtpb:1:1: GemmCost has no \"per_flop\"; add it");
  EXPECT_EQ(profile_error("gemm { per_flop: '1 s/KFLOP' }"),
            "p.txtpb:1:18: per_flop is more than 1 us a unit; check its units");
  EXPECT_EQ(profile_error("gemm { per_flop: '1 ns/MFLOP' fit { r_squared: 1.1 } }"),
            "p.txtpb:1:48: r_squared is 1.1; write a number from 0 to 1");
  EXPECT_EQ(profile_error("gemm { per_flop: '1 ns/MFLOP' fit { r_squared: nan } }"),
            "p.txtpb:1:48: r_squared: nan is not a number; write one such as 1.2");
  EXPECT_EQ(profile_error("collectives { span: NODE }"),
            "p.txtpb:1:1: CollectiveCost has no \"operation\"; add it");
  EXPECT_EQ(profile_error("collectives { operation: SHIFT }"),
            "p.txtpb:1:1: CollectiveCost has no \"span\"; add it");
  EXPECT_EQ(profile_error("collectives { operation: SHIFT span: NODE }"),
            "p.txtpb:1:1: CollectiveCost has no \"per_byte\"; add it");
  EXPECT_EQ(profile_error("collectives { operation: SHIFT span: NODE group_size: 1 }"),
            "p.txtpb:1:55: group_size is 1; write a number from 2 to 1048576");
  EXPECT_EQ(profile_error("collectives { operation: SHIFT span: NODE per_byte: '1 ns/KB' }\n"
                          "collectives { operation: SHIFT span: NODE per_byte: '1 ns/KB' }"),
            "p.txtpb:2:26: a second SHIFT of the same span, group size, number of nodes and "
            "algorithm; keep one of them");
}

TEST(ProfileTest, AlgorithmsFitTheirOperations) {
  const auto entry = [](const std::string& text) {
    return profile_error("collectives { operation: ALL_REDUCE span: NODE\n" + text + " }");
  };
  EXPECT_EQ(entry("per_byte: '1 ns/KB' algorithm: PIPE"),
            "p.txtpb:2:32: PIPE is no algorithm of ALL_REDUCE; use RING, TREE, IN_SWITCH, "
            "HIERARCHICAL, DEFAULT or FASTEST");
  EXPECT_EQ(entry("per_byte: '1 ns/KB' algorithm: FASTEST"),
            "p.txtpb:2:32: nothing was measured with FASTEST; say with which, and put FASTEST into "
            "\"algorithms\"");
  EXPECT_EQ(entry("startup: '1 us' bottleneck: PRIVATE"),
            "p.txtpb:2:29: it says where a measured time is spent, and there is no per_byte and no "
            "points; give one of them, or remove it");
  EXPECT_EQ(entry("startup: '1 us' startup_per: STEP points { bytes: '2 B' time: '2 us' }"),
            "p.txtpb:2:30: the start-up of measured points is that of the task or of each peer; "
            "give TASK or PEER");
  EXPECT_EQ(entry("startup: '1 us' ring_rate: '1 GB/s'"),
            "p.txtpb:2:28: it is what links gave a ring whose bytes were measured in a group of a "
            "known size; remove it, or give group_size, and per_byte or points");
  EXPECT_EQ(profile_error("algorithms { operation: SHIFT }"),
            "p.txtpb:1:1: no \"algorithm\"; say which");
  EXPECT_EQ(profile_error("algorithms { operation: SHIFT algorithm: RING }"),
            "p.txtpb:1:42: RING is no algorithm of SHIFT; use DIRECT, DEFAULT or FASTEST");
}

TEST(ProfileTest, AlgorithmsOfTheCommandLineComeFirst) {
  Profile profile;
  profile.algorithms = {{CollectiveOperation::kAllReduce, Span::kNode, Algorithm::kRing}};
  prefer({"ALL_REDUCE=TREE", "ALL_TO_ALL=FASTEST"}, profile);
  EXPECT_EQ(profile.algorithms,
            (std::vector<AlgorithmChoice>{
                {CollectiveOperation::kAllReduce, {}, Algorithm::kTree},
                {CollectiveOperation::kAllToAll, {}, Algorithm::kFastest},
                {CollectiveOperation::kAllReduce, Span::kNode, Algorithm::kRing}}));
  const auto error = [&profile](const std::string& text) {
    try {
      prefer({text}, profile);
    } catch (const Error& caught) {
      return std::string(caught.what());
    }
    return std::string();
  };
  try {
    prefer({"ALL_REDUCE=TREE", "SHIFT=DIRECT", "ALL_REDUCE=RING"}, profile);
    ADD_FAILURE() << "two algorithms of one operation";
  } catch (const Error& caught) {
    EXPECT_STREQ(caught.what(),
                 "--algorithm ALL_REDUCE=RING: ALL_REDUCE has an algorithm already (TREE); give "
                 "one of the two");
  }
  EXPECT_EQ(error("ALL_REDUCE"),
            "--algorithm ALL_REDUCE: no \"=\"; write OPERATION=NAME, such as ALL_REDUCE=TREE");
  EXPECT_EQ(error("ALL_REDUCE=TRE"),
            "--algorithm ALL_REDUCE=TRE: no \"TRE\"; did you mean \"TREE\"?");
  EXPECT_EQ(
      error("SHIFT=TREE"),
      "--algorithm SHIFT=TREE: TREE is no algorithm of SHIFT; use DIRECT, DEFAULT or FASTEST");
}

TEST(ProfileTest, PointsMustBeMonotone) {
  const auto points = [](const std::string& text) {
    return profile_error("collectives { operation: SHIFT span: NODE\n" + text + " }");
  };
  EXPECT_EQ(points("points { bytes: '0 B' time: '1 us' }"),
            "p.txtpb:2:17: sizes must ascend from more than zero; sort the points");
  EXPECT_EQ(points("points { bytes: '2 B' time: '1 us' }\npoints { bytes: '2 B' time: '1 us' }"),
            "p.txtpb:3:17: sizes must ascend from more than zero; sort the points");
  EXPECT_EQ(points("points { bytes: '2 B' time: '2 us' }\npoints { bytes: '3 B' time: '1 us' }"),
            "p.txtpb:3:29: a larger size takes no less time; remove or smooth this point");
  EXPECT_EQ(points("points { bytes: '2 B' time: '2 us' } per_byte: '1 ns/KB'"),
            "p.txtpb:2:48: points stand instead of per_byte; keep one of the two");
}

TEST(ProfileTest, PointsContainTheirStartup) {
  const auto points = [](const std::string& text) {
    return profile_error("collectives { operation: SHIFT span: NODE\n" + text +
                         " points { bytes: '2 B' time: '7 us' } }");
  };
  EXPECT_EQ(points("startup: '7 us'"), "");
  EXPECT_EQ(points("startup: '7.1 us'"),
            "p.txtpb:2:10: it is more than the first point's whole time; lower it");
  // Seven other ranks: 7 us.
  EXPECT_EQ(points("group_size: 8 startup_per: PEER startup: '1 us'"), "");
  EXPECT_EQ(points("group_size: 9 startup_per: PEER startup: '1 us'"),
            "p.txtpb:2:42: it is more than the first point's whole time; lower it");
  EXPECT_EQ(points("startup_per: PEER startup: '1 us'"),
            "p.txtpb:2:14: the start-up of measured points needs their group_size; give it");
}

TEST(ProfileTest, NodesAndRanksMakeTheSpan) {
  const auto group = [](const std::string& text) {
    return profile_error("collectives { operation: SHIFT per_byte: '1 ns/KB' " + text + " }");
  };
  EXPECT_EQ(group("span: NODE group_size: 8 num_nodes: 1"), "");
  EXPECT_EQ(group("span: FABRIC group_size: 8 num_nodes: 8"), "");
  EXPECT_EQ(group("span: BOTH group_size: 8 num_nodes: 2"), "");
  for (const char* text : {"span: NODE group_size: 8 num_nodes: 2",
                           "span: NODE num_nodes: 2",
                           "span: FABRIC group_size: 8 num_nodes: 4",
                           "span: BOTH group_size: 8 num_nodes: 1",
                           "span: BOTH group_size: 8 num_nodes: 8",
                           "span: BOTH group_size: 8 num_nodes: 3"}) {
    EXPECT_THAT(group(text), testing::HasSubstr("group_size and num_nodes do not make this span"))
        << text;
  }
  // The same ranks on other nodes are another case.
  EXPECT_EQ(
      group("span: BOTH group_size: 8 num_nodes: 2 } collectives { operation: SHIFT per_byte: "
            "'1 ns/KB' span: BOTH group_size: 8 num_nodes: 4"),
      "");
}

TEST(ProfileTest, WhatIsWrittenReadsTheSame) {
  Profile profile;
  profile.name = "p";
  profile.source = "measured";
  profile.environment = {"clock free"};
  profile.gpu = "H100 SXM";
  profile.operations = {{"expert", Pass::kBackward, 1.5e-6, 2.5e-10, 0, {12, 0.99, 0.01}},
                        {"order", Pass::kForward, 0, 0, 3e-9, {}},
                        {"attention", Pass::kForward, 0, 0, 0, {}, {{1000, 1e-4}, {4000, 9e-4}}}};
  CollectiveCost line;
  line.operation = CollectiveOperation::kAllToAll;
  line.span = Span::kFabric;
  line.group_size = 4;
  line.startup_seconds = 2e-4;
  line.seconds_per_byte = 1e-9;
  line.fit = {9, 0.999, 0.002};
  CollectiveCost table;
  table.operation = CollectiveOperation::kAllGather;
  table.span = Span::kBoth;
  table.group_size = 8;
  table.num_nodes = 2;
  table.startup_seconds = 1e-5;
  table.startup_per = StartupPer::kPeer;
  table.points = {{1024, 1e-4}, {4096, 2e-4}};
  table.ring_bytes_per_second = 1.25e10;
  CollectiveCost startup;
  startup.operation = CollectiveOperation::kAllReduce;
  startup.startup_seconds = 3e-6;
  startup.startup_per = StartupPer::kStep;
  startup.only_startup = true;
  startup.algorithm = Algorithm::kTree;
  startup.peer_bytes_per_second = 25e9;
  profile.collectives = {line, table, startup};
  profile.algorithms = {{CollectiveOperation::kAllToAll, Span::kBoth, Algorithm::kFastest}};
  profile.launch_overhead_seconds = 7e-6;
  profile.hardware_queues = 8;
  profile.inter_node_rate = 5e7;

  const Profile read = parse_profile(profile_to_text(profile), "p.txtpb");
  EXPECT_EQ(profile_to_text(read), profile_to_text(profile));
  ASSERT_EQ(read.operations.size(), 3U);
  EXPECT_EQ(read.operations[0].operation, "expert");
  EXPECT_EQ(read.operations[0].pass, Pass::kBackward);
  EXPECT_NEAR(read.operations[0].seconds_per_flop, 2.5e-10, 1e-18);
  EXPECT_NEAR(read.operations[1].seconds_per_byte, 3e-9, 1e-17);
  ASSERT_EQ(read.operations[2].points.size(), 2U);
  EXPECT_EQ(read.operations[2].points[1].size, 4000);
  EXPECT_NEAR(read.operations[2].points[1].seconds, 9e-4, 1e-12);
  EXPECT_EQ(read.gpu, "H100 SXM");
  ASSERT_EQ(read.collectives.size(), 3U);
  EXPECT_NEAR(read.collectives[1].ring_bytes_per_second, 1.25e10, 1);
  EXPECT_TRUE(read.collectives[2].only_startup);
  EXPECT_EQ(read.collectives[2].startup_per, StartupPer::kStep);
  EXPECT_EQ(read.collectives[2].algorithm, Algorithm::kTree);
  EXPECT_NEAR(read.collectives[2].peer_bytes_per_second, 25e9, 1);
  EXPECT_EQ(read.algorithms, profile.algorithms);
  EXPECT_NEAR(read.collectives[0].seconds_per_byte, 1e-9, 1e-17);
  EXPECT_EQ(read.collectives[0].fit.num_samples, 9);
  ASSERT_EQ(read.collectives[1].points.size(), 2U);
  EXPECT_EQ(read.collectives[1].points[1].size, 4096);
  EXPECT_EQ(read.collectives[1].num_nodes, 2);
  EXPECT_EQ(read.collectives[1].startup_per, StartupPer::kPeer);
  EXPECT_NEAR(read.collectives[1].startup_seconds, 1e-5, 1e-13);
  EXPECT_NEAR(read.launch_overhead_seconds, 7e-6, 1e-12);
  EXPECT_EQ(read.hardware_queues, 8);
}

TEST(ProfileTest, WhatWasNotFittedHasNoFit) {
  Profile profile;
  profile.gemm = GemmCost{.startup_seconds = 1e-6, .seconds_per_flop = 1e-15, .fit = {}};
  EXPECT_THAT(profile_to_text(profile), testing::Not(testing::HasSubstr("fit")));
}

TEST(ProfileTest, OperationsAreNamedOncePerPass) {
  EXPECT_THAT(profile_error("operations { operation: \"expret\" }"), testing::HasSubstr("expert"));
  EXPECT_THAT(
      profile_error("operations { operation: \"gate\" }\noperations { operation: \"gate\" }"),
      testing::HasSubstr("p.txtpb:2:"));
  EXPECT_THAT(profile_error("operations { operation: \"gate\" pass: RECOMPUTE }"),
              testing::HasSubstr("forward pass"));
}

}  // namespace
}  // namespace moesim
