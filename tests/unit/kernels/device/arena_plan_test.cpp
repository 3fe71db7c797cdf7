#include "kernels/device/arena_plan.h"

#include <gmock/gmock.h>

#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using test::HandProgram;
using test::ps;

// A task on a stream that reads one tensor and writes another (kNone: none).
int add_copy(HandProgram& hand, int stream, int from, int to, std::vector<int> waits = {}) {
  const int task = hand.add_fixed("f", stream, ps(1), std::move(waits));
  if (from != kNone) {
    hand.task(task).reads = {test::rows(hand.program(), from)};
  }
  if (to != kNone) {
    hand.task(task).writes = {test::rows(hand.program(), to)};
  }
  return task;
}

ArenaPlan plan_of(const Program& program, bool keep_all = false) {
  std::vector<int64_t> sizes;
  for (const Tensor& tensor : program.tensors) {
    sizes.push_back(tensor.bytes());
  }
  const std::vector<bool> is_kept =
      keep_all ? std::vector<bool>(sizes.size(), true) : inputs_and_results(program);
  return plan_arena({&program, 0, sizes, is_kept});
}

// 64 rows of one FP32 are 256 bytes, one unit of alignment. a -> b -> c -> d on one stream: when c
// is written a is over (a is no input here), when d is written b is. d is a result and shares with
// none: it is placed alone, and a and c share.
TEST(ArenaPlanTest, TensorsOfAChainShare) {
  HandProgram hand(1, {"s"});
  for (const char* name : {"a", "b", "c", "d"}) {
    hand.add_tensor(name, 64);
  }
  add_copy(hand, 0, kNone, 0);
  add_copy(hand, 0, 0, 1);
  add_copy(hand, 0, 1, 2);
  add_copy(hand, 0, 2, 3);
  const ArenaPlan plan = plan_of(hand.program());
  EXPECT_THAT(plan.offsets, testing::ElementsAre(0, 256, 0, 512));
  EXPECT_EQ(plan.bytes, 3 * 256);
  EXPECT_EQ(plan_of(hand.program(), true).bytes, 4 * 256);
}

// Two streams: a is used on stream 0, b on stream 1. Only with a wait between them may they share.
TEST(ArenaPlanTest, OnlyWaitsLetStreamsShare) {
  for (const bool waits : {false, true}) {
    HandProgram hand(1, {"s", "t"});
    for (const char* name : {"a", "b", "out"}) {
      hand.add_tensor(name, 64);
    }
    add_copy(hand, 0, kNone, 0);
    const int last = add_copy(hand, 0, 0, kNone);
    add_copy(hand, 1, kNone, 1, waits ? std::vector{last} : std::vector<int>{});
    add_copy(hand, 1, 1, 2);
    EXPECT_EQ(plan_of(hand.program()).bytes, (waits ? 2 : 3) * 256);
  }
}

// What a host waits for is over before anything that it launches later.
TEST(ArenaPlanTest, AHostWaitLetsStreamsShare) {
  HandProgram hand(1, {"s", "t"});
  for (const char* name : {"a", "b", "out"}) {
    hand.add_tensor(name, 64);
  }
  add_copy(hand, 0, kNone, 0);
  const int last = add_copy(hand, 0, 0, kNone);
  hand.add_host_wait({last});
  add_copy(hand, 1, kNone, 1);
  add_copy(hand, 1, 1, 2);
  EXPECT_EQ(plan_of(hand.program()).bytes, 2 * 256);
}

// Sizes 100 and 300 bytes (25 and 75 rows) take 256 and 512; the largest lies first.
TEST(ArenaPlanTest, OffsetsAreAligned) {
  HandProgram hand(1, {"s"});
  hand.add_tensor("small", 25, true);
  hand.add_tensor("large", 75);
  hand.add_tensor("unused", 75, true);
  add_copy(hand, 0, 0, 1);
  const ArenaPlan plan = plan_of(hand.program());
  EXPECT_THAT(plan.offsets, testing::ElementsAre(512, 0, kNone));
  EXPECT_EQ(plan.bytes, 768);
}

TEST(ArenaPlanTest, WhatIsWrittenAfterItsLastReadIsAResult) {
  HandProgram hand(1, {"s"});
  hand.add_tensor("in", 64, true);
  hand.add_tensor("between", 64);
  hand.add_tensor("sum", 64);
  add_copy(hand, 0, 0, 1);
  add_copy(hand, 0, 1, 2);
  const int task = add_copy(hand, 0, kNone, 2);
  hand.task(task).reads = hand.task(task).writes;  // adds
  EXPECT_THAT(inputs_and_results(hand.program()), testing::ElementsAre(true, false, true));
}

}  // namespace
}  // namespace moesim
