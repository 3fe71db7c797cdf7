// FASTEST where one algorithm was measured and another was not. Eight nodes of one member each, one
// byte per picosecond.
#include <gmock/gmock.h>

#include "sim/collective/collective_cost.h"
#include "tests/unit/engine/program_maker.h"

namespace moesim {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr auto kAllReduce = CollectiveOperation::kAllReduce;

class FastestTest : public testing::Test {
 protected:
  void SetUp() override {
    program_.num_ranks = 32;
    program_.groups = {{.name = "g", .members = {{0, 4, 8, 12, 16, 20, 24, 28}}}};
    profile_.algorithms = {{.operation = kAllReduce, .span = {}, .algorithm = Algorithm::kFastest}};
  }

  CollectiveLoad load(std::int64_t bytes) {
    costs_.emplace(program_, cluster_, profile_, valid_rows_);
    Task task;
    task.descriptor = Collective{.operation = kAllReduce, .group = 0, .bytes = bytes};
    return costs_->load(task, program_.groups[0].members[0], 0);
  }

  Program program_;
  Cluster cluster_ = make_cluster(8, 4);
  Profile profile_;
  ValidRows valid_rows_{program_};
  std::optional<CollectiveCosts> costs_;
};

// A ring was measured: 7 * 1000 ps, and 2.5 ps a byte where 14/8 pass its port. Its 14 steps have
// 500 ps each, of which a tree over 8 nodes takes 2 * 3: 3000 ps; its busiest member sends 2 bytes
// for each. So the tree takes less than what was measured at any size, 3000 + 2 b against
// 7000 + 2.5 b; without what the machine loses the ring takes 7000 + 1.75 b, less from 16,000 on.
TEST_F(FastestTest, WhatWasNotMeasuredIsTakenWhereItIsFasterOnAnEqualFootingToo) {
  CollectiveCost ring = make_cost(kAllReduce, Span::kFabric, 1000, 2.5);
  ring.startup_per = StartupPer::kPeer;
  ring.group_size = 8;
  profile_.collectives = {ring};
  const CollectiveLoad small = load(8'000);
  EXPECT_EQ(small.startup, ps(3000));
  EXPECT_EQ(small.alone(), ps(3000 + 16'000));
  EXPECT_THAT(costs_->assumptions(),
              Contains(HasSubstr("TREE is the fastest algorithm; it was not measured, and is "
                                 "faster by links and start-ups alone, too")));
  EXPECT_THAT(costs_->assumptions(),
              Contains(HasSubstr("start-up of a step that of ALL_REDUCE between nodes with RING")));
  const CollectiveLoad large = load(80'000);
  EXPECT_EQ(large.alone(), ps(7000 + 200'000));
  EXPECT_THAT(costs_->assumptions(),
              Contains(HasSubstr("RING is the fastest algorithm; TREE may be faster: it was not "
                                 "measured")));
}

// Of two that were measured the faster is it: 3000 + 3 b against 7000 + 2.5 b. What NVSwitches
// would take, 3000 + 2 b, is not less than the tree on an equal footing, nor of 20,000 bytes than
// the ring's 7000 + 1.75 b.
TEST_F(FastestTest, WhatWasMeasuredIsComparedAsItIs) {
  CollectiveCost ring = make_cost(kAllReduce, Span::kFabric, 7000, 2.5);
  CollectiveCost tree = make_cost(kAllReduce, Span::kFabric, 3000, 3);
  tree.algorithm = Algorithm::kTree;
  profile_.collectives = {ring, tree};
  EXPECT_EQ(load(7'000).alone(), ps(3000 + 21'000));
  EXPECT_EQ(load(20'000).alone(), ps(7000 + 50'000));
}

TEST_F(FastestTest, SaysWhereNothingWasMeasured) {
  EXPECT_EQ(load(8'000).alone(), ps(14'000));
  EXPECT_THAT(costs_->assumptions(),
              Contains(HasSubstr("RING is the fastest algorithm; none was "
                                 "measured")));
}

}  // namespace
}  // namespace moesim
