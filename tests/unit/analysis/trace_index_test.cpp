#include "sim/analysis/trace_index.h"

#include <gmock/gmock.h>

#include "tests/support/hand_program.h"
#include "tests/support/recurrence.h"

namespace moesim {
namespace {

using test::all_to_all;
using test::HandProgram;
using test::ps;
using test::run_recurrence;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr int kCompute = 0;
constexpr int kInter = 1;

TEST(TraceIndexTest, FindsSpansByClassAndStream) {
  HandProgram hand(2, {"compute", "inter"});
  const int world = hand.add_group("world", {{0, 1}});
  const int first = hand.add_fixed("work", kCompute, ps(3));
  const int second = hand.add_collective("exchange", kInter, all_to_all(world), ps(4), {first});
  const int third = hand.add_fixed("work", kCompute, ps(5));
  const Trace trace = run_recurrence(hand.program(), hand.durations());
  const TraceIndex index(hand.program(), trace);

  ASSERT_EQ(index.num_classes(), 2);
  const int last = index.span(1, third);
  EXPECT_EQ(trace.spans[last].rank, 1);
  EXPECT_EQ(trace.spans[last].task, third);
  EXPECT_EQ(index.class_of_span(last), 1);
  EXPECT_EQ(index.launched_before(last), index.span(1, second));
  EXPECT_EQ(index.before_on_stream(last), index.span(1, first));
  EXPECT_EQ(index.before_on_stream(index.span(1, second)), kNone);
  EXPECT_THAT(index.launches(1),
              ElementsAre(index.span(1, first), index.span(1, second), index.span(1, third)));
}

// Ranks 0 and 1 are stages of a pipeline that call their halves of an exchange by other names: the
// second collective of each on the communicator is the same exchange.
TEST(TraceIndexTest, KthCollectivesOfACommunicatorBelongTogether) {
  Program program;
  program.num_ranks = 2;
  program.streams = {"inter", "other"};
  program.groups = {{"pp", {{0, 1}}}};
  program.roles = {{"first", {0}}, {"second", {1}}};
  const auto exchange = [](const char* name, int role, int stream) {
    Task task;
    task.name = name;
    task.roles = {role};
    task.stream = stream;
    task.descriptor = all_to_all(0);
    return task;
  };
  program.tasks = {exchange("send0", 0, 0),
                   exchange("aside", 0, 1),
                   exchange("receive0", 1, 0),
                   exchange("send1", 0, 0),
                   exchange("receive1", 1, 0),
                   exchange("aside", 1, 1)};
  Trace trace;
  trace.classes = {{0, {0}}, {1, {1}}};
  for (int task = 0; task < 6; ++task) {
    trace.spans.push_back(
        {program.tasks[task].roles[0], task, ps(0), ps(task), ps(task), ps(task)});
  }
  const TraceIndex index(program, trace);
  EXPECT_THAT(index.members(3), ElementsAre(3, 4));
  EXPECT_THAT(index.members(4), ElementsAre(4, 3));
  EXPECT_THAT(index.members(1), ElementsAre(1, 5));
}

// Two classes of two ranks; instances {0,2} and {1,3} each hold one rank of both classes, so the
// representative of a class sees the other class once.
TEST(TraceIndexTest, AFoldedInstanceContainsOtherClasses) {
  HandProgram hand(4, {"inter"});
  const int ep = hand.add_group("ep", {{0, 2}, {1, 3}});
  hand.add_collective("exchange", 0, all_to_all(ep), ps(4));
  Trace trace;
  trace.classes = {{0, {0, 1}}, {2, {2, 3}}};
  trace.spans = {{0, 0, ps(0), ps(0), ps(1), ps(5)}, {2, 0, ps(0), ps(1), ps(1), ps(5)}};
  const TraceIndex index(hand.program(), trace);
  EXPECT_EQ(index.class_of_rank(3), 1);
  EXPECT_THAT(index.members(0), ElementsAre(0, 1));
  EXPECT_THAT(index.members(1), UnorderedElementsAre(0, 1));
}

TEST(TraceIndexTest, AnInstanceWithinOneClassIsOneSpan) {
  HandProgram hand(4, {"intra"});
  const int mp = hand.add_group("mp", {{0, 1}, {2, 3}});
  hand.add_collective("gather", 0, all_to_all(mp), ps(4));
  const Trace trace = test::folded(run_recurrence(hand.program(), hand.durations()));
  EXPECT_THAT(TraceIndex(hand.program(), trace).members(0), ElementsAre(0));
}

}  // namespace
}  // namespace moesim
