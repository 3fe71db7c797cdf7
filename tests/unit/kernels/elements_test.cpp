// Elements of devices' buffers: BF16, and loads and stores of packs.
#include "kernels/core/elements.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include <gmock/gmock.h>

namespace moesim {
namespace {

using ::testing::ElementsAre;

float from_bits(uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

TEST(Bfloat16Test, EveryOneBecomesItselfAgain) {
  for (uint32_t bits = 0; bits <= 0xFFFFU; ++bits) {
    const Bfloat16 value{static_cast<uint16_t>(bits)};
    const bool is_nan = (bits & 0x7F80U) == 0x7F80U && (bits & 0x7FU) != 0;
    const uint32_t quiet = is_nan ? bits | 0x40U : bits;
    EXPECT_EQ(to_bfloat16(to_float(value)).bits, quiet);
  }
}

TEST(Bfloat16Test, RoundsToTheNearestAndTiesToEven) {
  // Around 1 (0x3F80) neighbours are 2^-7 apart: 0x0000 to 0xFFFF of the lower half.
  EXPECT_EQ(to_bfloat16(from_bits(0x3F807FFFU)).bits, 0x3F80U);  // below the tie
  EXPECT_EQ(to_bfloat16(from_bits(0x3F808000U)).bits, 0x3F80U);  // a tie: down to even
  EXPECT_EQ(to_bfloat16(from_bits(0x3F808001U)).bits, 0x3F81U);
  EXPECT_EQ(to_bfloat16(from_bits(0x3F818000U)).bits, 0x3F82U);  // a tie: up to even
  EXPECT_EQ(to_bfloat16(from_bits(0xBF818000U)).bits, 0xBF82U);
  EXPECT_EQ(to_bfloat16(-0.0F).bits, 0x8000U);
  // 2^127 * (2 - 2^-8) and above is nearer to infinity than to the largest, 2^127 * (2 - 2^-7).
  EXPECT_EQ(to_bfloat16(from_bits(0x7F7F7FFFU)).bits, 0x7F7FU);
  EXPECT_EQ(to_bfloat16(from_bits(0x7F7F8000U)).bits, 0x7F80U);
  EXPECT_EQ(to_bfloat16(std::numeric_limits<float>::infinity()).bits, 0x7F80U);
}

TEST(Bfloat16Test, NanStaysNan) {
  EXPECT_TRUE(std::isnan(to_float(to_bfloat16(from_bits(0x7F800001U)))));  // only in the lower half
  EXPECT_TRUE(std::isnan(to_float(to_bfloat16(from_bits(0xFFFFFFFFU)))));
}

class ElementsTest : public ::testing::TestWithParam<ElementType> {
 protected:
  static constexpr int kSize = 3 * kPackSize;

  ElementsTest() {
    for (int i = 0; i < kSize; ++i) {
      elements().store(i, static_cast<float>(i));  // exact in both
    }
  }

  Elements elements() { return {reinterpret_cast<DeviceAddress>(memory_.data()), GetParam()}; }
  std::vector<float> all() {
    std::vector<float> values;
    for (int i = 0; i < kSize; ++i) {
      values.push_back(elements().load(i));
    }
    return values;
  }

 private:
  alignas(16) std::array<std::byte, kSize * sizeof(float)> memory_{};
};

// From 8 on eight stand aligned, from 9 on they do not.
TEST_P(ElementsTest, PacksAreLoadedWhereverTheyStand) {
  EXPECT_THAT(elements().load_pack(8, 8).values, ElementsAre(8, 9, 10, 11, 12, 13, 14, 15));
  EXPECT_THAT(elements().load_pack(9, 8).values, ElementsAre(9, 10, 11, 12, 13, 14, 15, 16));
  EXPECT_THAT(elements().from(1).load_pack(8, 8).values,
              ElementsAre(9, 10, 11, 12, 13, 14, 15, 16));
  EXPECT_THAT(elements().load_pack(8, 3).values, ElementsAre(8, 9, 10, 0, 0, 0, 0, 0));
}

TEST_P(ElementsTest, PacksAreStoredWhereverTheyStandAndNoOthers) {
  const Pack pack{{50, 51, 52, 53, 54, 55, 56, 57}};
  std::vector<float> expected = all();
  const auto store = [&](int first, int count) {
    elements().store_pack(first, count, pack);
    std::copy_n(pack.values, count, expected.begin() + first);
    EXPECT_EQ(all(), expected);
  };
  store(8, 8);
  store(1, 8);
  store(16, 3);
}

INSTANTIATE_TEST_SUITE_P(Types,
                         ElementsTest,
                         ::testing::Values(ElementType::kFloat32, ElementType::kBfloat16));

}  // namespace
}  // namespace moesim
