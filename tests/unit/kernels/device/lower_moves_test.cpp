#include "kernels/device/lower_moves.h"

#include <gmock/gmock.h>

#include "tests/support/device_interpreter.h"

namespace moesim {
namespace {

using testing::BlockOrder;
using ::testing::ElementsAre;

// Ranks with one tensor of eight rows of one column, in host memory that a device may reach.
class LowerMovesTest : public ::testing::Test {
 protected:
  LowerMovesTest() {
    program_.num_ranks = kRanks;
    program_.streams = {"inter"};
    program_.tensors = {{"t", 1, kRows, 1, DataType::kFp32, true, 0, {}}};
    for (int rank = 0; rank < kRanks; ++rank) {
      for (int row = 0; row < kRows; ++row) {
        values_[rank][row] = static_cast<float>(10 * rank + row);
      }
    }
  }

  LoweringSpace& space() {
    DeviceBases bases;
    for (auto& values : values_) {
      bases.tensors.push_back({reinterpret_cast<DeviceAddress>(values)});
    }
    bases.scratch[{0, 0}] = reinterpret_cast<DeviceAddress>(scratch_);
    bases.tables = reinterpret_cast<DeviceAddress>(tables_);
    return space_.emplace(program_, Storage::kFloat32, bases);
  }

  void interpret(const std::vector<DeviceStep>& steps) {
    std::copy(space_->tables().begin(), space_->tables().end(), tables_);
    testing::DeviceInterpreter interpreter(BlockOrder::kDescending);
    for (const DeviceStep& step : steps) {
      interpreter.run(step);
    }
  }

  static constexpr int kRanks = 3;
  static constexpr int kRows = 8;
  Program program_;
  float values_[kRanks][kRows];
  alignas(16) float scratch_[256];
  alignas(16) std::byte tables_[4096];
  std::optional<LoweringSpace> space_;
};

// Three members' rows become one sum: a launch that reads each once and writes the sum once, though
// the runs of the sources are cut in different places.
TEST_F(LowerMovesTest, SumsAreOneLaunch) {
  MovePlan plan;
  plan.columns = 1;
  plan.steps = {{{{0, 0, 0}, {2, 0, 4}, 4, false},
                 {{1, 0, 0}, {2, 0, 4}, 2, true},
                 {{1, 0, 6}, {2, 0, 6}, 2, true},
                 {{2, 0, 0}, {2, 0, 5}, 1, true}}};
  const std::vector<DeviceStep> steps = lower_moves({&plan, {0, 1, 2}, 0}, 0, kNone, space());
  ASSERT_EQ(steps.size(), 1U);
  // 4 rows written; 4 + 4 + 1 read.
  EXPECT_EQ(steps[0].work.bytes, (4 + 9) * 4);
  interpret(steps);
  // 0 + 10, 1 + 11 + 20, 2 + 16, 3 + 17.
  EXPECT_THAT(values_[2], ElementsAre(20, 21, 22, 23, 10, 32, 18, 20));
}

TEST_F(LowerMovesTest, LaterCopiesTakeThePlaceOfEarlierOnesAndSumsAddToWhatStands) {
  MovePlan plan;
  plan.columns = 1;
  plan.steps = {{{{0, 0, 0}, {1, 0, 0}, 4, false},
                 {{0, 0, 6}, {1, 0, 1}, 2, false},
                 {{0, 0, 7}, {1, 0, 7}, 1, true}}};
  interpret(lower_moves({&plan, {0, 1, 2}, 0}, 0, kNone, space()));
  EXPECT_THAT(values_[1], ElementsAre(0, 6, 7, 3, 14, 15, 16, 17 + 7));
}

TEST_F(LowerMovesTest, MembersTakeTheirOwnPart) {
  MovePlan plan;
  plan.columns = 1;
  plan.clears = {{{0, 0, 2}, 1}, {{1, 0, 3}, 2}};
  plan.steps = {{{{0, 0, 0}, {1, 0, 0}, 1, false}, {{1, 0, 7}, {0, 0, 7}, 1, false}}};
  const MoveSite site{&plan, {0, 1, 2}, 0};
  std::vector<DeviceStep> steps = lower_clears(site, 1, space());
  const std::vector<DeviceStep> moves = lower_moves(site, 0, 1, *space_);
  steps.insert(steps.end(), moves.begin(), moves.end());
  EXPECT_TRUE(lower_moves(site, 0, 2, *space_).empty());
  interpret(steps);
  EXPECT_THAT(values_[0], ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(values_[1], ElementsAre(0, 11, 12, 0, 0, 15, 16, 17));
}

}  // namespace
}  // namespace moesim
