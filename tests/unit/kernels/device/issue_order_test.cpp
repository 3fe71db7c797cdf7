#include "kernels/device/issue_order.h"

#include <gmock/gmock.h>

#include "kernels/hang.h"
#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using test::HandProgram;
using testing::HasSubstr;

std::vector<Issue> order_of(const Program& program) {
  GroupTable groups;
  groups.update(program);
  return issue_order(program, make_host_script(program, groups, 32));
}

// "0:1 2:0+1:3": rank 0's position 1, then a collective of rank 2 at position 0 and rank 1 at 3.
std::string to_string(const std::vector<Issue>& issues) {
  std::string text;
  for (const Issue& issue : issues) {
    text += text.empty() ? "" : " ";
    for (size_t i = 0; i < issue.places.size(); ++i) {
      text += i == 0 ? "" : "+";
      text += std::to_string(issue.places[i].rank) + ":" + std::to_string(issue.places[i].position);
    }
  }
  return text;
}

TEST(IssueOrderTest, LaunchPositionsTakeTurnsOverRanks) {
  HandProgram hand(2, {"a", "b"});
  hand.add_fixed("f", 0, Time::zero());
  hand.add_fixed("f", 1, Time::zero(), {0});
  EXPECT_EQ(to_string(order_of(hand.program())), "0:0 1:0 0:1 1:1");
}

TEST(IssueOrderTest, ACollectiveIsIssuedForAllItsMembersAtOnce) {
  HandProgram hand(3, {"a"});
  const int group = hand.add_group("g", {{2, 0}});
  hand.add_fixed("f", 0, Time::zero());
  hand.add_collective("c", 0, test::all_to_all(group), Time::zero());
  // Rank 1 is outside and passes by; members stand in group order, here 2 before 0.
  EXPECT_EQ(to_string(order_of(hand.program())), "0:0 1:0 2:0 2:1+0:1 1:1");
}

// Role 0 issues a collective on stream a, then one on b; role 1 the other way round. Each rank's
// first would wait for ever if a rank's tasks were issued in launch order.
TEST(IssueOrderTest, CommunicatorsMayComeInDifferentOrders) {
  HandProgram hand(2, {"a", "b"});
  const int group = hand.add_group("g", {{0, 1}});
  Program program = hand.program();
  program.roles = {{"first", {0}}, {"second", {1}}};
  const auto add = [&](int role, int stream) {
    Task task;
    task.name = "t" + std::to_string(program.tasks.size());
    task.stream = stream;
    task.roles = {role};
    task.descriptor = test::all_to_all(group);
    program.tasks.push_back(task);
  };
  add(0, 0);
  add(0, 1);
  add(1, 1);
  add(1, 0);
  EXPECT_EQ(to_string(order_of(program)), "0:0+1:1 0:1+1:0");
}

// Position 1 of rank 0 waits on the host for position 0; what follows is not issued before it, even
// on another stream. All that rank 1 has goes first: rank 0's host must not hold it up.
TEST(IssueOrderTest, HostWaitsComeWhenNothingElseIsLeft) {
  HandProgram hand(2, {"a", "b"});
  Program program = hand.program();
  program.roles = {{"first", {0}}, {"second", {1}}};
  const auto add = [&](int role, int stream, std::vector<int> waits, Descriptor descriptor) {
    Task task;
    task.stream = stream;
    task.roles = {role};
    task.waits = std::move(waits);
    task.descriptor = std::move(descriptor);
    program.tasks.push_back(task);
  };
  add(0, 0, {}, Fixed{});
  add(0, kNone, {0}, HostWait{});
  add(0, 1, {}, Fixed{});
  add(1, 0, {}, Fixed{});
  add(1, 0, {}, Fixed{});
  add(1, 1, {}, Fixed{});
  EXPECT_EQ(to_string(order_of(program)), "0:0 1:0 1:1 1:2 0:1 0:2");
}

TEST(IssueOrderTest, NamesTheCollectiveThatARankNeverComesTo) {
  HandProgram hand(2, {"a"});
  hand.add_group("g", {{0, 1}});
  Program program = hand.program();
  program.roles = {{"first", {0}}};
  Task task;
  task.name = "dispatch";
  task.stream = 0;
  task.roles = {0};
  task.descriptor = test::all_to_all(0);
  program.tasks.push_back(task);
  try {
    order_of(program);
    FAIL() << "it was ordered";
  } catch (const Hang& hang) {
    EXPECT_THAT(hang.what(), HasSubstr("rank 1 does not come to collective 'dispatch'"));
  }
}

}  // namespace
}  // namespace moesim
