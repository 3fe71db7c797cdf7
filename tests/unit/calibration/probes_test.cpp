#include "calibration/probes.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/program/verifier.h"

namespace moesim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Cluster make_cluster(int num_nodes, int gpus_per_node) {
  Cluster cluster;
  cluster.name = "c";
  cluster.num_nodes = num_nodes;
  cluster.gpus_per_node = gpus_per_node;
  return cluster;
}

Scenario make_scenario() {
  Scenario scenario;
  scenario.model.layers = 2;
  scenario.model.batch = 2;
  scenario.model.sequence = 16;
  scenario.model.embedding = 8;
  scenario.model.hidden = 16;
  scenario.model.heads = 4;
  scenario.model.kv_heads = 2;
  scenario.model.experts = 4;
  scenario.model.top_k = 2;
  scenario.model.capacity_factor = 1;
  scenario.model.attention = AttentionMask::kCausal;
  scenario.model.optimizer = OptimizerAlgorithm::kSgd;
  scenario.parallel = {2, 2, 2, 2, 1};
  return scenario;
}

// On 3 nodes of 2 GPUs: 0 1 | 2 3 | 4 5.
TEST(ProbesTest, GroupsHaveTheirSpan) {
  const Cluster cluster = make_cluster(3, 2);
  EXPECT_THAT(span_group(cluster, Span::kNode).members,
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4, 5)));
  EXPECT_THAT(span_group(cluster, Span::kFabric).members,
              ElementsAre(ElementsAre(0, 2, 4), ElementsAre(1, 3, 5)));
  EXPECT_THAT(span_group(cluster, Span::kBoth).members, ElementsAre(ElementsAre(0, 1, 2, 3, 4, 5)));
  EXPECT_THAT(span_group(make_cluster(1, 2), Span::kFabric).members, IsEmpty());
  EXPECT_THAT(span_group(make_cluster(2, 1), Span::kNode).members, IsEmpty());
  EXPECT_THAT(span_group(make_cluster(2, 1), Span::kBoth).members, IsEmpty());
}

// Three members, rows of 64 fp32 = 256 B: whole rows for every member make 768 B. 700 B round up
// to 768 B, 1,000 B to 1,536 B.
TEST(ProbesTest, CollectivesHaveTheBytesAskedForInWholeRows) {
  for (const auto operation : {CollectiveOperation::kAllReduce,
                               CollectiveOperation::kAllGather,
                               CollectiveOperation::kReduceScatter,
                               CollectiveOperation::kAllToAll,
                               CollectiveOperation::kShift}) {
    const Probe probe = collective_probe(make_cluster(3, 2), operation, Span::kFabric, {700, 1000});
    ASSERT_EQ(probe.program.tasks.size(), 2U);
    EXPECT_EQ(std::get<Collective>(probe.program.tasks[0].descriptor).bytes, 768);
    EXPECT_EQ(std::get<Collective>(probe.program.tasks[1].descriptor).bytes, 1536);
    EXPECT_TRUE(verify(probe.program).ok()) << probe.name;
  }
}

TEST(ProbesTest, TwoCollectivesBeginTogether) {
  const Probe probe = paired_probe(make_cluster(2, 2), Span::kBoth, 4096);
  EXPECT_TRUE(verify(probe.program).ok());
  ASSERT_EQ(probe.program.tasks.size(), 3U);
  EXPECT_NE(probe.program.tasks[1].stream, probe.program.tasks[2].stream);
  EXPECT_THAT(probe.program.tasks[2].order_only, ElementsAre(0));
}

// Every operation of the schedules, on half and on a quarter of the 16 positions.
TEST(ProbesTest, OperationsAreTheSchedulesOwn) {
  std::set<std::string> operations;
  for (const Probe& probe : operation_probes(make_scenario(), {0.5, 0.25})) {
    EXPECT_TRUE(verify(probe.program).ok()) << probe.name;
    for (const Task& task : probe.program.tasks) {
      operations.insert(descriptor_name(task.descriptor));
    }
  }
  for (const std::string& name : compute_operation_names()) {
    EXPECT_EQ(operations.count(name), 1U) << name;
  }
}

TEST(ProbesTest, LaunchesAreEmptyTasks) {
  const Probe probe = launch_probe(3, 5);
  EXPECT_EQ(probe.program.num_ranks, 3);
  EXPECT_EQ(probe.program.tasks.size(), 5U);
  EXPECT_TRUE(verify(probe.program).ok());
}

}  // namespace
}  // namespace moesim
