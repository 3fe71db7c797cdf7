// Elements of devices' buffers: BF16, and loads and stores of four.
#include "kernels/core/elements.h"

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
  static constexpr int kSize = 12;

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

// From 4 on four stand aligned, from 5 on they do not.
TEST_P(ElementsTest, FourAreLoadedWhereverTheyStand) {
  EXPECT_THAT(elements().load_four(4, 4).values, ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(elements().load_four(5, 4).values, ElementsAre(5, 6, 7, 8));
  EXPECT_THAT(elements().from(1).load_four(4, 4).values, ElementsAre(5, 6, 7, 8));
  EXPECT_THAT(elements().load_four(4, 3).values, ElementsAre(4, 5, 6, 0));
}

TEST_P(ElementsTest, FourAreStoredWhereverTheyStandAndNoOthers) {
  const Four four{{20, 21, 22, 23}};
  elements().store_four(4, 4, four);
  EXPECT_THAT(all(), ElementsAre(0, 1, 2, 3, 20, 21, 22, 23, 8, 9, 10, 11));
  elements().store_four(1, 4, four);
  EXPECT_THAT(all(), ElementsAre(0, 20, 21, 22, 23, 21, 22, 23, 8, 9, 10, 11));
  elements().store_four(8, 2, four);
  EXPECT_THAT(all(), ElementsAre(0, 20, 21, 22, 23, 21, 22, 23, 20, 21, 10, 11));
}

INSTANTIATE_TEST_SUITE_P(Types,
                         ElementsTest,
                         ::testing::Values(ElementType::kFloat32, ElementType::kBfloat16));

}  // namespace
}  // namespace moesim
