#include "sim/program/access_list.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>

#include "sim/base/random.h"

namespace moesim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsSupersetOf;

// A tensor of 12 blocks, round whose circle the slots of a group of any size lie.
constexpr int kBlocks = 12;

Access access(int task, int first_block, int num_blocks, int relative_to = 0) {
  Footprint where;
  where.end_row = 4;
  where.first_block = first_block;
  where.num_blocks = num_blocks;
  where.run_blocks = kBlocks;
  where.frame.relative_to = relative_to;
  return {where, task, true};
}

// Some rows of all blocks.
Access rows_access(int task, int first_row, int num_rows, int relative_to = 0) {
  Access result = access(task, 0, kBlocks, relative_to);
  result.where.first_row = first_row;
  result.where.end_row = first_row + num_rows;
  return result;
}

std::vector<int> tasks_near(AccessList& list, const Access& probe) {
  std::vector<int> tasks;
  for (const Access* found : list.near(probe.where)) {
    tasks.push_back(found->task);
  }
  return tasks;
}

TEST(AccessListTest, FindsTheSlotsThatOverlapRoundTheCircle) {
  AccessList list;
  for (int task = 0; task < 6; ++task) {
    list.add(access(task, 2 * task, 2));
  }
  EXPECT_THAT(tasks_near(list, access(9, 4, 2)), ElementsAre(2));
  EXPECT_THAT(tasks_near(list, access(9, 11, 2)), ElementsAre(0, 5));  // blocks 11 and 0
  EXPECT_THAT(tasks_near(list, access(9, 0, kBlocks)), ElementsAre(0, 1, 2, 3, 4, 5));
  // In another frame, any of them may be meant.
  EXPECT_THAT(tasks_near(list, access(9, 4, 2, 1)), ElementsAre(0, 1, 2, 3, 4, 5));
}

// Slices of a flat gradient: ten rows for each of a thousand layers, then rows of all of them. What
// is found must not grow with the layers, or the time of a Program grows with their square.
TEST(AccessListTest, FindsTheRowsThatOverlapWhateverTheFrame) {
  AccessList list;
  for (int task = 0; task < 1000; ++task) {
    list.add(rows_access(task, 10 * task, 10, task % 2));
  }
  EXPECT_THAT(tasks_near(list, rows_access(2000, 5000, 10)), ElementsAre(500));
  EXPECT_THAT(tasks_near(list, rows_access(2000, 4999, 2)), ElementsAre(499, 500));
  list.add(rows_access(1000, 0, 10'000));  // a large one makes the small ones no harder to find
  EXPECT_THAT(tasks_near(list, rows_access(2000, 5000, 10, 1)), ElementsAre(500, 1000));
  list.erase_near_if(rows_access(2000, 0, 9'990).where, [](const Access&) { return true; });
  EXPECT_THAT(tasks_near(list, rows_access(2000, 0, 10'000)), ElementsAre(999));
}

TEST(AccessListTest, ErasesOnlyWhatIsNear) {
  AccessList list;
  list.add(access(0, 0, 2));
  list.add(access(1, 2, 2));
  list.erase_near_if(access(9, 2, 2).where, [](const Access&) { return true; });
  EXPECT_THAT(tasks_near(list, access(9, 0, kBlocks)), ElementsAre(0));
}

// Whatever shares a row of a block with the probe is found.
TEST(AccessListTest, MissesNothing) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto draw = [&random](int first, int last) {
      return static_cast<int>(random.uniform_int(first, last));
    };
    const auto blocks_of = [](const Footprint& where) {
      std::set<int> blocks;
      for (int i = 0; i < where.num_blocks; ++i) {
        blocks.insert((where.first_block + i) % kBlocks);
      }
      return blocks;
    };
    AccessList list;
    std::vector<Access> all;
    for (int task = 0; task < 20; ++task) {
      all.push_back(draw(0, 1) == 0
                        ? access(task, draw(0, kBlocks - 1), draw(1, kBlocks), draw(0, 1))
                        : rows_access(task, draw(0, 3), draw(1, 4), draw(0, 1)));
      list.add(all.back());
    }
    const Access probe = draw(0, 1) == 0 ? access(20, draw(0, kBlocks - 1), draw(1, kBlocks))
                                         : rows_access(20, draw(0, 3), draw(1, 4));
    const std::set<int> wanted = blocks_of(probe.where);
    std::vector<int> overlapping;
    for (const Access& other : all) {
      const std::set<int> blocks = blocks_of(other.where);
      const bool same_rows = other.where.first_row < probe.where.end_row &&
                             probe.where.first_row < other.where.end_row;
      if (same_rows &&
          std::any_of(blocks.begin(), blocks.end(), [&](int b) { return wanted.contains(b); })) {
        overlapping.push_back(other.task);
      }
    }
    EXPECT_THAT(tasks_near(list, probe), IsSupersetOf(overlapping));
  }
}

}  // namespace
}  // namespace moesim
