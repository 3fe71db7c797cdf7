// Each kind of problem, in the smallest program that has it.
#include "sim/program/verifier.h"

#include <gmock/gmock.h>

#include "sim/program/builder.h"
#include "tests/unit/program/example_programs.h"

namespace moesim {
namespace {

using testing::collective_task;
using ::testing::ElementsAre;
using testing::fixed_task;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Writes Programs as a person would: with its waits as given.
class VerifierTest : public ::testing::Test {
 protected:
  VerifierTest() {
    program_.name = "test";
    program_.num_ranks = 2;
    program_.groups = {{"pair", {{0, 1}}}};
    program_.streams = {"a", "b"};
  }
  int tensor(const char* name, int blocks = 1, int rows = 8, bool input = false) {
    program_.tensors.push_back({name, blocks, rows, 2, DataType::kFp32, input, 0, {}});
    return static_cast<int>(program_.tensors.size()) - 1;
  }
  static Region rows(int tensor, int first, int count) {
    return {tensor, 0, 1, first, count, kNone};
  }
  int add(const char* name,
          int stream,
          std::vector<Region> reads,
          std::vector<Region> writes,
          std::vector<int> waits = {}) {
    Task task = fixed_task(name, stream, std::move(reads), std::move(writes));
    task.waits = std::move(waits);
    program_.tasks.push_back(std::move(task));
    return static_cast<int>(program_.tasks.size()) - 1;
  }
  // The only problem.
  Problem problem() const {
    const Verdict verdict = verify(program_);
    EXPECT_EQ(verdict.problems.size(), 1U);
    return verdict.problems.empty() ? Problem{} : verdict.problems.front();
  }

  Program program_;
};

TEST_F(VerifierTest, EmptyProgramIsRight) {
  EXPECT_TRUE(verify(program_).ok());
}

TEST_F(VerifierTest, TasksWithoutRegionsAreRight) {
  add("first", 0, {}, {});
  add("second", 1, {}, {}, {0});
  EXPECT_TRUE(verify(program_).ok());
}

TEST_F(VerifierTest, RaceNamesTasksTensorAndWait) {
  const int x = tensor("x");
  add("write", 0, {}, {rows(x, 0, 8)});
  add("read", 1, {rows(x, 3, 2)}, {});
  const Problem found = problem();
  EXPECT_EQ(found.kind, ProblemKind::kRace);
  EXPECT_THAT(found.tasks, ElementsAre(0, 1));
  EXPECT_EQ(found.message, "race on tensor 'x': task 'read' must wait for task 'write'");
}

TEST_F(VerifierTest, AWaitForDataCountsAlsoWhereItIsOrderAsWell) {
  const int x = tensor("x");
  add("write", 0, {}, {rows(x, 0, 8)});
  add("read", 1, {rows(x, 0, 8)}, {}, {0});
  program_.tasks[1].order_only = {0};
  EXPECT_TRUE(verify(program_).ok());
}

TEST_F(VerifierTest, OrderOnlyDoesNotPreventARace) {
  const int x = tensor("x");
  add("write", 0, {}, {rows(x, 0, 8)});
  add("read", 1, {rows(x, 0, 8)}, {});
  program_.tasks[1].order_only = {0};
  EXPECT_EQ(problem().kind, ProblemKind::kRace);
}

// What follows from one missing wait is not told again: `last` would be safe behind `read`.
TEST_F(VerifierTest, OneMissingWaitIsOneProblem) {
  const int x = tensor("x");
  add("write", 0, {}, {rows(x, 0, 8)});
  add("read", 1, {rows(x, 0, 8)}, {});
  add("last", 1, {rows(x, 0, 8)}, {rows(x, 0, 8)});
  EXPECT_THAT(problem().tasks, ElementsAre(0, 1));
}

TEST_F(VerifierTest, WriteAfterReadRaces) {
  const int x = tensor("x", 1, 8, true);
  add("read", 0, {rows(x, 0, 8)}, {});
  add("add", 1, {rows(x, 7, 1)}, {rows(x, 7, 1)});
  EXPECT_EQ(problem().message, "race on tensor 'x': task 'add' must wait for task 'read'");
}

TEST_F(VerifierTest, NeedlessWaitsAreNotReported) {
  const int x = tensor("x");
  add("write", 0, {}, {rows(x, 0, 8)});
  add("read", 1, {rows(x, 0, 8)}, {}, {0});
  add("again", 1, {rows(x, 0, 8)}, {}, {0, 1});
  EXPECT_TRUE(verify(program_).ok());
}

TEST_F(VerifierTest, UnwrittenRead) {
  const int x = tensor("x");
  add("low", 0, {}, {rows(x, 0, 3)});
  add("high", 0, {}, {rows(x, 4, 4)});
  add("read", 0, {rows(x, 2, 3)}, {});
  const Problem found = problem();
  EXPECT_EQ(found.kind, ProblemKind::kUnwrittenRead);
  EXPECT_THAT(found.tasks, ElementsAre(2));
  EXPECT_EQ(
      found.message,
      "task 'read' reads rows [2, 5) of tensor 'x', of which no earlier task has written some");
}

TEST_F(VerifierTest, PiecesMayTogetherBeWhatIsRead) {
  const int x = tensor("x", 2, 4);
  program_.tasks.push_back(fixed_task("left", 0, {}, {{x, 0, 1, 0, 4, kNone}}));
  program_.tasks.push_back(fixed_task("low", 0, {}, {{x, 1, 1, 0, 1, kNone}}));
  program_.tasks.push_back(fixed_task("high", 0, {}, {{x, 1, 1, 1, 3, kNone}}));
  program_.tasks.push_back(fixed_task("read", 0, {{x, 0, 2, 0, 4, kNone}}, {}));
  EXPECT_TRUE(verify(program_).ok());
}

TEST_F(VerifierTest, InputsAreWritten) {
  const int x = tensor("x", 1, 8, true);
  add("read", 0, {rows(x, 0, 8)}, {});
  EXPECT_TRUE(verify(program_).ok());
}

TEST_F(VerifierTest, AccumulatingWhereNothingIsYet) {
  const int x = tensor("x");
  add("add", 0, {rows(x, 0, 8)}, {rows(x, 0, 8)});
  EXPECT_EQ(problem().kind, ProblemKind::kUnwrittenRead);
}

TEST_F(VerifierTest, DoubleWrite) {
  const int x = tensor("x");
  add("first", 0, {}, {rows(x, 0, 4)});
  add("second", 0, {}, {rows(x, 3, 4)});
  const Problem found = problem();
  EXPECT_EQ(found.kind, ProblemKind::kDoubleWrite);
  EXPECT_THAT(found.tasks, ElementsAre(0, 1));
  EXPECT_EQ(found.message,
            "task 'second' writes rows [3, 7) of tensor 'x', some of which 'first' has written; to "
            "add to them, it must read them too");
}

TEST_F(VerifierTest, OverwritingAnInput) {
  const int x = tensor("x", 1, 8, true);
  add("write", 0, {}, {rows(x, 0, 1)});
  const Problem found = problem();
  EXPECT_EQ(found.kind, ProblemKind::kDoubleWrite);
  EXPECT_THAT(found.tasks, ElementsAre(0));
}

TEST_F(VerifierTest, ReadingPartOfWhatIsWrittenIsNoSum) {
  const int x = tensor("x");
  add("first", 0, {}, {rows(x, 0, 8)});
  add("second", 0, {rows(x, 0, 4)}, {rows(x, 0, 8)});
  EXPECT_EQ(problem().kind, ProblemKind::kDoubleWrite);
}

// In place: the root alone reads what it has, all others receive it there.
TEST_F(VerifierTest, BroadcastInPlace) {
  program_.roles = {{"root", {1}}, {"other", {0}}};
  const int x = tensor("x");
  add("fill", 0, {}, {rows(x, 0, 8)});
  program_.tasks[0].roles = {0};
  Collective broadcast{CollectiveOperation::kBroadcast, 0, 64, kNone, 0, false, 1};
  program_.tasks.push_back(
      collective_task("broadcast", 0, broadcast, {rows(x, 0, 8)}, {rows(x, 0, 8)}));
  add("use", 0, {rows(x, 0, 8)}, {});
  EXPECT_TRUE(verify(program_).ok());
  std::get<Collective>(program_.tasks[1].descriptor).root = 0;
  const Problem found = problem();  // rank 0 has nothing to send
  EXPECT_EQ(found.kind, ProblemKind::kUnwrittenRead);
  EXPECT_THAT(found.message, HasSubstr("on role 'other'"));
}

TEST_F(VerifierTest, OutOfBounds) {
  const int x = tensor("x", 2, 8, true);
  add("rows", 0, {rows(x, 6, 3)}, {});
  program_.tasks.push_back(fixed_task("blocks", 0, {{x, 1, 2, 0, 8, kNone}}, {}));
  program_.tasks.push_back(fixed_task("slots", 0, {{x, 0, 3, 0, 8, 0}}, {}));
  const Verdict verdict = verify(program_);
  ASSERT_EQ(verdict.problems.size(), 3U);
  EXPECT_EQ(verdict.problems[0].kind, ProblemKind::kOutOfBounds);
  EXPECT_EQ(verdict.problems[0].message,
            "task 'rows' reads tensor 'x' out of bounds: rows [6, 9) of 8");
  EXPECT_THAT(verdict.problems[1].message, HasSubstr("blocks [1, 3) of 2"));
  EXPECT_THAT(verdict.problems[2].message, HasSubstr("3 blocks of 2"));
}

TEST_F(VerifierTest, RelativeRegionsNeedEqualSlotsAndAPlace) {
  program_.groups.push_back({"zero", {{0}}});
  const int x = tensor("x", 3, 8, true);
  program_.tasks.push_back(fixed_task("slots", 0, {{x, 0, 1, 0, 8, 0}}, {}));
  program_.tasks.push_back(fixed_task("place", 0, {{x, 0, 1, 0, 8, 1}}, {}));
  const Verdict verdict = verify(program_);
  ASSERT_EQ(verdict.problems.size(), 2U);
  EXPECT_THAT(verdict.problems[0].message,
              HasSubstr("3 blocks do not make a slot for each of the 2 members of group 'pair'"));
  EXPECT_THAT(verdict.problems[1].message, HasSubstr("rank 1 has no place in group 'zero'"));
}

// Left out, the number of blocks or rows is what remains: none where a region begins at the end.
TEST_F(VerifierTest, ARegionMustBeginWithinItsTensor) {
  const int x = tensor("x", 2, 8, true);
  program_.tasks.push_back(fixed_task("blocks", 0, {{x, 2, 0, 0, 8, kNone}}, {}));
  program_.tasks.push_back(fixed_task("rows", 0, {{x, 0, 2, 8, 0, kNone}}, {}));
  const Verdict verdict = verify(program_);
  ASSERT_EQ(verdict.problems.size(), 2U);
  EXPECT_THAT(verdict.problems[0].message, HasSubstr("blocks [2, 2) of 2"));
  EXPECT_THAT(verdict.problems[1].message, HasSubstr("rows [8, 8) of 8"));
}

// Each rank slices, replicates or sums by its own place in the group: rank 1 has none.
TEST_F(VerifierTest, TasksByPlaceNeedAPlace) {
  program_.groups.push_back({"zero", {{0}}});
  const int x = tensor("x", 2, 8, true);
  const int y = tensor("y", 2);
  for (const Descriptor& descriptor : {Descriptor{Slice{1}},
                                       Descriptor{Replicate{.group = 1, .copies = 1}},
                                       Descriptor{LocalSum{.group = 1, .copies = 1}}}) {
    program_.tasks = {fixed_task("t", 0, {{x, 0, 2, 0, 8, kNone}}, {{y, 0, 2, 0, 8, kNone}})};
    program_.tasks[0].descriptor = descriptor;
    const Problem found = problem();
    EXPECT_EQ(found.kind, ProblemKind::kOutOfBounds);
    EXPECT_EQ(found.message,
              "task 't' (" + descriptor_name(descriptor) +
                  "): rank 1 runs it and has no place in group 'zero'");
    EXPECT_EQ(out_of_bounds(program_).size(), 1U);
    program_.roles = {{"first", {0}}, {"second", {1}}};
    program_.tasks[0].roles = {0};
    EXPECT_TRUE(verify(program_).ok());
    program_.roles.clear();
  }
}

TEST_F(VerifierTest, ByteMismatch) {
  const int x = tensor("x", 1, 8, true);
  const int y = tensor("y");
  Collective gather{CollectiveOperation::kAllGather, 0, 64, kNone, 0, false, 0};
  program_.tasks = {collective_task("gather", 0, gather, {rows(x, 0, 8)}, {rows(y, 0, 8)})};
  const Problem found = problem();
  EXPECT_EQ(found.kind, ProblemKind::kByteMismatch);
  EXPECT_EQ(found.message,
            "task 'gather' (collective): ALL_GATHER over 2 members reads 8 rows and writes 8; it "
            "must write what all members read");
}

TEST_F(VerifierTest, GivenBytesThatDiffer) {
  const int x = tensor("x", 1, 8, true);
  Collective reduce{CollectiveOperation::kAllReduce, 0, 65, kNone, 0, false, 0};
  program_.tasks = {collective_task("reduce", 0, reduce, {rows(x, 0, 8)}, {rows(x, 0, 8)})};
  const Problem found = problem();
  EXPECT_EQ(found.kind, ProblemKind::kByteMismatch);
  // 8 rows of 2 fp32 elements.
  EXPECT_THAT(found.message, HasSubstr("it is given 65 bytes, but its regions make 64"));
}

TEST_F(VerifierTest, WaitingForALaterTask) {
  add("first", 0, {}, {}, {1});
  add("second", 0, {}, {});
  const Problem found = problem();
  EXPECT_EQ(found.kind, ProblemKind::kDeadlock);
  EXPECT_THAT(found.tasks, ElementsAre(0, 1));
  EXPECT_EQ(found.message,
            "task 'first' waits for 'second', which is launched later; only earlier tasks can be "
            "waited for");
}

TEST_F(VerifierTest, ListsNoMoreThanAPersonCanRead) {
  const int x = tensor("x");
  for (int i = 0; i < 1100; ++i) {
    add(("t" + std::to_string(i)).c_str(), 0, {rows(x, 0, 1)}, {});
  }
  const Verdict verdict = verify(program_);
  EXPECT_EQ(verdict.problems.size(), 1000U);
  EXPECT_THAT(verdict.warnings, ElementsAre("only the first 1000 problems are listed"));
}

TEST(ProblemKindTest, NamesAreThoseOfTheContract) {
  EXPECT_STREQ(to_string(ProblemKind::kRace), "race");
  EXPECT_STREQ(to_string(ProblemKind::kUnwrittenRead), "unwritten_read");
  EXPECT_STREQ(to_string(ProblemKind::kDoubleWrite), "double_write");
  EXPECT_STREQ(to_string(ProblemKind::kOutOfBounds), "out_of_bounds");
  EXPECT_STREQ(to_string(ProblemKind::kMismatchedCollective), "mismatched_collective");
  EXPECT_STREQ(to_string(ProblemKind::kByteMismatch), "byte_mismatch");
  EXPECT_STREQ(to_string(ProblemKind::kDeadlock), "deadlock");
}

// Written are rows 0..5; the reads take 0..3 in two touching pieces, out of order.
TEST_F(VerifierTest, WarnsOfTheFirstRowThatNothingReads) {
  const int x = tensor("x");
  add("write", 0, {}, {rows(x, 0, 6)});
  add("upper", 0, {rows(x, 2, 2)}, {});
  add("lower", 0, {rows(x, 0, 2)}, {});
  EXPECT_THAT(verify(program_).warnings,
              ElementsAre("row 4 of tensor 'x' is written and never read, unlike others"));
  add("rest", 0, {rows(x, 3, 3)}, {});
  EXPECT_THAT(verify(program_).warnings, IsEmpty());
}

// Only `early` reads rows 0..3 before the second addition; `other` reads rows that it leaves alone.
TEST_F(VerifierTest, WarnsOfASumThatIsReadTooEarly) {
  const int sum = tensor("sum");
  add("write", 0, {}, {rows(sum, 0, 8)});
  add("first", 0, {rows(sum, 0, 8)}, {rows(sum, 0, 8)});
  add("early", 0, {rows(sum, 0, 4)}, {});
  add("other", 0, {rows(sum, 4, 4)}, {});
  add("second", 0, {rows(sum, 0, 4)}, {rows(sum, 0, 4)});
  add("late", 0, {rows(sum, 0, 8)}, {});
  EXPECT_THAT(verify(program_).warnings,
              ElementsAre("task 'early' reads a sum in tensor 'sum' that task 'second' adds to "
                          "later"));
}

class HeadOfLineTest : public VerifierTest {
 protected:
  HeadOfLineTest() { program_.streams = {"a", "b", "c"}; }
  std::vector<std::string> warnings(int hardware_queues) const {
    return verify(program_, {hardware_queues}).warnings;
  }
};

TEST_F(HeadOfLineTest, AnEarlierLaunchThatWaitsHoldsUpALaterOne) {
  add("slow", 0, {}, {});
  add("after", 1, {}, {}, {0});
  add("free", 2, {}, {});
  EXPECT_THAT(warnings(32), IsEmpty());
  EXPECT_THAT(warnings(3), IsEmpty());
  // Streams map to queues in order of first use: with two, `a` and `c` share one, and nothing on
  // `a` waits.
  EXPECT_THAT(warnings(2), IsEmpty());
  EXPECT_THAT(warnings(1),
              ElementsAre("head-of-line blocking: streams 'b' and 'c' share the only hardware "
                          "queue, so 'free' cannot start before 'after', launched earlier, which "
                          "waits for 'slow'"));
}

TEST_F(HeadOfLineTest, ATaskThatWaitsForTheSameIsNotHeldUp) {
  add("slow", 0, {}, {});
  add("after", 1, {}, {}, {0});
  add("too", 2, {}, {}, {0});
  EXPECT_THAT(warnings(1), IsEmpty());
}

TEST_F(HeadOfLineTest, OnePairOfStreamsWarnsOnce) {
  for (int i = 0; i < 3; ++i) {
    const int slow = add("slow", 0, {}, {});
    add("after", 1, {}, {}, {slow});
    add("free", 2, {}, {});
  }
  // Later rounds add: `slow` on a behind `after` on b, and `slow` behind `free` on c, which waits
  // for its predecessor.
  EXPECT_EQ(warnings(1).size(), 3U);
}

}  // namespace
}  // namespace moesim
