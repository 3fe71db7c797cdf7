// Programs of fixed tasks on a fake CUDA: event times are those that streams and waits give.
#include <gmock/gmock.h>

#include "kernels/cuda/cuda_call.h"
#include "kernels/cuda/cuda_executor.h"
#include "tests/support/fake_cuda/fake_cuda.h"
#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using test::HandProgram;
using testing::FakeCuda;

Time us(int64_t microseconds) {
  return Time::from_picoseconds(1'000'000 * microseconds);
}

// CUDA tells milliseconds as a float.
Time rounded(Time time) {
  constexpr int64_t kNanosecond = 1000;
  return Time::from_picoseconds((time.picoseconds() + kNanosecond / 2) / kNanosecond * kNanosecond);
}

Trace run(const Program& program, const CudaOptions& options = {}) {
  CudaExecutor executor(program, options);
  TensorStore tensors(program);
  Trace trace = executor.run(tensors).trace;
  for (TaskSpan& span : trace.spans) {
    span.start = rounded(span.start);
    span.transfer = rounded(span.transfer);
    span.end = rounded(span.end);
  }
  return trace;
}

const TaskSpan& span_of(const Trace& trace, int rank, int task) {
  for (const TaskSpan& span : trace.spans) {
    if (span.rank == rank && span.task == task) {
      return span;
    }
  }
  throw std::out_of_range("no such span");
}

// Stream a: 10 us, then 20 us; stream b: 30 us that wait for the first of them.
TEST(FixedTasksTest, StreamsRunBesideEachOther) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const FakeCuda cuda({.seed = seed});
    HandProgram hand(1, {"a", "b"});
    hand.add_fixed("f", 0, us(10));
    hand.add_fixed("f", 0, us(20));
    hand.add_fixed("f", 1, us(30), {0});
    const Trace trace = run(hand.program());
    EXPECT_EQ(span_of(trace, 0, 1).start, us(10));
    EXPECT_EQ(span_of(trace, 0, 1).end, us(30));
    EXPECT_EQ(span_of(trace, 0, 2).start, us(10));
    EXPECT_EQ(span_of(trace, 0, 2).end, us(40));
    EXPECT_EQ(rounded(trace.end), us(40));
    EXPECT_EQ(trace.executor, "cuda");
  }
}

// Rank 1 takes twice as long and reaches the collective at 20 us, rank 0 at 10: both leave it then,
// and data moves from 20 us on. The rank outside the group passes by.
TEST(FixedTasksTest, MembersOfACollectiveLeaveTogether) {
  for (const bool uses_graph : {false, true}) {
    const FakeCuda cuda;
    HandProgram hand(3, {"s"});
    const int group = hand.add_group("g", {{0, 1}});
    hand.add_fixed("f", 0, us(10));
    const int collective = hand.add_collective("c", 0, test::all_to_all(group), Time::zero());
    const int last = hand.add_fixed("f", 0, us(5));
    Program program = hand.program();
    program.rank_scale = {1, 2, 1};
    const Trace trace = run(program, {.uses_graph = uses_graph});
    EXPECT_EQ(span_of(trace, 0, collective).start, us(10));
    EXPECT_EQ(span_of(trace, 0, collective).transfer, us(20));
    EXPECT_EQ(span_of(trace, 1, collective).start, us(20));
    EXPECT_EQ(span_of(trace, 1, collective).transfer, us(20));
    EXPECT_EQ(span_of(trace, 0, last).start, us(20));
    EXPECT_EQ(span_of(trace, 1, last).end, us(30));
    EXPECT_EQ(span_of(trace, 2, collective).end, us(10));
    EXPECT_EQ(span_of(trace, 2, last).end, us(15));
  }
}

// A graph runs as often as one likes, each time with times of its own.
TEST(FixedTasksTest, AGraphRunsAgain) {
  const FakeCuda cuda;
  HandProgram hand(1, {"a", "b"});
  hand.add_fixed("f", 0, us(10));
  hand.add_fixed("f", 1, us(30), {0});
  const Program program = hand.program();
  CudaExecutor executor(program, {.uses_graph = true});
  TensorStore tensors(program);
  for (int i = 0; i < 3; ++i) {
    const Trace trace = executor.run(tensors).trace;
    EXPECT_EQ(rounded(trace.end), us(40));
    EXPECT_THAT(trace.assumptions, ::testing::Contains(::testing::HasSubstr("one graph")));
  }
}

// A call that fails while a graph is captured: the capture is ended, so that the stream can be
// given back, and what was captured is thrown away.
TEST(FixedTasksTest, ACaptureThatFailsIsGivenUp) {
  HandProgram hand(1, {"a", "b"});
  hand.add_fixed("f", 0, us(10));
  hand.add_fixed("f", 1, us(30), {0});
  int num_given_up = 0;
  for (int number = 1; number <= 20; ++number) {
    const FakeCuda cuda(
        {.fault = testing::Fault{"cudaStreamWaitEvent", number, cudaErrorInvalidResourceHandle}});
    try {
      run(hand.program(), {.uses_graph = true});
    } catch (const CudaError& error) {
      EXPECT_THAT(error.what(), ::testing::StartsWith("cudaStreamWaitEvent failed"));
      const bool was_ended = cuda.calls().count("cudaStreamEndCapture") == 1;
      num_given_up += was_ended && cuda.calls().count("cudaGraphInstantiate") == 0 ? 1 : 0;
    }
    EXPECT_EQ(cuda.num_live_handles(), 0) << "wait " << number;
  }
  EXPECT_GT(num_given_up, 0);
}

// The host waits for the first task before it launches the second, on another stream: it starts
// behind it on the device's clock, too, as nothing but that wait keeps it back.
TEST(FixedTasksTest, HostWaitsHoldUpLaunches) {
  const FakeCuda cuda;
  HandProgram hand(1, {"a", "b"});
  hand.add_fixed("f", 0, us(10));
  const int wait = hand.add_host_wait({0});
  hand.add_fixed("f", 1, us(5));
  const Program program = hand.program();
  const Trace trace = run(program);
  EXPECT_EQ(span_of(trace, 0, wait).end, us(10));
  EXPECT_EQ(cuda.calls().at("cudaEventSynchronize"), 1);
  EXPECT_THROW(CudaExecutor(program, {.uses_graph = true}), Error);
}

// On each of two ranks one stream of two; a graph runs each once more.
TEST(FixedTasksTest, StreamsOfCollectivesAloneComeFirst) {
  HandProgram hand(2, {"compute", "network"});
  const int group = hand.add_group("g", {{0, 1}});
  hand.add_collective("c", 0, test::all_to_all(group), Time::zero());
  hand.add_fixed("f", 0, us(1));
  hand.add_collective("c", 1, test::all_to_all(group), Time::zero());
  for (const bool uses_graph : {false, true}) {
    const FakeCuda cuda;
    run(hand.program(), {.uses_graph = uses_graph});
    EXPECT_EQ(cuda.num_high_priority_streams(), uses_graph ? 4 : 2);
  }
}

TEST(FixedTasksTest, EverythingIsGivenBack) {
  const FakeCuda cuda;
  HandProgram hand(2, {"a", "b"});
  hand.add_fixed("f", 0, us(10));
  hand.add_fixed("f", 1, us(30), {0});
  run(hand.program(), {.uses_graph = true});
  EXPECT_EQ(cuda.num_live_handles(), 0);
}

}  // namespace
}  // namespace moesim
