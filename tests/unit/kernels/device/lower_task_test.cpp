// Which steps a task becomes. What they compute is compared with the host in tests/property.
#include "kernels/device/lower_task.h"

#include <gmock/gmock.h>

#include "sim/base/error.h"
#include "tests/unit/kernels/device/device_bench.h"

namespace moesim {
namespace {

using testing::DeviceBench;
using ::testing::ElementsAre;

std::vector<DeviceStep> lower(const Program& program,
                              Rounding rounding = Rounding::kOff,
                              Storage storage = Storage::kFloat32) {
  const RowMap map(program);
  LoweringSpace space(program, storage);
  return lower_task({&map, &program.tasks.back(), 0, rounding}, space);
}

std::vector<std::string> names(const std::vector<DeviceStep>& steps) {
  std::vector<std::string> names;
  for (const DeviceStep& step : steps) {
    names.emplace_back(name_of(step.action));
  }
  return names;
}

const std::vector<Product>& products(const DeviceStep& step) {
  return std::get<Products>(step.action).products;
}

TEST(LowerTaskTest, NothingForTasksThatDoNotCompute) {
  DeviceBench bench;
  bench.add(HostWait{}, {}, {});
  EXPECT_TRUE(lower(bench.program()).empty());
  bench.add(Expert{{0}, false}, {}, {});  // without regions there is nothing to compute on
  EXPECT_TRUE(lower(bench.program()).empty());
}

TEST(LowerTaskTest, OperandsAreChecked) {
  DeviceBench bench;
  bench.add(Order{{0}}, {bench.tensor(1, 4, 2)}, {bench.tensor(1, 4, 2)});
  EXPECT_THROW(lower(bench.program()), Error);  // no index
}

class ExpertTest : public ::testing::Test {
 protected:
  // Two blocks of 5 rows of M = 4 columns, an expert for each, of 3 hidden columns.
  Program forward(bool swiglu, DataType type = DataType::kFp32) {
    DeviceBench bench;
    std::vector<int> reads{bench.tensor(2, 5, 4, true, type)};
    for (int i = 0; i < (swiglu ? 3 : 2); ++i) {
      reads.push_back(bench.tensor(2, 3, 4, true, type));
    }
    const int y = bench.tensor(2, 5, 4, false, type);
    bench.add(Expert{{0, 1}, swiglu}, reads, {y, bench.tensor(2, 5, swiglu ? 6 : 3, false, type)});
    return bench.program();
  }
};

TEST_F(ExpertTest, ProductsOfAllBlocksAreOneGroup) {
  const std::vector<DeviceStep> steps = lower(forward(true));
  EXPECT_THAT(names(steps), ElementsAre("products", "activate", "products"));
  EXPECT_EQ(products(steps[0]).size(), 4U);  // two of each block
  EXPECT_EQ(products(steps[2]).size(), 2U);
  EXPECT_EQ(steps[0].work.flops, 4 * 2 * 5 * 4 * 3);
  EXPECT_EQ(std::get<Kernel>(steps[1].action).blocks, 10);  // rows
}

TEST_F(ExpertTest, OnlyWhatIsRoundedIsCopied) {
  EXPECT_THAT(names(lower(forward(false), Rounding::kExact)),
              ElementsAre("combine_pieces", "products", "activate", "products"));
}

TEST_F(ExpertTest, FactorsAreOfTheStoredType) {
  const Program program = forward(false, DataType::kBf16);
  const std::vector<DeviceStep> own = lower(program, Rounding::kOff, Storage::kOwnType);
  EXPECT_THAT(names(own), ElementsAre("products", "activate", "products"));
  EXPECT_EQ(products(own[2])[0].left.at.type, ElementType::kBfloat16);
  EXPECT_EQ(products(lower(program)[2])[0].left.at.type, ElementType::kFloat32);
}

// Six heads of two keys' and values': the first of each share of three, then the second, the third.
TEST(AttentionTest, HeadsAreBatches) {
  DeviceBench bench;
  constexpr int kQkv = (6 + 2 * 2) * 8;
  const int x = bench.tensor(1, 16, 4, true);
  const int w = bench.tensor(1, kQkv + 48, 4, true);
  bench.add(Attention{6, 2, 8, true},
            {x, w},
            {bench.tensor(1, 16, kQkv), bench.tensor(1, 16, 48), bench.tensor(1, 16, 4)});
  const std::vector<DeviceStep> steps = lower(bench.program());
  EXPECT_THAT(names(steps),
              ElementsAre("products", "products", "softmax_rows", "products", "products"));
  ASSERT_EQ(products(steps[1]).size(), 3U);
  const Product& second = products(steps[1])[1];
  EXPECT_EQ(second.batch, 2);
  EXPECT_EQ(second.left_step, 3 * 8);          // from head 1 to head 4
  EXPECT_EQ(second.right_step, 8);             // from the first keys to the second
  EXPECT_EQ(second.target_step, 3 * 16 * 16);  // of scores
  EXPECT_EQ(std::get<Kernel>(steps[2].action).blocks, 6 * 16);
}

TEST(OrderTest, SlotsAreBlocksAndRowsAreBlocks) {
  DeviceBench bench;
  const int x = bench.tensor(1, 7, 4, true);
  const int index = bench.tensor(2, 5, 1, true, DataType::kInt32);
  const int buffer = bench.tensor(2, 5, 4, true);
  bench.add(Order{{0, 1}}, {x, index}, {buffer});
  EXPECT_THAT(names(lower(bench.program())), ElementsAre("gather_rows"));
  bench.add(Order{{0, 1}}, {buffer, index}, {x}, Pass::kBackward);
  const std::vector<DeviceStep> steps = lower(bench.program());
  EXPECT_THAT(names(steps), ElementsAre("fill", "map_slots", "sum_slots"));
  EXPECT_EQ(std::get<Kernel>(steps[2].action).blocks, 7);
}

}  // namespace
}  // namespace moesim
