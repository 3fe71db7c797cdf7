// Groups of the two grids, written out by hand for eight ranks.
#include "sim/cluster/groups.h"

#include <gtest/gtest.h>

#include "sim/base/error.h"

namespace moesim {
namespace {

using Members = std::vector<std::vector<int>>;

Members members_of(const std::vector<Group>& groups, const std::string& name) {
  for (const Group& group : groups) {
    if (group.name == name) {
      return group.members;
    }
  }
  throw Error("no group " + name);
}

// Two nodes of four GPUs.
Cluster two_by_four() {
  Cluster cluster;
  cluster.num_nodes = 2;
  cluster.gpus_per_node = 4;
  return cluster;
}

TEST(MakeGroupsTest, MpVariesFastestOnTheDenseGrid) {
  const auto groups = make_groups({.mp = 4, .dp = 2, .esp = 4, .ep = 2, .edp = 1});
  EXPECT_EQ(members_of(groups, "mp"), (Members{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(members_of(groups, "dp"), (Members{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
}

TEST(MakeGroupsTest, EspThenEpThenEdpOnTheExpertGrid) {
  const auto groups = make_groups({.mp = 1, .dp = 8, .esp = 2, .ep = 2, .edp = 2});
  EXPECT_EQ(members_of(groups, "esp"), (Members{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  EXPECT_EQ(members_of(groups, "ep"), (Members{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  EXPECT_EQ(members_of(groups, "edp"), (Members{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(members_of(groups, "ep_esp"), (Members{{0, 1, 2, 3}, {4, 5, 6, 7}}));
}

TEST(MakeGroupsTest, GroupsOfOneAndTheWorldAreThere) {
  const auto groups = make_groups({.mp = 1, .dp = 2, .esp = 1, .ep = 2, .edp = 1});
  EXPECT_EQ(members_of(groups, "mp"), (Members{{0}, {1}}));
  EXPECT_EQ(members_of(groups, "edp"), (Members{{0}, {1}}));
  EXPECT_EQ(members_of(groups, "world"), (Members{{0, 1}}));
  EXPECT_EQ(groups.size(), 7U);
}

// Stages {0..3} and {4..7}, in each mp {0, 1} {2, 3}, ep {0, 2} {1, 3}, ….
TEST(MakeGroupsTest, StagesAreBlocksThatTheOtherGroupsStayWithin) {
  const auto groups = make_groups({.mp = 2, .dp = 2, .esp = 2, .ep = 2, .edp = 1, .pp = 2});
  EXPECT_EQ(members_of(groups, "stage"), (Members{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(members_of(groups, "mp"), (Members{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  EXPECT_EQ(members_of(groups, "dp"), (Members{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  EXPECT_EQ(members_of(groups, "ep"), (Members{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  EXPECT_EQ(members_of(groups, "ep_esp"), (Members{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(members_of(groups, "pp"), (Members{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(members_of(groups, "pp_even"), (Members{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_THROW(members_of(groups, "pp_odd"), Error);
}

// Four stages of two ranks: boundaries 0-1 and 2-3, then 1-2.
TEST(MakeGroupsTest, NeighbouringStagesTwoByTwo) {
  const auto groups = make_groups({.mp = 2, .dp = 1, .esp = 1, .ep = 2, .edp = 1, .pp = 4});
  EXPECT_EQ(members_of(groups, "pp"), (Members{{0, 2, 4, 6}, {1, 3, 5, 7}}));
  EXPECT_EQ(members_of(groups, "pp_even"), (Members{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  EXPECT_EQ(members_of(groups, "pp_odd"), (Members{{2, 4}, {3, 5}}));
}

TEST(MakeGroupsDeathTest, GridsMustAgree) {
  EXPECT_DEATH(make_groups({.mp = 2, .dp = 2, .esp = 2, .ep = 1, .edp = 1}), "must be one");
  EXPECT_DEATH(make_groups({.mp = 0, .dp = 2, .esp = 0, .ep = 1, .edp = 1}), "must be one");
}

TEST(NodeOfTest, RanksFillNodesInOrder) {
  EXPECT_EQ(node_of(two_by_four(), 3), 0);
  EXPECT_EQ(node_of(two_by_four(), 4), 1);
  EXPECT_DEATH(node_of(two_by_four(), 8), "rank 8 of 8");
}

TEST(SpanOfTest, NodeFabricOrBoth) {
  EXPECT_EQ(span_of(two_by_four(), {1, 3}), Span::kNode);
  EXPECT_EQ(span_of(two_by_four(), {5}), Span::kNode);
  EXPECT_EQ(span_of(two_by_four(), {3, 4}), Span::kFabric);
  EXPECT_EQ(span_of(two_by_four(), {0, 1, 4}), Span::kBoth);
  EXPECT_EQ(num_nodes_of(two_by_four(), {4, 0, 5, 1}), 2);
}

}  // namespace
}  // namespace moesim
