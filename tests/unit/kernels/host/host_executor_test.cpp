// Times are asserted exactly where the clock is anchored, else only from below: no test depends on
// how busy this machine is.
#include "kernels/host/host_executor.h"

#include <gmock/gmock.h>

#include "kernels/host/real_time.h"
#include "tests/unit/kernels/host/run_program.h"

namespace moesim {
namespace {

using namespace test;
using testing::Each;
using testing::HasSubstr;

// Launches at 1 and 2 ms. The host waits for the first task, which ends at 1 + 5 = 6, and launches
// the third at 7; it starts at once and lasts 2.
TEST(HostExecutorTest, LaunchesTakeTimeAndTheHostWaits) {
  HandProgram hand(1, {"a", "b"});
  const int first = hand.add_fixed("f", 0, ms(5));
  const int second = hand.add_fixed("f", 1, ms(1));
  const int wait = hand.add_host_wait({first});
  const int third = hand.add_fixed("f", 1, ms(2));
  HostOptions options = anchored();
  options.launch_overhead = ms(1);
  const Execution execution = execute(hand.program(), options);
  EXPECT_EQ(span_of(execution, first, 0).start, ms(1));
  EXPECT_EQ(span_of(execution, second, 0).start, ms(2));
  EXPECT_EQ(span_of(execution, wait, 0).launched, ms(2));
  EXPECT_EQ(span_of(execution, wait, 0).end, ms(6));
  EXPECT_EQ(span_of(execution, third, 0).launched, ms(7));
  EXPECT_EQ(span_of(execution, third, 0).end, ms(9));
  EXPECT_EQ(execution.trace.end, ms(9));
  EXPECT_EQ(execution.trace.executor, "cpu");
  EXPECT_EQ(execution.trace.pass_end[0], ms(9));
  EXPECT_THAT(execution.trace.assumptions, testing::Contains(HasSubstr("anchored")));
}

// On one queue, c cannot start before b has, and b waits for a: c starts at 3. On two it starts
// at 0.
TEST(HostExecutorTest, OneHardwareQueueMakesLaunchOrderStartOrder) {
  HandProgram hand(1, {"a", "b", "c"});
  const int a = hand.add_fixed("a", 0, ms(3));
  hand.add_fixed("b", 1, ms(1), {a});
  const int c = hand.add_fixed("c", 2, ms(1));
  HostOptions options = anchored();
  options.hardware_queues = 1;
  EXPECT_EQ(span_of(execute(hand.program(), options), c, 0).start, ms(3));
  options.hardware_queues = 3;
  EXPECT_EQ(span_of(execute(hand.program(), options), c, 0).start, ms(0));
}

TEST(HostExecutorTest, RanksRunTheirRolesTasksAtTheirScale) {
  HandProgram hand(3, {"a"});
  hand.add_fixed("f", 0, ms(2));
  hand.add_fixed("g", 0, ms(1));
  Program program = hand.program();
  program.roles = {{"first", {0}}, {"second", {1, 2}}};
  program.rank_scale = {1, 1, 3};
  program.tasks[1].roles = {1};
  const Execution execution = execute(program, anchored());
  EXPECT_EQ(execution.trace.spans.size(), 5U);
  EXPECT_EQ(span_of(execution, 0, 0).end, ms(2));
  EXPECT_EQ(span_of(execution, 1, 1).end, ms(3));
  EXPECT_EQ(span_of(execution, 1, 2).end, ms(9));
}

// Two all-to-alls of two GPUs on one port of 1 GB/s: 10 MB each way. The second starts at 4, when
// 6 MB of the first are left. Halves: the first ends at 4 + 12 = 16, the second, with 4 MB left,
// at 20. Latency (1 ms) comes first and leaves the port alone: all of it is a millisecond later.
TEST(HostExecutorTest, CollectivesShareLinks) {
  HandProgram hand(2, {"a", "b"});
  Collective collective = all_to_all(hand.add_group("all", {{0, 1}}));
  collective.bytes = 20'000'000;
  const int first = hand.add_collective("x", 0, collective, ms(0));
  const int before = hand.add_fixed("f", 1, ms(4));
  const int second = hand.add_collective("x", 1, collective, ms(0), {before});
  HostOptions options = anchored();
  options.cluster = Cluster{};
  options.cluster->gpus_per_node = 2;
  options.cluster->num_nodes = 1;
  options.cluster->intra_node = {1e9, 1e-3};
  options.cluster->inter_node = {1e6, 1};
  Execution execution;
  // Later than the first one's end the second cannot change it: such a run is no test.
  do {
    execution = execute(hand.program(), options);
  } while (execution.lateness > ms(5));
  for (const int rank : {0, 1}) {
    EXPECT_EQ(span_of(execution, first, rank).end, ms(17));
    EXPECT_EQ(span_of(execution, second, rank).transfer, ms(4));
    EXPECT_EQ(span_of(execution, second, rank).end, ms(21));
  }
}

TEST(HostExecutorTest, FreeClockNeverTakesLessThanPlanned) {
  HandProgram hand(2, {"a", "b"});
  const int group = hand.add_group("all", {{0, 1}});
  const int first = hand.add_fixed("f", 0, ms(2));
  const int second = hand.add_collective("c", 1, all_to_all(group), ms(0), {first});
  const int third = hand.add_fixed("f", 0, ms(3), {second});
  const Execution execution = execute(hand.program(), {});
  for (const int rank : {0, 1}) {
    const TaskSpan span = span_of(execution, third, rank);
    EXPECT_GE(span.end - span.start, ms(3));
    EXPECT_GE(span.start, span_of(execution, second, rank).end);
    EXPECT_GE(span_of(execution, second, rank).start, span_of(execution, first, rank).end);
    EXPECT_EQ(span_of(execution, second, rank).transfer, span_of(execution, second, 0).transfer);
  }
  EXPECT_GE(execution.trace.end, ms(5));
}

TEST(HostExecutorTest, RawWaitsForNothing) {
  HandProgram hand(1, {"a"});
  hand.add_fixed("f", 0, hours(1));
  HostOptions options;
  options.clock = HostClock::kRaw;
  options.launch_overhead = hours(1);
  EXPECT_LT(execute(hand.program(), options).trace.end, hours(1));
}

// A dilated operation lasts four times the CPU time that it takes.
TEST(HostExecutorTest, DilationStretchesOperations) {
  HandProgram hand(1, {"a"});
  hand.add(elementwise(0), ms(0));
  HostOptions options;
  options.dilation = 4;
  options.make_operation = always([](TensorStore&) {
    for (const Time start = thread_cpu_time(); thread_cpu_time() - start < ms(3);) {
    }
  });
  const TaskSpan span = span_of(execute(hand.program(), options), 0, 0);
  EXPECT_GE(span.end - span.start, ms(12));
}

// Nothing orders the two: the first is held until the second has ended. With a wait it is held for
// 5 ms and still ends first.
TEST(HostExecutorTest, ATaskIsHeldUntilALaterOneHasEnded) {
  HandProgram hand(2, {"a", "b"});
  const int earlier = hand.add_fixed("f", 0, ms(1));
  const int later = hand.add_fixed("f", 1, ms(1));
  HostOptions options;
  options.hold = Hold{earlier, later, hours(1)};
  const Execution reversed = execute(hand.program(), options);
  hand.task(later).waits = {earlier};
  options.hold->longest = ms(5);
  const Execution ordered = execute(hand.program(), options);
  EXPECT_THAT(ordered.trace.assumptions, testing::Contains(HasSubstr("held")));
  for (const int rank : {0, 1}) {
    EXPECT_GE(span_of(reversed, earlier, rank).start, span_of(reversed, later, rank).end);
    EXPECT_GE(span_of(ordered, earlier, rank).start, ms(5));
    EXPECT_GE(span_of(ordered, later, rank).start, span_of(ordered, earlier, rank).end);
  }
}

// Rank r's x holds r; everybody's y is 0, 1 after the first gather, z the sum over ranks of y.
class HostDataTest : public testing::TestWithParam<HostClock> {};

TEST_P(HostDataTest, CollectivesMoveData) {
  HandProgram hand(2, {"a", "b"});
  const int group = hand.add_group("all", {{0, 1}});
  const int x = hand.add_tensor("x", 1, true);
  const int y = hand.add_tensor("y", 2);
  const int z = hand.add_tensor("z", 2);
  Collective gather;
  gather.operation = CollectiveOperation::kAllGather;
  gather.group = group;
  const int first = hand.add_collective("gather", 0, gather, ms(0));
  hand.task(first).reads = {rows(hand.program(), x)};
  hand.task(first).writes = {rows(hand.program(), y)};
  Collective sum;
  sum.group = group;
  const int second = hand.add_collective("sum", 1, sum, ms(0), {first});
  hand.task(second).reads = {rows(hand.program(), y)};
  hand.task(second).writes = {rows(hand.program(), z)};
  HostOptions options;
  options.clock = GetParam();
  HostExecutor executor(hand.program(), options);
  for (int run = 0; run < 20; ++run) {
    TensorStore tensors(hand.program(), {0, 1});
    tensors.values(0, x)[0] = static_cast<float>(run);
    tensors.values(1, x)[0] = 1;
    executor.run(tensors);
    for (const int rank : {0, 1}) {
      EXPECT_EQ(tensors.values(rank, y)[0], static_cast<float>(run));
      EXPECT_EQ(tensors.values(rank, y)[1], 1);
      EXPECT_EQ(tensors.values(rank, z)[0], static_cast<float>(2 * run));
      EXPECT_EQ(tensors.values(rank, z)[1], 2);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Clocks,
                         HostDataTest,
                         testing::Values(HostClock::kFree, HostClock::kAnchored, HostClock::kRaw));

// Two stages of a pipeline: the first reads what the second writes, each in a task of its own.
TEST(HostExecutorTest, RolesMeetInTasksOfTheirOwn) {
  HandProgram hand(2, {"s"});
  Collective shift;
  shift.operation = CollectiveOperation::kShift;
  shift.group = hand.add_group("pp", {{0, 1}});
  shift.distance = 1;
  const int sent = hand.add_tensor("sent", 1, true);
  const int received = hand.add_tensor("received", 1);
  hand.add_collective("send", 0, shift, ms(0));
  hand.add_collective("receive", 0, shift, ms(0));
  for (const int task : {0, 1}) {
    hand.task(task).roles = {task};
    hand.task(task).reads = {rows(hand.program(), sent)};
    hand.task(task).writes = {rows(hand.program(), received)};
  }
  Program program = hand.program();
  program.roles = {{"first", {0}}, {"second", {1}}};
  TensorStore tensors(program, {0, 1});
  tensors.values(0, sent)[0] = 7;
  HostExecutor(program, {}).run(tensors);
  EXPECT_EQ(tensors.values(1, received)[0], 7);
}

// A chain of 2 + 1 + 3 ms over two streams, before whose tasks random delays come: whatever else
// this machine does, the iteration was delayed by all that it took beyond 6 ms.
TEST(HostExecutorTest, DelaysOfAChainAddUp) {
  HandProgram hand(1, {"a", "b"});
  const int first = hand.add_fixed("f", 0, ms(2));
  const int second = hand.add_fixed("f", 1, ms(1), {first});
  hand.add_fixed("f", 0, ms(3), {second});
  HostOptions options;
  options.cluster = Cluster{};
  options.cluster->num_nodes = options.cluster->gpus_per_node = 1;
  options.cluster->intra_node = options.cluster->inter_node = {1e9, 0};
  options.delays = DelayInjection{3, ms(5)};
  const Execution execution = execute(hand.program(), options);
  EXPECT_GT(execution.delay, ms(0));
  EXPECT_EQ(execution.delay, execution.trace.end - ms(6));
  // Nothing is paced that would be delayed.
  options.cluster.reset();
  EXPECT_EQ(execute(hand.program(), options).delay, ms(0));
}

// Tasks that last nothing are launched to see how long that takes: all of it is this machine's.
TEST(HostExecutorTest, WhatLastsNothingIsNotDelayed) {
  HandProgram hand(1, {"a"});
  hand.add_fixed("f", 0, ms(0));
  hand.add_fixed("f", 0, ms(0));
  HostOptions options;
  options.cluster = Cluster{};
  options.cluster->num_nodes = options.cluster->gpus_per_node = 1;
  options.cluster->intra_node = options.cluster->inter_node = {1e9, 0};
  EXPECT_EQ(execute(hand.program(), options).delay, ms(0));
}

// Two ranks meet: an AlltoAll of 2 MB over a port of 1 GB/s, of which each sends half, takes 1 ms
// after 1 ms of latency, from the last member's start on, which is due after 4 ms on rank 1.
TEST(HostExecutorTest, ACollectiveIsDelayedWithItsLastMember) {
  HandProgram hand(2, {"a"});
  hand.add_fixed("f", 0, ms(2));
  Collective collective = all_to_all(hand.add_group("all", {{0, 1}}));
  collective.bytes = 2'000'000;
  hand.add_collective("x", 0, collective, ms(0));
  Program program = hand.program();
  program.rank_scale = {1, 2};
  HostOptions options;
  options.cluster = Cluster{};
  options.cluster->num_nodes = 1;
  options.cluster->gpus_per_node = 2;
  options.cluster->intra_node = options.cluster->inter_node = {1e9, 1e-3};
  options.delays = DelayInjection{3, ms(5)};
  const Execution execution = execute(program, options);
  EXPECT_EQ(execution.delay, execution.trace.end - ms(6));
}

}  // namespace
}  // namespace moesim
