#include "kernels/device/pieces.h"

#include <cmath>

#include <gmock/gmock.h>

#include "tests/support/device_interpreter.h"

namespace moesim {
namespace {

using testing::BlockOrder;
using ::testing::ElementsAre;

ElementRun run_of(const std::vector<float>& values, size_t first, int64_t count) {
  return {{reinterpret_cast<DeviceAddress>(values.data() + first), ElementType::kFloat32}, count};
}

// Interprets the pieces with their tables where the space put them: at the address 0 of its tables,
// which the test moves to host memory.
void interpret(const PieceList& pieces,
               Combination combination,
               Rounding rounding = Rounding::kOff) {
  const Program program;
  alignas(16) std::byte tables[1 << 16];
  DeviceBases bases;
  bases.tables = reinterpret_cast<DeviceAddress>(tables);
  LoweringSpace space(program, Storage::kFloat32, bases);
  const DeviceStep step = pieces.step(combination, rounding, space);
  ASSERT_LE(space.tables().size(), sizeof(tables));
  std::copy(space.tables().begin(), space.tables().end(), tables);
  testing::DeviceInterpreter(BlockOrder::kDescending).run(step);
}

TEST(PiecesTest, RunsThatTouchAreOne) {
  const std::vector<float> values(10);
  const std::vector<ElementRun> runs = joined(
      {run_of(values, 0, 2), run_of(values, 2, 0), run_of(values, 2, 3), run_of(values, 6, 1)});
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].count, 5);
  EXPECT_EQ(runs[1].count, 1);
}

TEST(PiecesTest, ListsAreCutWhereARunEnds) {
  const std::vector<float> first{1, 2, 3, 4, 5};
  const std::vector<float> second{10, 20, 30, 40, 50};
  std::vector<float> to(6, -1);
  PieceList pieces;
  // Runs of 2 + 3, of 5, and of 1 + 4 elements.
  pieces.add({run_of(to, 0, 2), run_of(to, 3, 3)},
             {{run_of(first, 0, 5)}, {run_of(second, 4, 1), run_of(second, 0, 4)}});
  interpret(pieces, Combination::kSum);
  EXPECT_THAT(to, ElementsAre(51, 12, -1, 23, 34, 45));
}

TEST(PiecesTest, Combinations) {
  const std::vector<float> first{-0.0F, 1.3F};
  const std::vector<float> second{-0.0F, 0.5F};
  std::vector<float> to(2);
  const auto combine = [&](Combination combination, size_t sources, Rounding rounding) {
    PieceList pieces;
    std::vector<Elements> from{run_of(first, 0, 2).at, run_of(second, 0, 2).at};
    from.resize(sources);
    pieces.add(run_of(to, 0, 2), from);
    interpret(pieces, combination, rounding);
  };
  combine(Combination::kSum, 1, Rounding::kOff);
  EXPECT_TRUE(std::signbit(to[0]));  // a copy
  EXPECT_EQ(to[1], 1.3F);
  combine(Combination::kSumFromZero, 2, Rounding::kOff);
  EXPECT_FALSE(std::signbit(to[0]));  // 0 + -0 + -0
  EXPECT_EQ(to[1], 1.8F);
  combine(Combination::kLoss, 2, Rounding::kExact);
  EXPECT_EQ(to[1], 1.25F - 0.5F);  // 10.4 eighths
  combine(Combination::kLoss, 1, Rounding::kOff);
  EXPECT_EQ(to[1], 1.3F);
  combine(Combination::kZero, 0, Rounding::kOff);
  EXPECT_THAT(to, ElementsAre(0, 0));
}

// Indices are moved by the same kernel: every bit of them, also where they would be NaN.
TEST(PiecesTest, NumbersKeepTheirBits) {
  const std::vector<int32_t> from{-1, 5, 0x7F800001, -4};
  std::vector<int32_t> to(from.size());
  const auto elements = [](const std::vector<int32_t>& numbers) {
    return Elements{reinterpret_cast<DeviceAddress>(numbers.data()), ElementType::kInt32};
  };
  PieceList pieces;
  pieces.add({elements(to), 4}, {elements(from)});
  interpret(pieces, Combination::kSum);
  EXPECT_EQ(to, from);
}

TEST(PiecesTest, LongRunsAreCut) {
  constexpr int kCount = 2 * CombinePieces::kMostElements + 3;
  std::vector<float> from(kCount);
  for (size_t i = 0; i < from.size(); ++i) {
    from[i] = static_cast<float>(i);
  }
  std::vector<float> to(kCount);
  PieceList pieces;
  pieces.add(run_of(to, 0, kCount), {run_of(from, 0, 0).at});
  const Program program;
  LoweringSpace space(program, Storage::kFloat32);
  const DeviceStep step = pieces.step(Combination::kSum, Rounding::kOff, space);
  EXPECT_EQ(std::get<Kernel>(step.action).blocks, 3);
  EXPECT_EQ(step.work.bytes, 2 * 4 * kCount);  // each element read once, written once
  interpret(pieces, Combination::kSum);
  EXPECT_EQ(to, from);
}

TEST(PiecesDeathTest, SourcesMustBeAsLong) {
  const std::vector<float> values(4);
  PieceList pieces;
  EXPECT_DEATH(pieces.add({run_of(values, 0, 4)}, {{run_of(values, 0, 3)}}), "fewer elements");
}

}  // namespace
}  // namespace moesim
