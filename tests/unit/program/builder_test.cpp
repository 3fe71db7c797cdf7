// Derived waits are needed and enough, on programs small enough to see it.
#include "sim/program/builder.h"

#include <gmock/gmock.h>

#include "sim/program/verifier.h"
#include "tests/unit/program/example_programs.h"

namespace moesim {
namespace {

using testing::collective_task;
using ::testing::ElementsAre;
using testing::fixed_task;
using ::testing::IsEmpty;

class BuilderTest : public ::testing::Test {
 protected:
  int tensor(const char* name, int blocks = 1, int rows = 8) {
    return builder_.add_tensor({name, blocks, rows, 2, DataType::kFp32, false, 0, {}});
  }
  int add(const char* name,
          const char* stream,
          std::vector<Region> reads,
          std::vector<Region> writes) {
    return builder_.add_task(
        fixed_task(name, builder_.stream(stream), std::move(reads), std::move(writes)));
  }
  Region all(int tensor) const { return builder_.all(tensor); }
  Region rows(int tensor, int first, int count) const {
    return builder_.rows(tensor, first, count);
  }
  const std::vector<int>& waits(int task) const { return builder_.program().tasks[task].waits; }

  ProgramBuilder builder_{"test", 2};
};

TEST_F(BuilderTest, ReaderWaitsForWriterOnAnotherStream) {
  const int x = tensor("x");
  const int write = add("write", "a", {}, {all(x)});
  EXPECT_THAT(waits(add("read", "b", {all(x)}, {})), ElementsAre(write));
}

TEST_F(BuilderTest, OneStreamNeedsNoWaits) {
  const int x = tensor("x");
  add("write", "a", {}, {all(x)});
  EXPECT_THAT(waits(add("read", "a", {all(x)}, {})), IsEmpty());
}

TEST_F(BuilderTest, WriterWaitsForReaders) {
  const int x = tensor("x");
  const int write = add("write", "a", {}, {all(x)});
  const int read = add("read", "b", {all(x)}, {});
  // The reader was after the first writer, so that wait is implied.
  const int again = add("again", "c", {all(x)}, {all(x)});
  EXPECT_THAT(waits(read), ElementsAre(write));
  EXPECT_THAT(waits(again), ElementsAre(read));
}

TEST_F(BuilderTest, ReadersDoNotWaitForEachOther) {
  const int x = tensor("x");
  const int write = add("write", "a", {}, {all(x)});
  const int first = add("first", "b", {all(x)}, {});
  const int second = add("second", "c", {all(x)}, {});
  EXPECT_THAT(waits(second), ElementsAre(write));
  EXPECT_THAT(waits(add("add", "d", {all(x)}, {all(x)})), ElementsAre(first, second));
}

TEST_F(BuilderTest, DisjointRowsAndBlocksDoNotConflict) {
  const int x = tensor("x", 2);
  const int low = add("low", "a", {}, {rows(x, 0, 3)});
  const int high = add("high", "b", {}, {rows(x, 3, 5)});
  EXPECT_THAT(waits(high), IsEmpty());
  const Region second_block = {x, 1, 1, 0, 3, kNone};
  EXPECT_THAT(waits(add("block", "c", {second_block}, {})), ElementsAre(low));
  EXPECT_THAT(waits(add("edge", "d", {rows(x, 2, 2)}, {})), ElementsAre(low, high));
}

TEST_F(BuilderTest, AccumulationKeepsItsOrder) {
  const int sum = tensor("sum");
  const int first = add("first", "a", {}, {all(sum)});
  const int second = add("second", "b", {all(sum)}, {all(sum)});
  const int third = add("third", "a", {all(sum)}, {all(sum)});
  EXPECT_THAT(waits(second), ElementsAre(first));
  EXPECT_THAT(waits(third), ElementsAre(second));
}

TEST_F(BuilderTest, WaitsOfWaitsAreImplied) {
  const int x = tensor("x");
  const int y = tensor("y");
  add("x", "a", {}, {all(x)});
  const int second = add("y", "b", {all(x)}, {all(y)});
  EXPECT_THAT(waits(add("both", "c", {all(x), all(y)}, {})), ElementsAre(second));
}

TEST_F(BuilderTest, EmptyRegionsTouchNothing) {
  const int x = tensor("x");
  add("write", "a", {}, {all(x)});
  EXPECT_THAT(waits(add("read", "b", {rows(x, 4, 0)}, {})), IsEmpty());
}

TEST_F(BuilderTest, HostWaitOrdersAllThatIsLaunchedLater) {
  const int x = tensor("x");
  const int y = tensor("y");
  const int write = add("write", "a", {}, {all(x), all(y)});
  Task host;
  host.name = "host";
  host.descriptor = HostWait{};
  host.reads = {all(x)};
  const int host_wait = builder_.add_task(host);
  EXPECT_THAT(waits(host_wait), ElementsAre(write));
  EXPECT_EQ(builder_.program().tasks[host_wait].kind, "host_wait");
  // The host has seen `write` end, and what it reads itself cannot be overwritten too early.
  EXPECT_THAT(waits(add("later", "b", {all(y)}, {})), IsEmpty());
  EXPECT_THAT(waits(add("over", "c", {all(x)}, {all(x)})), IsEmpty());
}

TEST_F(BuilderTest, OrderOnlyProtectsNothing) {
  const int x = tensor("x");
  const int write = add("write", "a", {}, {all(x)});
  Task read = fixed_task("read", builder_.stream("b"), {all(x)}, {});
  read.order_only = {write};
  const int index = builder_.add_task(read);
  EXPECT_THAT(waits(index), ElementsAre(write));
  EXPECT_THAT(builder_.program().tasks[index].order_only, ElementsAre(write));
}

TEST_F(BuilderTest, GivenWaitsAreKeptUnlessImplied) {
  const int first = add("first", "a", {}, {});
  const int second = add("second", "a", {}, {});
  Task task = fixed_task("task", builder_.stream("b"), {}, {});
  task.waits = {first, second};
  EXPECT_THAT(waits(builder_.add_task(task)), ElementsAre(second));
}

TEST_F(BuilderTest, RelativeBlocksConflictAsOnEveryRank) {
  const int pair = builder_.add_group({"pair", {{0, 1}}});
  const int x = tensor("x", 4);
  // Slots of two blocks: own, and the other member's.
  const Region own = {x, 0, 2, 0, 8, pair};
  const Region other = {x, -2, 2, 0, 8, pair};
  const Region across = {x, 3, 2, 0, 8, pair};  // last of the other slot, first of the own
  const int first = add("own", "a", {}, {own});
  EXPECT_THAT(waits(add("other", "b", {}, {other})), IsEmpty());
  EXPECT_THAT(waits(add("across", "c", {across}, {})), ElementsAre(first, first + 1));
  // Block 0 is in rank 0's own slot and in rank 1's other slot: each conflicts on some rank.
  const Region block = {x, 0, 1, 0, 8, kNone};
  EXPECT_THAT(waits(add("block", "d", {block}, {})), ElementsAre(first, first + 1));
}

TEST_F(BuilderTest, BytesFollowFromRegions) {
  const int pair = builder_.add_group({"pair", {{0, 1}}});
  const int x = tensor("x", 1, 3);
  const int y = tensor("y", 1, 6);
  Collective gather;
  gather.operation = CollectiveOperation::kAllGather;
  gather.group = pair;
  const int task = builder_.add_task(
      collective_task("gather", builder_.stream("a"), gather, {all(x)}, {all(y)}));
  // 6 rows of 2 fp32 elements.
  EXPECT_EQ(std::get<Collective>(builder_.program().tasks[task].descriptor).bytes, 6 * 2 * 4);
  EXPECT_EQ(builder_.program().tasks[task].kind, "collective");
}

TEST_F(BuilderTest, RanksOutsideTheGroupDoNotTouchTheRegions) {
  // Group "zero" holds rank 0 alone, group "one" rank 1: no rank runs both collectives.
  const int zero = builder_.add_group({"zero", {{0}}});
  const int one = builder_.add_group({"one", {{1}}});
  const int x = tensor("x");
  Collective collective;
  collective.group = zero;
  builder_.add_task(collective_task("zero", builder_.stream("a"), collective, {}, {all(x)}));
  collective.group = one;
  const int second =
      builder_.add_task(collective_task("one", builder_.stream("b"), collective, {}, {all(x)}));
  EXPECT_THAT(waits(second), IsEmpty());
  EXPECT_THAT(waits(add("read", "c", {all(x)}, {})), ElementsAre(0, 1));
}

TEST(BuilderStreamsTest, AreNumberedByFirstTask) {
  ProgramBuilder builder("test", 1);
  builder.stream("unused");
  const int late = builder.stream("late");
  const int early = builder.stream("early");
  builder.add_task(fixed_task("one", early, {}, {}));
  builder.add_task(fixed_task("two", late, {}, {}));
  const Program program = std::move(builder).build();
  EXPECT_THAT(program.streams, ElementsAre("early", "late"));
  EXPECT_EQ(program.tasks[0].stream, 0);
  EXPECT_EQ(program.tasks[1].stream, 1);
}

TEST(BuilderDeathTest, MistakesOfASchedule) {
  ProgramBuilder builder("test", 1);
  const int x = builder.add_tensor({"x", 1, 8, 2, DataType::kFp32, false, 0, {}});
  const int stream = builder.stream("a");
  EXPECT_DEATH(builder.add_task(fixed_task("t", stream, {builder.rows(x, 7, 2)}, {})),
               "out of bounds: rows \\[7, 9\\) of 8");
  EXPECT_DEATH(builder.add_task(fixed_task("t", 5, {}, {})), "is on stream 5");
  Task waiting = fixed_task("t", stream, {}, {});
  waiting.waits = {0};
  EXPECT_DEATH(builder.add_task(waiting), "waits for task 0");
}

}  // namespace
}  // namespace moesim
