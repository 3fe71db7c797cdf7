#include "kernels/repeat.h"

#include <gtest/gtest.h>

#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using test::HandProgram;
using test::ps;

// Runs that take 100 ps and are late as told, one after the other; task 0 takes as many
// picoseconds as runs came before.
class Told : public Executor {
 public:
  explicit Told(std::vector<int> lateness) : lateness_(std::move(lateness)) {}

  Execution run(TensorStore&) override {
    Execution execution;
    execution.lateness = ps(lateness_[num_runs_ % lateness_.size()]);
    execution.trace.end = ps(100 + num_runs_);
    TaskSpan span;
    span.transfer = ps(1000);
    span.end = ps(1000 + num_runs_);
    execution.trace.spans = {span};
    ++num_runs_;
    return execution;
  }

 private:
  std::vector<int> lateness_;
  int num_runs_ = 0;
};

// Runs 0, 2, 4, 6 and 8 of 100, 102, … 108 ps are late by 2 ps, which is 2 % of the makespan of the
// first; the others by 3 ps, which is too much. Of five sorted values p25 is the second and the
// median the third.
TEST(RepeatTest, DisturbedRunsAreRepeated) {
  const HandProgram hand(1, {"s"});
  TensorStore tensors(hand.program(), {0});
  Told executor({2, 3});
  const RepeatedRuns runs = repeat(executor, {.num_runs = 5}, tensors);
  EXPECT_EQ(runs.accepted.size(), 5U);
  EXPECT_EQ(runs.num_rejected, 4);
  EXPECT_EQ(runs.iteration().p25, ps(102));
  EXPECT_EQ(runs.iteration().median, ps(104));
  EXPECT_EQ(runs.task(0).p25, ps(2));
  EXPECT_EQ(runs.task(0).median, ps(4));
  EXPECT_EQ(runs.lateness(), ps(2));
  EXPECT_EQ(runs.typical().trace.end, ps(104));
}

TEST(RepeatTest, GivesUp) {
  const HandProgram hand(1, {"s"});
  TensorStore tensors(hand.program(), {0});
  Told executor({50});
  const RepeatedRuns runs = repeat(executor, {.num_runs = 5, .max_rejected = 3}, tensors);
  EXPECT_TRUE(runs.accepted.empty());
  EXPECT_EQ(runs.num_rejected, 4);
}

}  // namespace
}  // namespace moesim
