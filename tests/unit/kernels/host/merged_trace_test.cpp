#include "kernels/host/merged_trace.h"

#include <gtest/gtest.h>

#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using namespace test;

TaskSpan span(int rank, int task, int start, int end) {
  return {.rank = rank,
          .task = task,
          .launched = ps(0),
          .start = ps(start),
          .transfer = ps(start),
          .end = ps(end)};
}

// Rank 0 works until 5 and meets then; rank 1 works until 3. The last member starts at 5, but rank
// 1 ended at 4 by its own clock, which must be late: its transfer is its end.
TEST(MergedTraceTest, TransfersBeginWithTheLastMember) {
  HandProgram hand(2, {"s"});
  hand.add_fixed("work", 0, ps(1));
  hand.add_collective("meets", 0, all_to_all(hand.add_group("all", {{0, 1}})), ps(1));
  hand.task(1).pass = Pass::kBackward;
  GroupTable groups;
  groups.update(hand.program());
  const HostScript script = make_host_script(hand.program(), groups, 32);
  Execution first;
  first.lateness = ps(2);
  first.trace.spans = {span(0, 0, 0, 5), span(0, 1, 5, 9)};
  Execution second;
  second.lateness = ps(3);
  second.trace.spans = {span(1, 0, 0, 3), span(1, 1, 3, 4)};
  const Execution merged =
      merge_runs(hand.program(), script, {spans_to_bytes(first), spans_to_bytes(second)});

  EXPECT_EQ(merged.lateness, ps(3));
  const Trace& trace = merged.trace;
  EXPECT_EQ(trace.end, ps(9));
  EXPECT_EQ(trace.pass_end[static_cast<size_t>(Pass::kForward)], ps(5));
  EXPECT_EQ(trace.pass_end[static_cast<size_t>(Pass::kBackward)], ps(9));
  ASSERT_EQ(trace.classes.size(), 2U);
  ASSERT_EQ(trace.spans.size(), 4U);  // by start, task, rank
  EXPECT_EQ(trace.spans[1].rank, 1);
  EXPECT_EQ(trace.spans[2].task, 1);
  EXPECT_EQ(trace.spans[2].rank, 1);
  EXPECT_EQ(trace.spans[2].transfer, ps(4));
  EXPECT_EQ(trace.spans[3].rank, 0);
  EXPECT_EQ(trace.spans[3].transfer, ps(5));
}

TEST(MergedTraceTest, VerdictsAreTaken) {
  Execution own;
  own.trace.end = ps(7);
  Execution first;
  first.trace.end = ps(8);
  first.lateness = ps(2);
  take_verdict(verdict_of(first), own);
  EXPECT_EQ(own.trace.end, ps(8));
  EXPECT_EQ(own.lateness, ps(2));
}

}  // namespace
}  // namespace moesim
