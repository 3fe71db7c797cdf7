#include "sim/base/random.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

namespace moesim {
namespace {

// The first outputs of SplitMix64 for seed 0, as other implementations print them.
TEST(RandomTest, MatchesTheReferenceSequence) {
  Random random(0);
  EXPECT_EQ(random.next(), 0xe220a8397b1dcdafU);
  EXPECT_EQ(random.next(), 0x6e789e6aa1b965f4U);
  EXPECT_EQ(random.next(), 0x06c45d188009454fU);
}

TEST(RandomTest, SameSeedAndStreamGiveTheSameNumbers) {
  Random first(7, 3);
  Random second(7, 3);
  Random other(7, 4);
  const std::uint64_t draw = first.next();
  EXPECT_EQ(draw, second.next());
  EXPECT_NE(draw, other.next());
}

// 60,000 throws of a die: each face has mean 10,000 and standard deviation
// sqrt(60000 * 1/6 * 5/6) = 91.3; 500 is more than five of those.
TEST(RandomTest, UniformIntIsEven) {
  Random random(1);
  std::array<int, 6> counts{};
  for (int i = 0; i < 60'000; ++i) {
    const std::int64_t face = random.uniform_int(-2, 3);
    ASSERT_GE(face, -2);
    ASSERT_LE(face, 3);
    ++counts[static_cast<std::size_t>(face + 2)];
  }
  for (const int count : counts) {
    EXPECT_NEAR(count, 10'000, 500);
  }
}

TEST(RandomTest, UniformIntTakesAnyRange) {
  Random random(1);
  EXPECT_EQ(random.uniform_int(5, 5), 5);
  Random same(1);
  random = Random(1);
  constexpr auto kLowest = std::numeric_limits<std::int64_t>::min();
  constexpr auto kHighest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(random.uniform_int(kLowest, kHighest), static_cast<std::int64_t>(same.next()));
}

// The mean of n uniform numbers has standard deviation 1 / sqrt(12 n) = 0.0029 for n = 10,000.
TEST(RandomTest, UniformFillsItsRange) {
  Random random(2);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double value = random.uniform(2, 4);
    ASSERT_GE(value, 2);
    ASSERT_LT(value, 4);
    sum += (value - 2) / 2;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 5 * 0.0029);
}

TEST(RandomTest, ShuffleKeepsTheValues) {
  std::vector<int> values(100);
  std::iota(values.begin(), values.end(), 0);
  const std::vector<int> sorted = values;
  Random random(3);
  random.shuffle(values);
  EXPECT_NE(values, sorted);
  std::sort(values.begin(), values.end());
  EXPECT_EQ(values, sorted);
}

TEST(RandomDeathTest, EmptyRange) {
  Random random(0);
  EXPECT_DEATH(random.uniform_int(1, 0), "empty range 1\\.\\.0");
}

}  // namespace
}  // namespace moesim
