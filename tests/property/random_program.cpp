#include "tests/property/random_program.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace moesim::testing {
namespace {

constexpr int kNumRanks = 6;
constexpr int kNumBlocks = 12;  // slots for groups of 2, 3 and 6, also in runs of 2 and 3

class Generator {
 public:
  explicit Generator(Random& random) : random_(random), builder_("random", kNumRanks) {
    add_roles();
    builder_.add_group({"pairs", {{0, 3}, {1, 4}, {2, 5}}});
    builder_.add_group({"triples", {{2, 1, 0}, {3, 4, 5}}});
    builder_.add_group({"world", {{0, 1, 2, 3, 4, 5}}});
    builder_.add_group({"some", {{1, 2}, {4, 3}}});
    // Everything is written at first, so that any read is right and any write an addition.
    for (int i = 0; i < 3; ++i) {
      builder_.add_tensor({fmt::format("x{}", i),
                           kNumBlocks,
                           static_cast<int>(random_.uniform_int(1, 5)),
                           1,
                           DataType::kFp32,
                           true,
                           0,
                           {}});
    }
    num_streams_ = pick(1, 4);
  }

  void add_task(int index) {
    Task task;
    task.name = fmt::format("t{}", index);
    const int kind = pick(0, 9);
    if (kind == 0) {
      task.descriptor = HostWait{};
    } else {
      task.stream = builder_.stream(fmt::format("s{}", pick(1, num_streams_)));
      task.descriptor = Fixed{};
    }
    if (kind >= 7) {
      add_collective(task, kind);
    } else {
      for (int i = pick(0, 2); i > 0; --i) {
        task.reads.push_back(random_region());
      }
      for (int i = kind == 0 ? 0 : pick(0, 2); i > 0; --i) {
        add_to(task, random_region());
      }
      pick_roles(task);
    }
    builder_.add_task(std::move(task));
  }

  Program build() && { return std::move(builder_).build(); }

 private:
  int pick(int first, int last) { return static_cast<int>(random_.uniform_int(first, last)); }

  void add_roles() {
    num_roles_ = pick(0, 2);
    if (num_roles_ == 1) {
      builder_.add_role({"even", {0, 2, 4}});  // the others have none
    } else if (num_roles_ == 2) {
      builder_.add_role({"low", {0, 1, 2}});
      builder_.add_role({"high", {3, 4, 5}});
    }
  }

  void pick_roles(Task& task) {
    if (num_roles_ > 0 && pick(0, 1) == 1) {
      task.roles = {pick(0, num_roles_ - 1)};
    }
  }

  Region random_region() {
    const int tensor = pick(0, 2);
    const int rows = builder_.tensor(tensor).rows;
    const int first_row = pick(0, rows - 1);
    Region region{tensor, 0, kNumBlocks, first_row, pick(1, rows - first_row), kNone};
    if (pick(0, 1) == 1) {
      region.relative_to = pick(0, 2);
      region.first_block = pick(-kNumBlocks, kNumBlocks);
      region.num_blocks = pick(1, kNumBlocks);
    } else if (pick(0, 2) != 0) {
      region.first_block = pick(0, kNumBlocks - 1);
      region.num_blocks = pick(1, kNumBlocks - region.first_block);
    }
    return region;
  }

  static void add_to(Task& task, const Region& region) {
    task.reads.push_back(region);
    task.writes.push_back(region);
  }

  // In place over some group; a gather adds to runs in which the members' rows lie as in their own
  // buffers.
  void add_collective(Task& task, int kind) {
    Collective collective;
    collective.group = pick(0, 3);
    Region region = random_region();
    if (kind == 7) {
      collective.operation = CollectiveOperation::kAllReduce;
      add_to(task, region);
    } else if (kind == 8) {
      collective.operation = CollectiveOperation::kShift;
      collective.distance = pick(-2, 2);
      collective.wrap = pick(0, 1) == 1;
      add_to(task, region);
    } else {
      collective.operation = CollectiveOperation::kAllGather;
      const auto size = static_cast<int>(builder_.group(collective.group).members[0].size());
      region.relative_to = pick(0, 1);
      region.num_blocks = size * pick(1, kNumBlocks / size);
      // A run has a slot for each member of pairs only where it holds an even number of blocks.
      if ((kNumBlocks / size) % (region.relative_to == 0 ? 2 : 3) != 0) {
        region.relative_to = kNone;
        region.first_block = 0;
      }
      task.reads.push_back(
          {region.tensor, 0, kNumBlocks, region.first_row, region.num_rows, kNone});
      task.writes.push_back(region);
    }
    task.descriptor = collective;
  }

  Random& random_;
  ProgramBuilder builder_;
  int num_roles_ = 0;
  int num_streams_ = 1;
};

}  // namespace

Program random_program(Random& random, int num_tasks) {
  Generator generator(random);
  for (int index = 0; index < num_tasks; ++index) {
    generator.add_task(index);
  }
  return std::move(generator).build();
}

}  // namespace moesim::testing
