// Every process of mpirun runs these tests at the same time: whatever the Program, the buffers of
// its own ranks hold, byte for byte, what they hold when all ranks are threads of one process.
#include "kernels/mpi/mpi_executor.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "kernels/host/host_executor.h"
#include "kernels/inputs.h"
#include "kernels/mpi/collect.h"
#include "sim/base/error.h"
#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using namespace test;

constexpr int kNumRanks = 4;

MpiWorld* world = nullptr;

// Values of its own for every rank, so that it shows who sent what.
TensorStore filled(const Program& program, std::vector<int> ranks) {
  TensorStore tensors(program, std::move(ranks));
  fill_inputs(InputData::kReal, tensors);
  for (const int rank : tensors.ranks()) {
    for (size_t tensor = 0; tensor < program.tensors.size(); ++tensor) {
      for (int row = 0; program.tensors[tensor].input && row < program.tensors[tensor].rows;
           ++row) {
        *tensors.values(rank, static_cast<int>(tensor), row) += 0.37F * static_cast<float>(rank);
      }
    }
  }
  return tensors;
}

void expect_same_bytes(const TensorStore& expected, const TensorStore& actual) {
  const Program& program = actual.program();
  for (const int rank : actual.ranks()) {
    for (size_t i = 0; i < program.tensors.size(); ++i) {
      const int tensor = static_cast<int>(i);
      EXPECT_TRUE(
          std::ranges::equal(expected.contents(rank, tensor), actual.contents(rank, tensor)))
          << "tensor " << program.tensors[i].name << " of rank " << rank;
    }
  }
}

Execution expect_as_on_threads(const Program& program, const HostOptions& options) {
  TensorStore expected = filled(program, all_ranks(program));
  HostExecutor(program, options).run(expected);
  MpiExecutor executor(*world, program, options);
  TensorStore actual = filled(program, executor.ranks());
  Execution execution = executor.run(actual);
  expect_same_bytes(expected, actual);
  return execution;
}

struct Shape {
  CollectiveOperation operation;
  int read_rows;
  int written_rows;
};

// Adds one over the group, from a tensor of its own to another. Sizes are for four members.
int add_collective(HandProgram& hand, const Shape& shape, int group, int stream) {
  const std::string name = std::to_string(hand.program().tensors.size());
  const int x = hand.add_tensor("x" + name, shape.read_rows, true);
  const int y = hand.add_tensor("y" + name, shape.written_rows);
  Collective collective;
  collective.operation = shape.operation;
  collective.group = group;
  collective.distance = 1;
  collective.root = 1;
  const int task = hand.add_collective("c", stream, collective, ps(1));
  hand.task(task).reads = {rows(hand.program(), x)};
  hand.task(task).writes = {rows(hand.program(), y)};
  return task;
}

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {{CollectiveOperation::kAllReduce, 4099, 4099},
                                         {CollectiveOperation::kAllGather, 3, 12},
                                         {CollectiveOperation::kReduceScatter, 12, 3},
                                         {CollectiveOperation::kAllToAll, 8, 8},
                                         {CollectiveOperation::kShift, 5, 5},
                                         {CollectiveOperation::kBroadcast, 5, 5}};
  return all;
}

// On two streams at once; 4099 rows do not divide by 4.
TEST(MpiExecutorTest, EveryCollective) {
  HandProgram hand(kNumRanks, {"a", "b"});
  const int group = hand.add_group("all", {{0, 1, 2, 3}});
  for (const Shape& shape : shapes()) {
    add_collective(hand, shape, group, 0);
    add_collective(hand, shape, group, 1);
  }
  expect_as_on_threads(hand.program(), {});
}

// Two instances, one whose members stand in another order, and a rank in none.
TEST(MpiExecutorTest, PartsOfTheWorld) {
  HandProgram hand(kNumRanks, {"s"});
  const int pairs = hand.add_group("pairs", {{2, 0}, {1, 3}});
  const int lonely = hand.add_group("lonely", {{3, 1}, {2}});
  for (const int group : {pairs, lonely}) {
    add_collective(hand, {CollectiveOperation::kAllReduce, 7, 7}, group, 0);
    add_collective(hand, {CollectiveOperation::kShift, 7, 7}, group, 0);
  }
  expect_as_on_threads(hand.program(), {});
}

// 6 MB for each other rank: many segments under way, small ones beside them.
TEST(MpiExecutorTest, LongMessagesBesideShortOnes) {
  HandProgram hand(kNumRanks, {"long", "short"});
  const int group = hand.add_group("all", {{0, 1, 2, 3}});
  add_collective(hand, {CollectiveOperation::kAllToAll, 6'000'000, 6'000'000}, group, 0);
  for (int i = 0; i < 20; ++i) {
    add_collective(hand, {CollectiveOperation::kAllToAll, 4, 4}, group, 1);
  }
  expect_as_on_threads(hand.program(), {});
}

// Fixed tasks of 10 ms times 1, 2, 3, 4 before a meeting that moves bytes without meaning: rank 3
// comes last, 40 ms after the start at the earliest, and nobody leaves before.
TEST(MpiExecutorTest, NobodyLeavesBeforeAllHaveCome) {
  HandProgram hand(kNumRanks, {"s"});
  const int group = hand.add_group("all", {{0, 1, 2, 3}});
  hand.add_fixed("work", 0, Time::from_seconds(0.01));
  Collective shift;
  shift.operation = CollectiveOperation::kShift;
  shift.distance = 1;
  shift.group = group;
  shift.bytes = 1000;
  const int meets = hand.add_collective("meets", 0, shift, ps(1));
  hand.add_host_wait({meets});
  Program program = hand.program();
  program.rank_scale = {1, 2, 3, 4};
  const Execution execution = expect_as_on_threads(program, {});
  const Time last = Time::from_seconds(0.04);
  int num_meeting = 0;
  for (const TaskSpan& span : execution.trace.spans) {
    EXPECT_TRUE(span.launched <= span.start && span.start <= span.transfer &&
                span.transfer <= span.end);
    if (span.task == meets) {
      ++num_meeting;
      EXPECT_GE(span.end, last);
      EXPECT_TRUE(world->process() != 0 || span.transfer >= last);
    }
  }
  const int here = world->process() == 0 ? kNumRanks : kNumRanks / world->num_processes();
  EXPECT_EQ(num_meeting, here);
  EXPECT_GE(execution.trace.end, last);
}

// All processes decide alike which runs count: they see the same end and lateness.
TEST(MpiExecutorTest, RunsFollowEachOther) {
  HandProgram hand(kNumRanks, {"s"});
  add_collective(hand, shapes()[0], hand.add_group("all", {{0, 1, 2, 3}}), 0);
  MpiExecutor executor(*world, hand.program(), {});
  TensorStore tensors = filled(hand.program(), executor.ranks());
  for (int run = 0; run < 5; ++run) {
    const Execution execution = executor.run(tensors);
    const std::string end = std::to_string(execution.trace.end.picoseconds());
    EXPECT_EQ(broadcast(executor.courier(), end), end);
    EXPECT_FALSE(execution.trace.assumptions.empty());
  }
}

TEST(MpiExecutorTest, RefusesWhatWouldPaceTheNetwork) {
  HandProgram hand(kNumRanks, {"s"});
  HostOptions options;
  options.clock = HostClock::kAnchored;
  EXPECT_THROW(MpiExecutor(*world, hand.program(), options), Error);
  options = {};
  options.cluster.emplace();
  EXPECT_THROW(MpiExecutor(*world, hand.program(), options), Error);
}

TEST(MpiExecutorTest, RanksAreDealtOutEqually) {
  HandProgram hand(world->num_processes() + 1, {"s"});
  if (world->num_processes() == 1) {
    GTEST_SKIP() << "one process takes any number";
  }
  EXPECT_THROW(MpiExecutor(*world, hand.program(), {}), Error);
}

}  // namespace
}  // namespace moesim

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  moesim::MpiWorld the_world;
  moesim::world = &the_world;
  return RUN_ALL_TESTS();
}
