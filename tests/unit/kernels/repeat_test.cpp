// No time passes here: an executor tells the makespans and latenesses that the test gives.
#include "kernels/repeat.h"

#include <gtest/gtest.h>

#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using test::HandProgram;
using test::ps;

struct ToldRun {
  int makespan;
  int lateness;
  int delay = 0;
};

// Runs as told, one after the other and from the beginning again; task 0 takes as many picoseconds
// as runs came before.
class Told : public Executor {
 public:
  explicit Told(std::vector<ToldRun> runs) : runs_(std::move(runs)) {}

  Execution run(TensorStore&) override {
    const ToldRun& told = runs_[num_runs_ % runs_.size()];
    Execution execution;
    execution.lateness = ps(told.lateness);
    execution.delay = ps(told.delay);
    execution.trace.end = ps(told.makespan);
    TaskSpan span;
    span.transfer = ps(1000);
    span.end = ps(1000 + num_runs_);
    execution.trace.spans = {span};
    ++num_runs_;
    return execution;
  }

  int num_runs() const { return num_runs_; }

 private:
  std::vector<ToldRun> runs_;
  int num_runs_ = 0;
};

RepeatedRuns repeat(Told& executor, const RepeatOptions& options) {
  const HandProgram hand(1, {"s"});
  TensorStore tensors(hand.program(), {0});
  return moesim::repeat(executor, options, tensors);
}

StoppingRule exactly(int number) {
  return {.least = number, .most = number};
}

// Runs 0, 2, 4, 6 and 8 of 100, 102, ... 108 ps are late by 2 ps, which is 2 % of the makespan of
// the first; the others by 3 ps, which is too much. Of five sorted values p25 is the second and the
// median the third.
TEST(RepeatTest, DisturbedRunsAreRepeated) {
  std::vector<ToldRun> told;
  for (int i = 0; i < 9; ++i) {
    told.push_back({100 + i, 2 + i % 2});
  }
  Told executor(told);
  const RepeatedRuns runs = repeat(executor, {.num_warmups = 0, .rule = exactly(5)});
  EXPECT_EQ(runs.accepted.size(), 5U);
  EXPECT_EQ(runs.num_rejected, 4);
  EXPECT_EQ(runs.stopped, Stop::kMost);
  EXPECT_EQ(runs.spread(), std::nullopt);  // of five
  EXPECT_EQ(runs.iteration().p25, ps(102));
  EXPECT_EQ(runs.iteration().median, ps(104));
  EXPECT_EQ(runs.task(0).p25, ps(2));
  EXPECT_EQ(runs.task(0).median, ps(4));
  EXPECT_EQ(runs.lateness(), ps(2));
  EXPECT_EQ(runs.typical().trace.end, ps(104));
}

// Of 100 ps, 5 are no more than 5 %, 6 are.
TEST(RepeatTest, DelayedRunsAreRepeatedToo) {
  Told executor({{100, 0, 5}, {100, 0, 6}});
  const RepeatedRuns runs = repeat(executor, {.num_warmups = 0, .rule = exactly(2)});
  EXPECT_EQ(runs.num_rejected, 1);
  EXPECT_EQ(runs.delay(), ps(5));
}

// The first two take ten times as long and are late: nobody counts them, not even as rejected.
TEST(RepeatTest, WarmUpsDoNotCount) {
  Told executor({{1000, 500}, {1000, 500}, {100, 0}, {100, 0}});
  int num_heard = 0;
  const RepeatedRuns runs =
      repeat(executor, {.num_warmups = 2, .rule = exactly(2), .on_accepted = [&] { ++num_heard; }});
  EXPECT_EQ(executor.num_runs(), 4);
  EXPECT_EQ(num_heard, 2);
  EXPECT_EQ(runs.num_rejected, 0);
  EXPECT_EQ(runs.makespans(), std::vector<Time>({ps(100), ps(100)}));
}

// Makespans of 100 and 104 in turn: whatever their number, the interval of the median reaches over
// both, +-2 %. From the seventh on, 100 ps each. Of n = 6 + m times, sorted, three are 104; the
// interval leaves out the k - 1 largest, so that the first k of at least 4 ends it: k = 4 needs
// 2 P(B < 4) <= 5 %, which n = 15 has (2 * 576 / 2^15 = 3.5 %) and n = 14 has not
// (2 * 470 / 2^14 = 5.7 %).
TEST(RepeatTest, GoesOnUntilTheMedianIsKnown) {
  std::vector<ToldRun> told(30, ToldRun{100, 0});
  told[1].makespan = told[3].makespan = told[5].makespan = 104;
  const RepeatOptions options{.num_warmups = 0, .rule = {.least = 6, .most = 30, .spread = 0.01}};
  Told executor(told);
  const RepeatedRuns runs = repeat(executor, options);
  EXPECT_EQ(runs.accepted.size(), 15U);
  EXPECT_EQ(runs.stopped, Stop::kSteady);
  EXPECT_EQ(runs.spread(), 0);
}

// Never steady: +-2 % of the median for ever.
TEST(RepeatTest, EndsAtTheLargestNumber) {
  Told executor({{100, 0}, {104, 0}});
  const RepeatedRuns runs =
      repeat(executor, {.num_warmups = 0, .rule = {.least = 6, .most = 20, .spread = 0.01}});
  EXPECT_EQ(runs.accepted.size(), 20U);
  EXPECT_EQ(runs.stopped, Stop::kMost);
  EXPECT_DOUBLE_EQ(*runs.spread(), 0.02);
}

TEST(RepeatTest, GivesUp) {
  Told executor({{100, 50}});
  const RepeatedRuns runs = repeat(executor, {.rule = exactly(5), .max_rejected = 3});
  EXPECT_TRUE(runs.accepted.empty());
  EXPECT_EQ(runs.num_rejected, 4);
  EXPECT_EQ(runs.stopped, Stop::kDisturbed);
}

// Six undisturbed runs that disagree, then disturbed ones only: six were enough.
TEST(RepeatTest, EnoughRunsStayEnoughWhenTheRestIsDisturbed) {
  std::vector<ToldRun> told(20, ToldRun{100, 50});
  for (int i = 0; i < 6; ++i) {
    told[i] = {100 + 10 * i, 0};
  }
  Told executor(told);
  const RepeatedRuns runs =
      repeat(executor, {.num_warmups = 0, .rule = {.least = 6, .most = 20}, .max_rejected = 3});
  EXPECT_EQ(runs.accepted.size(), 6U);
  EXPECT_EQ(runs.stopped, Stop::kDisturbed);
}

}  // namespace
}  // namespace moesim
