#include "kernels/device/lowering_space.h"

#include <gmock/gmock.h>

#include "sim/base/random.h"

namespace moesim {
namespace {

Program two_ranks() {
  Program program;
  program.num_ranks = 2;
  program.streams = {"compute", "inter"};
  program.tensors = {{"x", 2, 3, 5, DataType::kBf16, true, 0, {}},
                     {"index", 1, 4, 1, DataType::kInt32, false, 0, {}},
                     {"state", 1, 3, 10, DataType::kFp32, true, 0, {}},
                     {"code", 1, 1, 8, DataType::kFp8E4m3, false, 0, {}}};
  return program;
}

TEST(LoweringSpaceTest, TypesFollowTheStorage) {
  const Program program = two_ranks();
  const auto type = [&](size_t tensor, Storage storage) {
    return element_type(program.tensors[tensor], storage);
  };
  EXPECT_EQ(type(0, Storage::kFloat32), ElementType::kFloat32);
  EXPECT_EQ(type(0, Storage::kOwnType), ElementType::kBfloat16);
  EXPECT_EQ(type(1, Storage::kOwnType), ElementType::kInt32);
  EXPECT_EQ(type(2, Storage::kOwnType), ElementType::kFloat32);
  EXPECT_EQ(type(3, Storage::kOwnType), ElementType::kBfloat16);  // no kernels for FP8
  EXPECT_EQ(device_bytes(program.tensors[0], Storage::kFloat32), 2 * 3 * 5 * 4);
  EXPECT_EQ(device_bytes(program.tensors[0], Storage::kOwnType), 2 * 3 * 5 * 2);
}

TEST(LoweringSpaceTest, RowsFollowTheBase) {
  const Program program = two_ranks();
  DeviceBases bases;
  bases.tensors = {{}, {0x1000, 0x2000, 0x3000, 0x4000}};
  const LoweringSpace space(program, Storage::kOwnType, bases);
  EXPECT_EQ(space.tensor(1, 0).address, 0x1000U);
  EXPECT_EQ(space.tensor(1, 0, 4).address, 0x1000U + 4 * 5 * 2);
  EXPECT_EQ(space.tensor(1, 2, 1).address, 0x3000U + 10 * 4);
}

TEST(LoweringSpaceDeathTest, OtherRanksHaveNoMemory) {
  const Program program = two_ranks();
  DeviceBases bases;
  bases.tensors = {{}, {0, 0, 0, 0}};
  const LoweringSpace space(program, Storage::kOwnType, bases);
  EXPECT_DEATH(space.tensor(0, 0), "rank 0 is not on this device");
}

TEST(LoweringSpaceTest, EqualNumbersAreThereOnce) {
  const Program program = two_ranks();
  LoweringSpace space(program, Storage::kFloat32);
  const int32_t* first = space.numbers({1, 2, 3});
  EXPECT_EQ(space.numbers({1, 2, 3}), first);
  EXPECT_NE(space.numbers({1, 2}), first);
  const std::vector<int32_t> table{1, 2, 3};
  EXPECT_NE(space.table(table), first);  // it may hold addresses
  EXPECT_EQ(space.tables().size(), 3U * 16);
}

// What a task takes between two rewinds is disjoint and lies inside of its owner's area, whose size
// a first pass has learnt.
TEST(LoweringSpaceTest, ScratchDoesNotOverlap) {
  constexpr uint64_t kSeed = 20260503;
  const Program program = two_ranks();
  struct Taken {
    ScratchOwner owner;
    DeviceAddress first = 0;
    DeviceAddress end = 0;
  };
  const auto lower = [&](LoweringSpace& space, uint64_t trial) {
    Random random(kSeed, trial);
    const auto below = [&](int64_t count) { return random.uniform_int(0, count - 1); };
    std::vector<Taken> all;
    for (int task = 0; task < 8; ++task) {
      const ScratchOwner owner{static_cast<int>(below(2)), static_cast<int>(below(2))};
      space.begin_task(owner);
      std::vector<Taken> live;
      for (int i = 0; i < 5; ++i) {
        const int64_t mark = space.scratch_mark();
        const int64_t bytes = below(1000);
        const DeviceAddress first = space.scratch(bytes);
        const Taken taken{owner, first, first + static_cast<DeviceAddress>(bytes)};
        EXPECT_EQ(first % kDeviceAlignment, 0U);
        for (const Taken& other : live) {
          EXPECT_TRUE(taken.end <= other.first || other.end <= taken.first)
              << "seed " << kSeed << ", trial " << trial;
        }
        all.push_back(taken);
        if (below(3) == 0) {
          space.rewind_scratch(mark);  // it may be taken again
        } else {
          live.push_back(taken);
        }
      }
    }
    return all;
  };
  for (uint64_t trial = 0; trial < 50; ++trial) {
    LoweringSpace sizes(program, Storage::kFloat32);
    lower(sizes, trial);
    DeviceBases bases;
    bases.tensors.resize(2);
    DeviceAddress next = 1 << 20;
    for (const auto& [owner, bytes] : sizes.scratch_bytes()) {
      bases.scratch[owner] = next;
      next += static_cast<DeviceAddress>(bytes);
    }
    LoweringSpace space(program, Storage::kFloat32, bases);
    for (const Taken& taken : lower(space, trial)) {
      const DeviceAddress base = bases.scratch.at(taken.owner);
      EXPECT_LE(base, taken.first);
      EXPECT_LE(taken.end,
                base + static_cast<DeviceAddress>(sizes.scratch_bytes().at(taken.owner)));
    }
  }
}

}  // namespace
}  // namespace moesim
