#include "sim/analysis/data_dependences.h"

#include <gmock/gmock.h>

#include "tests/support/hand_program.h"

namespace moesim {
namespace {

using test::all_to_all;
using test::HandProgram;
using test::ps;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DataDependencesTest : public ::testing::Test {
 protected:
  int add(std::vector<Region> reads, std::vector<Region> writes, std::vector<int> waits = {}) {
    Task task;
    task.kind = "elementwise";
    task.stream = 0;
    task.reads = std::move(reads);
    task.writes = std::move(writes);
    task.waits = std::move(waits);
    task.descriptor = Elementwise{};
    return hand_.add(std::move(task), ps(1));
  }

  std::vector<std::vector<int>> dependences(int rank = 0) const {
    GroupTable groups;
    groups.update(hand_.program());
    return data_dependences(hand_.program(), RoleTable(hand_.program()), groups, rank);
  }

  HandProgram hand_{2, {"compute", "inter"}};
};

// Two tasks write halves of a tensor; one reads the upper half, one all of it.
TEST_F(DataDependencesTest, FollowRows) {
  const int a = hand_.add_tensor("a", 10);
  const int b = hand_.add_tensor("b", 10);
  add({}, {test::rows(a, 0, 5)});
  add({}, {test::rows(a, 5, 5)});
  add({test::rows(a, 5, 5)}, {test::rows(b, 0, 1)});
  add({test::rows(a, 0, 10)}, {test::rows(b, 1, 1)});
  EXPECT_THAT(dependences(), ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(1), ElementsAre(0, 1)));
}

// Sums keep their order: each addition reads what the one before it wrote, and what came before
// that one it has through it.
TEST_F(DataDependencesTest, AccumulationIsAChain) {
  const int a = hand_.add_tensor("a", 10);
  const std::vector<Region> all = {test::rows(a, 0, 10)};
  add({}, all);
  add(all, all);
  add(all, all);
  EXPECT_THAT(dependences(), ElementsAre(IsEmpty(), ElementsAre(0), ElementsAre(1)));
}

// An addition to the upper half hides what it added to there, and nothing else: who reads all rows
// needs the first writer for the lower half.
TEST_F(DataDependencesTest, AnAdditionHidesOnlyWhatItCovers) {
  const int a = hand_.add_tensor("a", 10);
  add({}, {test::rows(a, 0, 10)});
  add({}, {test::rows(a, 5, 5)});  // writes over the first, and does not read it: hides nothing
  add({test::rows(a, 5, 5)}, {test::rows(a, 5, 5)});
  add({test::rows(a, 0, 10)}, {});
  EXPECT_THAT(dependences(),
              ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(0, 1), ElementsAre(0, 2)));
}

// A gradient of four slices, to which each of 1,000 micro-batches adds slice by slice: one
// dependence for each addition but the first, 4 x 999, and not one for each pair of them.
TEST_F(DataDependencesTest, MicroBatchesCostTheirNumberNotItsSquare) {
  constexpr int kMicroBatches = 1'000;
  const int gradient = hand_.add_tensor("gradient", 40);
  for (int slice = 0; slice < 4; ++slice) {
    add({}, {test::rows(gradient, 10 * slice, 10)});
  }
  for (int i = 1; i < kMicroBatches; ++i) {
    for (int slice = 0; slice < 4; ++slice) {
      add({test::rows(gradient, 10 * slice, 10)}, {test::rows(gradient, 10 * slice, 10)});
    }
  }
  std::size_t num_dependences = 0;
  for (const std::vector<int>& of_task : dependences()) {
    num_dependences += of_task.size();
  }
  EXPECT_EQ(num_dependences, 4 * (kMicroBatches - 1));
}

// A wait between tasks with regions may only order a write after a read: that moves no data.
TEST_F(DataDependencesTest, WaitsCountOnlyWithoutRegions) {
  const int a = hand_.add_tensor("a", 10);
  const int b = hand_.add_tensor("b", 10);
  add({}, {test::rows(a, 0, 10)});
  add({}, {test::rows(b, 0, 10)}, {0});
  const int bare = hand_.add_fixed("bare", 0, ps(1), {1});
  add({}, {test::rows(a, 0, 10)}, {bare});
  hand_.task(3).order_only = {0};
  EXPECT_THAT(dependences(), ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(1), ElementsAre(bare)));
}

// Rank 1 has no part in the group and neither runs the exchange nor depends on it.
TEST_F(DataDependencesTest, RanksSkipCollectivesOfOtherGroups) {
  const int group = hand_.add_group("some", {{0}});
  const int a = hand_.add_tensor("a", 10);
  const int exchange = hand_.add_collective("x", 1, all_to_all(group), ps(1));
  hand_.task(exchange).writes = {test::rows(a, 0, 10)};
  add({test::rows(a, 0, 10)}, {});
  EXPECT_THAT(dependences(0), ElementsAre(IsEmpty(), ElementsAre(exchange)));
  EXPECT_THAT(dependences(1), ElementsAre(IsEmpty(), IsEmpty()));
  GroupTable groups;
  groups.update(hand_.program());
  EXPECT_THAT(tasks_of_rank(hand_.program(), RoleTable(hand_.program()), groups, 1),
              ElementsAre(1));
}

}  // namespace
}  // namespace moesim
