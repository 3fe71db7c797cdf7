#include "kernels/kernel_times.h"

#include <gtest/gtest.h>

namespace moesim {
namespace {

Time us(int64_t microseconds) {
  return Time::from_picoseconds(1'000'000 * microseconds);
}

// 6 MB in 3 us are 2 TB/s; 4 GFLOP in 40 us are 100 TFLOP/s, 400 KB in them 10 GB/s.
TEST(KernelTimesTest, TableHasTheLongestFirst) {
  EXPECT_EQ(
      to_text({{.name = "map_slots", .count = 3, .total = us(3), .bytes = 6'000'000},
               {.name = "products", .count = 2, .total = us(40), .bytes = 400'000, .flops = 4e9}}),
      R"(
kernels, each step alone, in an iteration of their own
  name                       steps         total          mean        memory      products
  products                       2     40.000 us     20.000 us       10 GB/s 100.0 TFLOP/s
  map_slots                      3      3.000 us      1.000 us        2 TB/s             -
)");
}

TEST(KernelTimesTest, NothingIsNoTable) {
  EXPECT_EQ(to_text({}), "");
}

// What was too short for the device's clock has no rate.
TEST(KernelTimesTest, NoTimeIsNoRate) {
  const KernelTime time{.name = "fill", .count = 1, .total = {}, .bytes = 8};
  EXPECT_EQ(time.bytes_per_second(), 0);
}

}  // namespace
}  // namespace moesim
