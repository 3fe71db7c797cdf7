#include "sim/cli/run_size.h"

#include <gtest/gtest.h>

#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using test::HandProgram;
using test::ps;

constexpr int64_t kSecond = 1'000'000'000'000;

// Two nodes of two GPUs: 1000 B/s after 1 s within a node, 100 B/s after 2 s between them.
Cluster make_cluster() {
  Cluster cluster;
  cluster.num_nodes = 2;
  cluster.gpus_per_node = 2;
  cluster.intra_node = {1000, 1};
  cluster.inter_node = {100, 2};
  return cluster;
}

// On four ranks, one after the other: a fixed second; an AllReduce of 800 B within nodes,
// 1 + 2 * 1/2 * 800 / 1000 = 1.8 s; an AllToAll of 800 B between nodes, 2 + 1/2 * 800 / 100 = 6 s.
HandProgram communicating() {
  HandProgram hand(4, {"s"});
  hand.add_fixed("f", 0, ps(kSecond));
  Collective sum;
  sum.operation = CollectiveOperation::kAllReduce;
  sum.group = hand.add_group("node", {{0, 1}, {2, 3}});
  sum.bytes = 800;
  hand.add_collective("sum", 0, sum, ps(0));
  Collective exchange = test::all_to_all(hand.add_group("rail", {{0, 2}, {1, 3}}));
  exchange.bytes = 800;
  hand.add_collective("exchange", 0, exchange, ps(0));
  return hand;
}

TEST(RunSizeTest, CollectivesTakeTheirLinks) {
  const HandProgram hand = communicating();
  const MachineSpeed speed{1, 1, 2};
  const Cluster cluster = make_cluster();
  EXPECT_DOUBLE_EQ(run_size(hand.program(), speed, {.cluster = &cluster}).seconds, 1 + 1.8 + 6);
  EXPECT_DOUBLE_EQ(run_size(hand.program(), speed, {}).seconds, 1);
  EXPECT_EQ(run_size(hand.program(), speed, {.is_raw = true, .cluster = &cluster}).seconds, 0);
}

// Each of eight ranks adds two buffers of 40 B to a third: 120 B of memory traffic, at 60 B/s 2 s.
// Of four cores each works for two ranks, 4 s; ten times as long on every rank are 20 s. Three
// buffers of 40 B for each rank are 960 B.
TEST(RunSizeTest, WorkIsDealtOutToCoresUnlessItIsDilated) {
  HandProgram hand(8, {"s"});
  Task task;
  task.kind = "add";
  task.stream = 0;
  task.descriptor = Elementwise{ElementwiseOperation::kAdd};
  const int x = hand.add_tensor("x", 10, true);
  const int y = hand.add_tensor("y", 10, true);
  const int sum = hand.add_tensor("sum", 10);
  task.reads = {test::rows(hand.program(), x), test::rows(hand.program(), y)};
  task.writes = {test::rows(hand.program(), sum)};
  hand.add(task, ps(0));
  const MachineSpeed speed{1, 60, 4};
  const RunSize size = run_size(hand.program(), speed, {});
  EXPECT_EQ(size.memory_bytes, 960);
  EXPECT_DOUBLE_EQ(size.seconds, 4);
  EXPECT_DOUBLE_EQ(run_size(hand.program(), speed, {.dilation = 10}).seconds, 20);
  // Two of the ranks here, the others elsewhere.
  EXPECT_EQ(run_size(hand.program(), speed, {.num_ranks = 2}).memory_bytes, 240);
  EXPECT_DOUBLE_EQ(run_size(hand.program(), speed, {.num_ranks = 2}).seconds, 2);
}

}  // namespace
}  // namespace moesim
