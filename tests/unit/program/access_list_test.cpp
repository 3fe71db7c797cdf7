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

TEST(AccessListTest, ErasesOnlyWhatIsNear) {
  AccessList list;
  list.add(access(0, 0, 2));
  list.add(access(1, 2, 2));
  list.erase_near_if(access(9, 2, 2).where, [](const Access&) { return true; });
  EXPECT_THAT(tasks_near(list, access(9, 0, kBlocks)), ElementsAre(0));
}

// Whatever shares a block with the probe is found.
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
      all.push_back(access(task, draw(0, kBlocks - 1), draw(1, kBlocks), draw(0, 1)));
      list.add(all.back());
    }
    const Access probe = access(20, draw(0, kBlocks - 1), draw(1, kBlocks));
    const std::set<int> wanted = blocks_of(probe.where);
    std::vector<int> overlapping;
    for (const Access& other : all) {
      const std::set<int> blocks = blocks_of(other.where);
      if (std::any_of(blocks.begin(), blocks.end(), [&](int b) { return wanted.contains(b); })) {
        overlapping.push_back(other.task);
      }
    }
    EXPECT_THAT(tasks_near(list, probe), IsSupersetOf(overlapping));
  }
}

}  // namespace
}  // namespace moesim
