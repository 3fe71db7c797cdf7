#include "kernels/host/host_script.h"

#include <gmock/gmock.h>

#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using test::HandProgram;
using testing::ElementsAre;

HostScript script_of(const Program& program, int hardware_queues = 32) {
  GroupTable groups;
  groups.update(program);
  return make_host_script(program, groups, hardware_queues);
}

// Streams b, a, c in order of first use on two queues: b and c share queue 0.
TEST(HostScriptTest, StreamsMapToQueuesByFirstUse) {
  HandProgram hand(1, {"a", "b", "c"});
  hand.add_fixed("f", 1, Time::zero());
  hand.add_fixed("f", 0, Time::zero());
  hand.add_fixed("f", 2, Time::zero());
  hand.add_fixed("f", 1, Time::zero());
  const RankScript rank = script_of(hand.program(), 2).ranks[0];
  EXPECT_EQ(rank.num_queues, 2);
  const std::vector<int> queues = {0, 1, 0, 0};
  const std::vector<int> places = {0, 0, 1, 2};
  for (size_t i = 0; i < queues.size(); ++i) {
    EXPECT_EQ(rank.tasks[i].queue, queues[i]);
    EXPECT_EQ(rank.tasks[i].place_in_queue, places[i]);
  }
  EXPECT_THAT(rank.lanes, ElementsAre(ElementsAre(0, 3), ElementsAre(1), ElementsAre(2)));
}

// Role 0 (rank 0) issues tasks 0 and 2, role 1 (rank 1) tasks 1 and 3: the k-th meet. Rank 2 has no
// role and rank 3 no group.
TEST(HostScriptTest, TheKthCollectivesOfACommunicatorMeet) {
  HandProgram hand(4, {"s"});
  const int group = hand.add_group("g", {{0, 1}, {2}});
  Program program = hand.program();
  program.roles = {{"first", {0}}, {"second", {1}}};
  for (const int role : {0, 1, 0, 1}) {
    Task task;
    task.stream = 0;
    task.roles = {role};
    task.descriptor = test::all_to_all(group);
    program.tasks.push_back(task);
  }
  Task all;
  all.stream = 0;
  all.descriptor = test::all_to_all(group);
  all.waits = {0, 1};
  program.tasks.push_back(all);
  const HostScript script = script_of(program);
  ASSERT_EQ(script.meetings.size(), 4U);
  EXPECT_THAT(script.meetings[0].tasks, ElementsAre(0, 1));
  EXPECT_THAT(script.meetings[1].tasks, ElementsAre(2, 3));
  EXPECT_THAT(script.meetings[2].tasks, ElementsAre(4, 4));
  EXPECT_THAT(script.meetings[3].tasks, ElementsAre(4));
  // A wait for another role's task is met at once.
  EXPECT_THAT(script.ranks[0].tasks[2].waits, ElementsAre(0));
  EXPECT_THAT(script.ranks[2].tasks[0].waits, ElementsAre());
  // Alone in the group, a rank meets itself; outside it, it passes by. Nothing is launched.
  EXPECT_NE(script.ranks[2].tasks[0].meeting, kNone);
  EXPECT_TRUE(script.ranks[2].tasks[0].passes_by);
  EXPECT_EQ(script.ranks[3].tasks[0].meeting, kNone);
  EXPECT_TRUE(script.ranks[3].tasks[0].passes_by);
  EXPECT_FALSE(script.ranks[0].tasks[0].passes_by);
}

TEST(HostScriptTest, AMissingMemberHasNoTask) {
  HandProgram hand(2, {"s"});
  Program program = hand.program();
  program.groups = {{"g", {{0, 1}}}};
  program.roles = {{"first", {0}}};
  Task task;
  task.stream = 0;
  task.roles = {0};
  task.descriptor = test::all_to_all(0);
  program.tasks = {task};
  EXPECT_THAT(script_of(program).meetings[0].tasks, ElementsAre(0, kNone));
}

}  // namespace
}  // namespace moesim
