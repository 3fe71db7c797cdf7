#include "sim/analysis/critical_path.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include "tests/support/hand_program.h"
#include "tests/support/recurrence.h"

namespace moesim {
namespace {

using test::all_to_all;
using test::HandProgram;
using test::ps;
using test::RecurrenceOptions;
using test::run_recurrence;
using ::testing::ElementsAre;
using ::testing::Pair;

constexpr int kCompute = 0;
constexpr int kInter = 1;
constexpr int kManyQueues = 32;

// "task@rank [begin,end)" or the name of what lies between tasks.
std::vector<std::string> text_of(const CriticalPath& path,
                                 const Program& program,
                                 const Trace& trace) {
  std::vector<std::string> lines;
  for (const CriticalStep& step : path.steps) {
    std::string what = "idle";
    if (step.kind == StepKind::kTask) {
      const TaskSpan& span = trace.spans[step.span];
      what = fmt::format("{}@{}", program.tasks[span.task].name, span.rank);
    } else if (step.kind == StepKind::kLaunch) {
      what = "launch";
    } else if (step.kind == StepKind::kStragglerWait) {
      what = "straggler";
    }
    lines.push_back(
        fmt::format("{} [{},{})", what, step.begin.picoseconds(), step.end.picoseconds()));
  }
  return lines;
}

std::vector<std::string> path_of(const HandProgram& hand, const RecurrenceOptions& options = {}) {
  const Trace trace = run_recurrence(hand.program(), hand.durations(), options);
  const CriticalPath path = critical_path(hand.program(), trace, options.hardware_queues);
  return text_of(path, hand.program(), trace);
}

// compute: a [0,3) b [3,5); inter: c waits for a, [3,10). The end is c's, and c waited for a.
TEST(CriticalPathTest, FollowsWaitsAcrossStreams) {
  HandProgram hand(1, {"compute", "inter"});
  const int a = hand.add_fixed("a", kCompute, ps(3));
  hand.add_fixed("b", kCompute, ps(2));
  hand.add_fixed("c", kInter, ps(7), {a});
  EXPECT_THAT(path_of(hand), ElementsAre("a0@0 [0,3)", "c2@0 [3,10)"));
}

// inter: c [0,6) d; d waits for a, which ended at 3, but the stream is free only at 6.
TEST(CriticalPathTest, FollowsTheStream) {
  HandProgram hand(1, {"compute", "inter"});
  const int a = hand.add_fixed("a", kCompute, ps(3));
  hand.add_fixed("c", kInter, ps(6));
  hand.add_fixed("d", kInter, ps(2), {a});
  EXPECT_THAT(path_of(hand), ElementsAre("c1@0 [0,6)", "d2@0 [6,8)"));
}

TEST(CriticalPathTest, OrderOnlyWaitsBindToo) {
  HandProgram hand(1, {"compute", "inter"});
  const int a = hand.add_fixed("a", kCompute, ps(3));
  const int b = hand.add_fixed("b", kInter, ps(2));
  hand.task(b).order_only = {a};
  EXPECT_THAT(path_of(hand), ElementsAre("a0@0 [0,3)", "b1@0 [3,5)"));
}

// Launches end at 10, 20 and 30: the third task starts at 30, long after the first two (1 ps each).
TEST(CriticalPathTest, LaunchesOfTheHostBind) {
  HandProgram hand(1, {"compute", "inter"});
  hand.add_fixed("a", kCompute, ps(1));
  hand.add_fixed("b", kInter, ps(1));
  hand.add_fixed("c", kCompute, ps(5));
  EXPECT_THAT(path_of(hand, {.launch_overhead = ps(10)}),
              ElementsAre("launch [0,30)", "c2@0 [30,35)"));
}

// a is launched at 2 and runs [2,102). The host waits for it, then launches b: [104,109).
TEST(CriticalPathTest, AHostWaitLeadsToWhatTheHostNeeded) {
  HandProgram hand(1, {"compute", "inter"});
  const int a = hand.add_fixed("a", kCompute, ps(100));
  hand.add_host_wait({a});
  hand.add_fixed("b", kInter, ps(5));
  EXPECT_THAT(path_of(hand, {.launch_overhead = ps(2)}),
              ElementsAre("launch [0,2)", "a0@0 [2,102)", "launch [102,104)", "b2@0 [104,109)"));
}

// The host reaches the wait only when everything is launched: the launches bind, not the wait.
TEST(CriticalPathTest, AHostWaitForWhatIsDoneLeadsToTheHost) {
  HandProgram hand(1, {"compute", "inter"});
  const int a = hand.add_fixed("a", kCompute, ps(1));
  hand.add_fixed("b", kCompute, ps(1));
  hand.add_host_wait({a});
  hand.add_fixed("c", kInter, ps(5));
  EXPECT_THAT(path_of(hand, {.launch_overhead = ps(10)}),
              ElementsAre("launch [0,30)", "c3@0 [30,35)"));
}

// With one hardware queue c cannot start before b has, and b waits for a: c runs [4,9), although
// nothing on its stream or among its waits holds it back. With two queues c runs [0,5).
TEST(CriticalPathTest, AnEarlierLaunchOfTheQueueBinds) {
  HandProgram hand(1, {"compute", "inter", "intra"});
  const int a = hand.add_fixed("a", 0, ps(4));
  hand.add_fixed("b", 1, ps(1), {a});
  hand.add_fixed("c", 2, ps(5));
  EXPECT_THAT(path_of(hand, {.hardware_queues = 1}), ElementsAre("a0@0 [0,4)", "c2@0 [4,9)"));
  EXPECT_THAT(path_of(hand), ElementsAre("a0@0 [0,4)", "b1@0 [4,5)"));
}

// Three streams on two queues: the third stream shares the queue of the first.
TEST(CriticalPathTest, StreamsTakeQueuesInOrderOfFirstUse) {
  HandProgram hand(1, {"compute", "inter", "intra"});
  const int a = hand.add_fixed("a", 2, ps(4));
  hand.add_fixed("b", 0, ps(1));
  const int c = hand.add_fixed("c", 2, ps(3), {a});
  hand.add_fixed("d", 1, ps(9));
  hand.task(c).stream = 2;
  // Stream 2 has queue 0, stream 0 queue 1, stream 1 queue 0 again: d starts when c does, at 4.
  EXPECT_THAT(path_of(hand, {.hardware_queues = 2}), ElementsAre("a0@0 [0,4)", "d3@0 [4,13)"));
}

// Rank 1 computes twice as long: rank 0 waits in the exchange from 10 to 20. The path goes on at
// rank 1, whatever rank the iteration ends on.
TEST(CriticalPathTest, GoesOnAtTheLastArrival) {
  HandProgram hand(2, {"compute", "inter"});
  const int world = hand.add_group("world", {{0, 1}});
  const int a = hand.add_fixed("a", kCompute, ps(10));
  const int b = hand.add_collective("b", kInter, all_to_all(world), ps(5), {a});
  hand.add_fixed("c", kCompute, ps(1), {b});
  EXPECT_THAT(path_of(hand, {.rank_scale = {4, 2}}),
              ElementsAre("a0@0 [0,40)", "b1@0 [40,45)", "c2@0 [45,49)"));
  EXPECT_THAT(path_of(hand, {.rank_scale = {1, 2}}),
              ElementsAre("a0@1 [0,20)", "b1@1 [20,25)", "c2@1 [25,27)"));
}

// Classes {0,1} and {2,3}; the exchange joins 0 with 2 and 1 with 3. In the trace of the fold the
// span of class 0 starts at 3, but data move only when class 1 has come, at 8.
TEST(CriticalPathTest, GoesOnAtAnotherClassOfAFold) {
  HandProgram hand(4, {"compute", "inter"});
  const int ep = hand.add_group("ep", {{0, 2}, {1, 3}});
  const int a = hand.add_fixed("a", kCompute, ps(3));
  hand.add_collective("b", kInter, all_to_all(ep), ps(2), {a});
  Trace trace;
  trace.classes = {{0, {0, 1}}, {2, {2, 3}}};
  trace.spans = {{0, 0, ps(0), ps(0), ps(0), ps(3)},
                 {2, 0, ps(0), ps(0), ps(0), ps(8)},
                 {0, 1, ps(0), ps(3), ps(8), ps(10)},
                 {2, 1, ps(0), ps(8), ps(8), ps(10)}};
  trace.end = ps(10);
  const CriticalPath path = critical_path(hand.program(), trace, kManyQueues);
  EXPECT_THAT(text_of(path, hand.program(), trace), ElementsAre("a0@2 [0,8)", "b1@0 [8,10)"));
}

// A measured trace has gaps that no cause explains: before a collective moves data, and at the end.
TEST(CriticalPathTest, UnexplainedTimeIsNamed) {
  HandProgram hand(1, {"compute", "inter"});
  const int world = hand.add_group("world", {{0}});
  const int a = hand.add_fixed("a", kCompute, ps(3));
  hand.add_collective("b", kInter, all_to_all(world), ps(2), {a});
  Trace trace;
  trace.classes = {{0, {0}}};
  trace.spans = {{0, 0, ps(0), ps(0), ps(0), ps(3)}, {0, 1, ps(0), ps(4), ps(6), ps(8)}};
  trace.end = ps(9);
  const CriticalPath path = critical_path(hand.program(), trace, kManyQueues);
  EXPECT_THAT(
      text_of(path, hand.program(), trace),
      ElementsAre("a0@0 [0,3)", "idle [3,4)", "straggler [4,6)", "b1@0 [6,8)", "idle [8,9)"));
  EXPECT_THAT(
      path.by_kind(hand.program(), trace),
      ElementsAre(
          Pair("a", ps(3)), Pair("b", ps(2)), Pair("idle", ps(2)), Pair("straggler_wait", ps(2))));
}

TEST(CriticalPathTest, KindsSumOverTasks) {
  HandProgram hand(1, {"compute", "inter"});
  hand.add_fixed("expert", kCompute, ps(3));
  hand.add_fixed("gate", kCompute, ps(1));
  hand.add_fixed("expert", kCompute, ps(4));
  const Trace trace = run_recurrence(hand.program(), hand.durations(), {.launch_overhead = ps(2)});
  const CriticalPath path = critical_path(hand.program(), trace, kManyQueues);
  EXPECT_THAT(path.by_kind(hand.program(), trace),
              ElementsAre(Pair("expert", ps(7)), Pair("gate", ps(1)), Pair("launch", ps(2))));
}

TEST(CriticalPathTest, TasksWithoutLengthAreNoSteps) {
  HandProgram hand(1, {"compute", "inter"});
  const int a = hand.add_fixed("a", kCompute, ps(3));
  const int b = hand.add_fixed("b", kInter, ps(0), {a});
  hand.add_fixed("c", kCompute, ps(2), {b});
  EXPECT_THAT(path_of(hand), ElementsAre("a0@0 [0,3)", "c2@0 [3,5)"));
}

TEST(CriticalPathTest, AnEmptyIterationHasNoSteps) {
  HandProgram hand(1, {"compute"});
  EXPECT_TRUE(path_of(hand).empty());
  hand.add_fixed("a", kCompute, ps(0));
  EXPECT_TRUE(path_of(hand).empty());
}

TEST(CriticalPathDeathTest, NeedsSpans) {
  HandProgram hand(1, {"compute"});
  Trace trace;
  trace.classes = {{0, {0}}};
  trace.end = ps(5);
  EXPECT_DEATH(critical_path(hand.program(), trace, kManyQueues), "without spans");
}

}  // namespace
}  // namespace moesim
