// The files of this repository: each loads, and holds what its sources print.

#include <gmock/gmock.h>

#include "sim/base/error.h"
#include "sim/io/cluster.h"
#include "sim/io/inputs.h"
#include "sim/io/profile.h"
#include "sim/io/sweep.h"

namespace moesim {
namespace {

using testing::SizeIs;

constexpr const char* kTestbeds[] = {"a", "b"};

Profile fsmoe_profile(const std::string& testbed) {
  return load_profile("calibration/profiles/fsmoe_testbed_" + testbed + ".txtpb");
}

const CollectiveCost& cost_of(const Profile& profile, CollectiveOperation operation) {
  for (const CollectiveCost& cost : profile.collectives) {
    if (cost.operation == operation) {
      return cost;
    }
  }
  throw Error("no cost of " + std::string(to_string(operation)) + "; add it");
}

// FSMoE's fitted parameters: start-up in ms, slope in ms per fp32 element on A and per byte on B.
struct Published {
  CollectiveOperation operation;
  double startup_a;
  double per_element_a;
  double startup_b;
  double per_byte_b;
};

constexpr Published kPublished[] = {
    {CollectiveOperation::kAllToAll, 2.87e-1, 2.21e-6, 1.75e-1, 3.06e-7},
    {CollectiveOperation::kAllGather, 3.37e-1, 2.32e-7, 3.20e-2, 1.68e-7},
    {CollectiveOperation::kReduceScatter, 3.95e-1, 2.34e-7, 3.91e-2, 1.67e-7},
    {CollectiveOperation::kAllReduce, 5.11e-1, 4.95e-6, 8.37e-2, 5.99e-7}};

TEST(DataFilesTest, ProfilesHoldThePublishedCollectives) {
  const Profile a = fsmoe_profile("a");
  const Profile b = fsmoe_profile("b");
  for (const Published& published : kPublished) {
    const CollectiveCost& on_a = cost_of(a, published.operation);
    const CollectiveCost& on_b = cost_of(b, published.operation);
    EXPECT_NEAR(on_a.startup_seconds, published.startup_a * 1e-3, 1e-12);
    EXPECT_DOUBLE_EQ(on_a.seconds_per_byte, published.per_element_a / 4 * 1e-3);
    EXPECT_NEAR(on_b.startup_seconds, published.startup_b * 1e-3, 1e-12);
    EXPECT_DOUBLE_EQ(on_b.seconds_per_byte, published.per_byte_b * 1e-3);
    const bool inter = published.operation == CollectiveOperation::kAllToAll ||
                       published.operation == CollectiveOperation::kAllReduce;
    EXPECT_EQ(on_a.span, inter ? Span::kFabric : Span::kNode);
    EXPECT_EQ(on_a.group_size, inter ? 6 : 8);
    EXPECT_EQ(on_b.group_size, inter ? 8 : 4);
  }
}

// t = start-up + slope * 4 * multiply-adds and a multiply-add is two FLOP: twice the slope, in ms.
TEST(DataFilesTest, ProfilesHoldThePublishedGemms) {
  const Profile a = fsmoe_profile("a");
  const Profile b = fsmoe_profile("b");
  EXPECT_NEAR(a.gemm->startup_seconds, 4.26e-5, 1e-12);
  EXPECT_DOUBLE_EQ(a.gemm->seconds_per_flop, 2 * 2.29e-11 * 1e-3);
  EXPECT_NEAR(b.gemm->startup_seconds, 9.24e-5, 1e-12);
  EXPECT_DOUBLE_EQ(b.gemm->seconds_per_flop, 2 * 4.42e-11 * 1e-3);
  EXPECT_EQ(a.memory_bytes_per_second, 768e9);
  EXPECT_EQ(b.memory_bytes_per_second, 616e9);
}

TEST(DataFilesTest, ClustersAreTheTestbeds) {
  const Cluster a = load_cluster("topologies/testbed_a.txtpb");
  EXPECT_EQ(a.num_nodes, 6);
  EXPECT_EQ(a.gpus_per_node, 8);
  EXPECT_EQ(a.gpu_memory_bytes, std::int64_t{48} << 30);
  const Cluster b = load_cluster("topologies/testbed_b.txtpb");
  EXPECT_EQ(b.num_nodes, 8);
  EXPECT_EQ(b.gpus_per_node, 4);
  EXPECT_EQ(b.gpu_memory_bytes, std::int64_t{11} << 30);
  EXPECT_EQ(a.inter_node.bytes_per_second, 200e9 / 8 / 8);  // bits, GPUs of a node
  EXPECT_EQ(b.inter_node.bytes_per_second, 100e9 / 8 / 4);
}

TEST(DataFilesTest, ScenariosAreFsmoesCaseStudy) {
  for (const std::string testbed : kTestbeds) {
    for (const std::string model : {"gpt2xl", "mixtral"}) {
      const Inputs inputs = load_inputs("scenarios/" + model + "_testbed_" + testbed + ".txtpb");
      const ParallelConfig& parallel = inputs.scenario.parallel;
      EXPECT_EQ(parallel.mp, inputs.cluster.gpus_per_node);
      EXPECT_EQ(parallel.esp, inputs.cluster.gpus_per_node);
      EXPECT_EQ(parallel.ep, inputs.cluster.num_nodes);
      EXPECT_EQ(parallel.dp, inputs.cluster.num_nodes);
      EXPECT_EQ(parallel.edp, 1);
      EXPECT_EQ(inputs.scenario.model.experts, inputs.cluster.num_nodes);
      EXPECT_EQ(inputs.scenario.model.tokens(), 4096);  // 4 * 1024
      EXPECT_EQ(inputs.scenario.model.attention, AttentionMask::kFull);
    }
  }
}

TEST(DataFilesTest, QuickstartComparesEverything) {
  const Inputs inputs = load_inputs("scenarios/quickstart.txtpb");
  EXPECT_THAT(inputs.scenario.schedules, SizeIs(12));
  EXPECT_EQ(inputs.scenario.baseline, "tutel");
  EXPECT_EQ(inputs.scenario.model.layers, 8);
  EXPECT_EQ(inputs.scenario.model.attention, AttentionMask::kCausal);
  // Fewer nodes need no other change.
  EXPECT_EQ(load_inputs("scenarios/quickstart.txtpb", {.overrides = {"cluster.num_nodes=4"}})
                .scenario.parallel.ep,
            4);
}

TEST(DataFilesTest, SweepNamesItsScenario) {
  const Sweep sweep = load_sweep("scenarios/sweep_example.txtpb");
  EXPECT_EQ(sweep.scenario_path, "scenarios/quickstart.txtpb");
  EXPECT_THAT(sweep.axes, SizeIs(2));
  for (const SweepAxis& axis : sweep.axes) {
    for (const std::string& value : axis.values) {
      EXPECT_NO_THROW(load_inputs(sweep.scenario_path, {.overrides = {axis.field + "=" + value}}));
    }
  }
}

}  // namespace
}  // namespace moesim
