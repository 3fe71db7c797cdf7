// How many classes the fold makes of eight ranks on 2 x 4 GPUs.
#include "sim/engine/classes.h"

#include <gtest/gtest.h>

#include "sim/cluster/groups.h"
#include "tests/unit/engine/program_maker.h"

namespace moesim {
namespace {

constexpr int kMp = 0;  // index in make_groups
constexpr int kDp = 1;
constexpr int kWorld = 6;

class ClassesTest : public testing::Test {
 protected:
  ClassesTest() {
    maker_.program().groups = make_groups({.mp = 4, .dp = 2, .esp = 4, .ep = 2, .edp = 1});
  }

  void collective(CollectiveOperation operation, int group, int distance = 0, bool wrap = false) {
    maker_.collective(
        "a",
        {.operation = operation, .group = group, .bytes = 100, .distance = distance, .wrap = wrap});
  }

  std::vector<int> fold() {
    TaskCosts costs(maker_.program(), &cluster_, &profile_);
    return fold_classes(make_scripts(maker_.program(), 32), {}, costs).of_rank;
  }

  ProgramMaker maker_{8};
  Cluster cluster_ = make_cluster(2, 4);
  Profile profile_;
};

TEST_F(ClassesTest, SymmetricProgramsHaveOneClass) {
  maker_.fixed("compute", 5);
  collective(CollectiveOperation::kAllGather, kMp);
  collective(CollectiveOperation::kAllReduce, kDp);
  collective(CollectiveOperation::kAllToAll, kWorld);
  EXPECT_EQ(fold(), (std::vector<int>(8, 0)));
}

TEST_F(ClassesTest, RolesAndScalesAndGroupsOfSomePart) {
  const int role = maker_.role("some", {1, 5});
  maker_.task(maker_.fixed("compute", 5)).roles = {role};
  EXPECT_EQ(fold(), (std::vector<int>{0, 1, 0, 0, 0, 1, 0, 0}));
  maker_.program().rank_scale = {1, 1, 2, 1, 1, 1, 2, 1};
  EXPECT_EQ(fold(), (std::vector<int>{0, 1, 2, 0, 0, 1, 2, 0}));
  const int pair = maker_.group("pair", {{0, 4}});
  EXPECT_EQ(fold(), (std::vector<int>{0, 1, 2, 0, 0, 1, 2, 0}));  // nobody uses the group
  collective(CollectiveOperation::kAllGather, pair);
  EXPECT_EQ(fold(), (std::vector<int>{0, 1, 2, 3, 0, 1, 2, 3}));
}

TEST_F(ClassesTest, OneSlowRankSplitsOnlyWhatItTouches) {
  maker_.program().rank_scale = {2, 1, 1, 1, 1, 1, 1, 1};
  maker_.fixed("compute", 5);
  EXPECT_EQ(fold(), (std::vector<int>{0, 1, 1, 1, 1, 1, 1, 1}));
  // Its node waits for it, the other node does not.
  collective(CollectiveOperation::kAllGather, kMp);
  EXPECT_EQ(fold(), (std::vector<int>{0, 1, 1, 1, 2, 2, 2, 2}));
  // Across: rank 4 waits for rank 0, the other pairs are alike.
  collective(CollectiveOperation::kAllGather, kDp);
  EXPECT_EQ(fold(), (std::vector<int>{0, 1, 1, 1, 2, 3, 3, 3}));
}

TEST_F(ClassesTest, ShiftsPartRanksByThePortsThatTheyCross) {
  // Distance 1 around the world: the first of a node receives, the last sends across.
  collective(CollectiveOperation::kShift, kWorld, 1, true);
  EXPECT_EQ(fold(), (std::vector<int>{0, 1, 1, 2, 0, 1, 1, 2}));
}

TEST_F(ClassesTest, ShiftsWithoutWrapHaveEnds) {
  // Within a node: the first only sends, the last only receives.
  collective(CollectiveOperation::kShift, kMp, 1, false);
  EXPECT_EQ(fold(), (std::vector<int>{0, 1, 1, 2, 0, 1, 1, 2}));
}

TEST_F(ClassesTest, ARingsOrderIsNoColour) {
  // Distance 4 always crosses: all are alike.
  collective(CollectiveOperation::kShift, kWorld, 4, true);
  EXPECT_EQ(fold(), (std::vector<int>(8, 0)));
}

TEST_F(ClassesTest, UnequalTokensPartRanksByTheirLoads) {
  // Rank 0 sends everything to expert 0, the others are balanced.
  Routing routing{.name = "skew", .tokens = std::vector(8, std::vector<int>(8, 1))};
  routing.tokens[0] = {8, 0, 0, 0, 0, 0, 0, 0};
  maker_.program().routings = {routing};
  maker_.collective(
      "a",
      {.operation = CollectiveOperation::kAllToAll, .group = kWorld, .bytes = 800, .routing = 0});
  // Its node's ranks miss a token within the node, the other node's ranks one from across.
  EXPECT_EQ(fold(), (std::vector<int>{0, 1, 1, 1, 2, 2, 2, 2}));
}

TEST_F(ClassesTest, SeparateClassesAreTheRanks) {
  collective(CollectiveOperation::kAllGather, kMp);
  const Scripts scripts = make_scripts(maker_.program(), 32);
  TaskCosts costs(maker_.program(), nullptr, nullptr);
  const Classes classes = separate_classes(scripts, {}, costs);
  EXPECT_EQ(classes.ranks.size(), 8U);
  EXPECT_EQ(classes.groups[kMp].of_instance, (std::vector<int>{0, 1}));
  EXPECT_EQ(classes.groups[kMp].rank_classes[1], (std::vector<int>{4, 5, 6, 7}));
  EXPECT_TRUE(classes.groups[kDp].of_instance.empty());
}

}  // namespace
}  // namespace moesim
