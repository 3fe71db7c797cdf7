// Programs whose ranks run different tasks.
#include <gmock/gmock.h>

#include "sim/program/builder.h"
#include "sim/program/verifier.h"
#include "tests/unit/program/example_programs.h"

namespace moesim {
namespace {

using testing::collective_task;
using ::testing::ElementsAre;
using testing::fixed_task;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::task_named;

// Ranks 0 and 1 are role `left`, 2 and 3 role `right`; group `pairs` joins one of each.
class RolesTest : public ::testing::Test {
 protected:
  RolesTest() {
    left_ = builder_.add_role({"left", {0, 1}});
    right_ = builder_.add_role({"right", {2, 3}});
    pairs_ = builder_.add_group({"pairs", {{0, 2}, {1, 3}}});
  }
  int tensor(const char* name, int rows = 8) {
    return builder_.add_tensor({name, 1, rows, 1, DataType::kFp32, false, 0, {}});
  }
  int add(Task task, std::vector<int> roles) {
    task.roles = std::move(roles);
    return builder_.add_task(std::move(task));
  }
  Task fixed(const char* name,
             const char* stream,
             std::vector<Region> reads = {},
             std::vector<Region> writes = {}) {
    return fixed_task(name, builder_.stream(stream), std::move(reads), std::move(writes));
  }
  Task reduce(const char* name, const char* stream, int64_t bytes = 64) {
    Collective collective;
    collective.group = pairs_;
    collective.bytes = bytes;
    return collective_task(name, builder_.stream(stream), collective, {}, {});
  }
  Region all(int tensor) const { return builder_.all(tensor); }
  Verdict verdict(int hardware_queues = 32) const {
    return verify(builder_.program(), {hardware_queues});
  }

  ProgramBuilder builder_{"roles", 4};
  int left_ = kNone;
  int right_ = kNone;
  int pairs_ = kNone;
};

TEST_F(RolesTest, AWaitIsDerivedIfOneRoleNeedsIt) {
  const int x = tensor("x");
  const int write = add(fixed("write", "a", {}, {all(x)}), {});
  // On the left, `read` is behind `relay`, which waits for `write`; on the right it is not.
  const int relay = add(fixed("relay", "b", {all(x)}), {left_});
  const int read = add(fixed("read", "b", {all(x)}), {});
  EXPECT_THAT(builder_.program().tasks[relay].waits, ElementsAre(write));
  EXPECT_THAT(builder_.program().tasks[read].waits, ElementsAre(write));
  EXPECT_THAT(verdict().problems, IsEmpty());
}

TEST_F(RolesTest, ARaceOnOneRoleIsFound) {
  const int x = tensor("x");
  const int write = add(fixed("write", "a", {}, {all(x)}), {});
  add(fixed("relay", "b", {all(x)}), {left_});
  const int read = add(fixed("read", "b", {all(x)}), {});
  Program program = builder_.program();
  program.tasks[read].waits.clear();
  const Verdict result = verify(program);
  ASSERT_EQ(result.problems.size(), 1U);
  EXPECT_EQ(result.problems[0].kind, ProblemKind::kRace);
  EXPECT_THAT(result.problems[0].tasks, ElementsAre(write, read));
  EXPECT_EQ(result.problems[0].message,
            "race on tensor 'x': task 'read' must wait for task 'write' on role 'right'");
}

TEST_F(RolesTest, TasksOfOtherRolesNeverConflict) {
  const int x = tensor("x");
  add(fixed("left", "a", {}, {all(x)}), {left_});
  const int right = add(fixed("right", "b", {}, {all(x)}), {right_});
  EXPECT_THAT(builder_.program().tasks[right].waits, IsEmpty());
  EXPECT_THAT(verdict().problems, IsEmpty());
}

TEST_F(RolesTest, WrittenOnOneRoleIsUnwrittenOnTheOther) {
  const int x = tensor("x");
  add(fixed("left", "a", {}, {all(x)}), {left_});
  const int read = add(fixed("read", "a", {all(x)}), {});
  const Verdict result = verdict();
  ASSERT_EQ(result.problems.size(), 1U);
  EXPECT_EQ(result.problems[0].kind, ProblemKind::kUnwrittenRead);
  EXPECT_THAT(result.problems[0].tasks, ElementsAre(read));
  EXPECT_THAT(result.problems[0].message, HasSubstr("on role 'right'"));
}

TEST_F(RolesTest, DifferentTasksMayBeOneCollective) {
  add(reduce("left.0", "a"), {left_});
  add(reduce("right.0", "a"), {right_});
  add(reduce("both", "a", 128), {});
  EXPECT_THAT(verdict().problems, IsEmpty());
}

TEST_F(RolesTest, AnotherOrderOnOneRoleIsNamed) {
  const int first = add(reduce("left.64", "a", 64), {left_});
  add(reduce("left.128", "a", 128), {left_});
  const int second = add(reduce("right.128", "a", 128), {right_});
  add(reduce("right.64", "a", 64), {right_});
  const Verdict result = verdict();
  ASSERT_EQ(result.problems.size(), 1U);
  EXPECT_EQ(result.problems[0].kind, ProblemKind::kMismatchedCollective);
  EXPECT_THAT(result.problems[0].tasks, ElementsAre(first, second));
  EXPECT_EQ(result.problems[0].message,
            "collectives of group 'pairs' on stream 'a' do not match: 'left.64' on role 'left' "
            "meets 'right.128' on role 'right' as number 1, but their bytes differ");
}

// The chunks have equal bytes: only their rows tell that left chunk 0 meets right chunk 1.
TEST_F(RolesTest, AnotherOrderOfEqualChunksIsNamed) {
  const int x = tensor("x");
  add(fixed("fill", "a", {}, {all(x)}), {});
  const auto chunk = [&](const char* name, int index, int role) {
    Task task = reduce(name, "a");
    task.reads = task.writes = {builder_.rows(x, 4 * index, 4)};
    return add(task, {role});
  };
  const int first = chunk("left.0", 0, left_);
  chunk("left.1", 1, left_);
  const int second = chunk("right.1", 1, right_);
  chunk("right.0", 0, right_);
  const Verdict result = verdict();
  ASSERT_EQ(result.problems.size(), 1U);
  EXPECT_EQ(result.problems[0].kind, ProblemKind::kMismatchedCollective);
  EXPECT_THAT(result.problems[0].tasks, ElementsAre(first, second));
  EXPECT_THAT(result.problems[0].message, HasSubstr("they move different data"));
}

TEST_F(RolesTest, AMemberThatIssuesFewerIsNamed) {
  add(reduce("left.0", "a"), {left_});
  const int extra = add(reduce("left.1", "a"), {left_});
  const int only = add(reduce("right.0", "a"), {right_});
  const Verdict result = verdict();
  ASSERT_EQ(result.problems.size(), 1U);
  EXPECT_EQ(result.problems[0].kind, ProblemKind::kMismatchedCollective);
  EXPECT_THAT(result.problems[0].tasks, ElementsAre(extra, only));
  EXPECT_THAT(
      result.problems[0].message,
      HasSubstr("'left.1' on role 'left' is number 2, but on role 'right' members issue 1"));
}

TEST_F(RolesTest, AnotherStreamIsAnotherCommunicator) {
  add(reduce("left", "a"), {left_});
  add(reduce("right", "b"), {right_});
  EXPECT_EQ(verdict().problems.size(), 2U);
}

// left: a before b, through a wait; right: b before a.
TEST_F(RolesTest, CollectivesThatWaitForEachOtherDeadlock) {
  const int left_a = add(reduce("left.a", "a"), {left_});
  Task task = reduce("left.b", "b");
  task.waits = {left_a};
  const int left_b = add(task, {left_});
  const int right_b = add(reduce("right.b", "b"), {right_});
  task = reduce("right.a", "a");
  task.waits = {right_b};
  const int right_a = add(task, {right_});
  const Verdict result = verdict();
  ASSERT_EQ(result.problems.size(), 1U);
  EXPECT_EQ(result.problems[0].kind, ProblemKind::kDeadlock);
  EXPECT_THAT(result.problems[0].tasks, ElementsAre(left_a, left_b, right_b, right_a));
  EXPECT_THAT(result.problems[0].message, HasSubstr("'left.a' comes before 'left.b'"));
  EXPECT_THAT(result.problems[0].message, HasSubstr("'right.b' comes before 'right.a'"));
}

// The same with an order that protects no data, and with the host in between.
TEST_F(RolesTest, OrderOnlyAndHostWaitsDeadlockToo) {
  const int left_a = add(reduce("left.a", "a"), {left_});
  Task host;
  host.name = "host";
  host.descriptor = HostWait{};
  host.waits = {left_a};
  const int left_host = add(host, {left_});
  const int left_b = add(reduce("left.b", "b"), {left_});
  const int right_b = add(reduce("right.b", "b"), {right_});
  Task task = reduce("right.a", "a");
  task.order_only = {right_b};
  const int right_a = add(task, {right_});
  const Verdict result = verdict();
  ASSERT_EQ(result.problems.size(), 1U);
  EXPECT_EQ(result.problems[0].kind, ProblemKind::kDeadlock);
  EXPECT_THAT(result.problems[0].tasks, ElementsAre(left_a, left_host, left_b, right_b, right_a));
}

// With a queue per stream all four collectives start. With one queue, left.c cannot start before
// left.wait, which waits for left.a, that is for right.a behind right.wait, which waits for
// right.c.
TEST_F(RolesTest, OneHardwareQueueCanDeadlock) {
  const int left_a = add(reduce("left.a", "a"), {left_});
  Task task = fixed("left.wait", "b");
  task.waits = {left_a};
  add(task, {left_});
  add(reduce("left.c", "c"), {left_});
  const int right_c = add(reduce("right.c", "c"), {right_});
  task = fixed("right.wait", "b");
  task.waits = {right_c};
  add(task, {right_});
  add(reduce("right.a", "a"), {right_});
  EXPECT_THAT(verdict(32).problems, IsEmpty());
  const Verdict result = verdict(1);
  ASSERT_EQ(result.problems.size(), 1U);
  EXPECT_EQ(result.problems[0].kind, ProblemKind::kDeadlock);
  EXPECT_EQ(result.problems[0].tasks.size(), 6U);
  EXPECT_THAT(result.problems[0].message, HasSubstr("with 1 hardware queue: "));
}

// The same tasks, but left and right never share an instance of a group: no rank meets another
// that does the opposite.
TEST(RolesDeadlockTest, RanksThatDoNotMeetDoNotDeadlock) {
  ProgramBuilder builder("apart", 4);
  const int left = builder.add_role({"left", {0, 1}});
  const int right = builder.add_role({"right", {2, 3}});
  const int apart = builder.add_group({"apart", {{0, 1}, {2, 3}}});
  const auto reduce = [&](const char* name, const char* stream, int role, std::vector<int> waits) {
    Collective collective;
    collective.group = apart;
    collective.bytes = 64;
    Task task = collective_task(name, builder.stream(stream), collective, {}, {});
    task.roles = {role};
    task.waits = std::move(waits);
    return builder.add_task(task);
  };
  const int left_a = reduce("left.a", "a", left, {});
  reduce("left.b", "b", left, {left_a});
  const int right_b = reduce("right.b", "b", right, {});
  reduce("right.a", "a", right, {right_b});
  EXPECT_THAT(verify(builder.program()).problems, IsEmpty());
}

// Ranks 0 and 1 have one role, but only 0 meets 2 and only 1 meets 3: what 0 does before 2 orders
// nothing of 1. Role by role there would be a cycle: left.first before left.second, which is
// three.second before three.third, which is two.third before two.first, which is left.first.
TEST(RolesDeadlockTest, RanksOfARoleAreToldApartByWhomTheyMeet) {
  ProgramBuilder builder("classes", 4);
  const int left = builder.add_role({"left", {0, 1}});
  const int two = builder.add_role({"two", {2}});
  const int three = builder.add_role({"three", {3}});
  const int first = builder.add_group({"first", {{0, 2}}});
  const int second = builder.add_group({"second", {{1, 3}}});
  const int third = builder.add_group({"third", {{2, 3}}});
  const auto reduce = [&](const char* name, int group, int role) {
    Collective collective;
    collective.group = group;
    collective.bytes = 64;
    Task task = collective_task(name, builder.stream("a"), collective, {}, {});
    task.roles = {role};
    builder.add_task(task);
  };
  reduce("left.first", first, left);
  reduce("left.second", second, left);
  reduce("two.third", third, two);
  reduce("two.first", first, two);
  reduce("three.second", second, three);
  reduce("three.third", third, three);
  EXPECT_THAT(verify(builder.program()).problems, IsEmpty());
}

// A pipeline of two stages: the sender's task and the receiver's are one SHIFT.
TEST(RolesPipelineTest, StagesSendAndReceive) {
  ProgramBuilder builder("pipeline", 4);
  const int first = builder.add_role({"first", {0, 1}});
  const int second = builder.add_role({"second", {2, 3}});
  const int stages = builder.add_group({"pp", {{0, 2}, {1, 3}}});
  const int sent = builder.add_tensor({"sent", 1, 4, 2, DataType::kFp32, false, 0, {}});
  const int received = builder.add_tensor({"received", 1, 4, 2, DataType::kFp32, false, 0, {}});
  const auto add = [&](Task task, int role) {
    task.roles = {role};
    return builder.add_task(std::move(task));
  };
  Collective shift;
  shift.operation = CollectiveOperation::kShift;
  shift.group = stages;
  shift.distance = 1;
  add(fixed_task("compute", builder.stream("compute"), {}, {builder.all(sent)}), first);
  add(collective_task("send", builder.stream("pp"), shift, {builder.all(sent)}, {}), first);
  const int receive = add(
      collective_task("receive", builder.stream("pp"), shift, {}, {builder.all(received)}), second);
  const int use =
      add(fixed_task("use", builder.stream("compute"), {builder.all(received)}, {}), second);
  EXPECT_THAT(builder.program().tasks[use].waits, ElementsAre(receive));
  EXPECT_THAT(verify(builder.program()).problems, IsEmpty());
}

// One task for both stages: the last stage's read and the first stage's write are void.
TEST(RolesPipelineTest, EndsOfAShiftWithoutWrapAreVoid) {
  ProgramBuilder builder("pipeline", 2);
  const int first = builder.add_role({"first", {0}});
  builder.add_role({"second", {1}});
  const int stages = builder.add_group({"pp", {{0, 1}}});
  const int sent = builder.add_tensor({"sent", 1, 4, 2, DataType::kFp32, false, 0, {}});
  const int received = builder.add_tensor({"received", 1, 4, 2, DataType::kFp32, false, 0, {}});
  Task compute = fixed_task("compute", builder.stream("compute"), {}, {builder.all(sent)});
  compute.roles = {first};
  builder.add_task(compute);
  Collective shift;
  shift.operation = CollectiveOperation::kShift;
  shift.group = stages;
  shift.distance = 1;
  builder.add_task(collective_task(
      "shift", builder.stream("pp"), shift, {builder.all(sent)}, {builder.all(received)}));
  EXPECT_THAT(verify(builder.program()).problems, IsEmpty());  // rank 1 has not written `sent`
  Program backwards = builder.program();
  std::get<Collective>(backwards.tasks[1].descriptor).distance = -1;
  ASSERT_EQ(verify(backwards).problems.size(), 1U);
  EXPECT_EQ(verify(backwards).problems[0].kind, ProblemKind::kUnwrittenRead);
}

}  // namespace
}  // namespace moesim
