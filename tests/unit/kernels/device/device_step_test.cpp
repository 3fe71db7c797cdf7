#include "kernels/device/device_step.h"

#include <gtest/gtest.h>

namespace moesim {
namespace {

TEST(DeviceStepTest, WorkOfProducts) {
  // 3 x 5 times 5 x 2: 2 * 3 * 5 * 2 = 60 operations; 15 + 10 elements in, 6 out.
  const Elements bf16{0, ElementType::kBfloat16};
  const Product product{.left = {bf16, 3, 5, 5},
                        .right = {bf16, 5, 2, 2},
                        .target = {0, ElementType::kFloat32},
                        .target_stride = 2};
  EXPECT_EQ(products_step({{product}}).work.bytes, 25 * 2 + 6 * 4);
  EXPECT_EQ(products_step({{product}}).work.flops, 60);
  // Added to, the target is read as well; twice in a batch, and twice in the group.
  Product more = product;
  more.add = true;
  more.batch = 2;
  EXPECT_EQ(products_step({{more, more}}).work.bytes, 4 * (25 * 2 + 2 * 6 * 4));
  EXPECT_EQ(products_step({{more, more}}).work.flops, 240);
}

TEST(DeviceStepTest, WorkOfFillsAndCopies) {
  EXPECT_EQ(fill_step({0, 100, 0}).work.bytes, 100);
  EXPECT_EQ(copy_step({0, 0, 100}).work.bytes, 200);  // read and written
}

TEST(DeviceStepTest, NamesAndThreads) {
  EXPECT_STREQ(name_of(Fill{}), "fill");
  EXPECT_STREQ(name_of(Copy{}), "copy");
  EXPECT_STREQ(name_of(Products{}), "products");
  EXPECT_STREQ(name_of(Kernel{SumSlots{}, 1}), "sum_slots");
  EXPECT_STREQ(name_of(Kernel{OptimizerStep{}, 1}), "optimizer_step");
  EXPECT_EQ(threads_of(GateChoices{}), 32);
  EXPECT_EQ(threads_of(CombinePieces{}), 256);
}

TEST(DeviceStepTest, TransposedMatricesChangePlaces) {
  const DeviceMatrix matrix{{}, 3, 5, 7};
  EXPECT_EQ(matrix.transposed().rows, 5);
  EXPECT_EQ(matrix.transposed().columns, 3);
  EXPECT_EQ(matrix.transposed().stride, 7);
  EXPECT_FALSE(matrix.transposed().transposed().is_transposed);
}

}  // namespace
}  // namespace moesim
