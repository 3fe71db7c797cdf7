#include "kernels/gemm.h"

#include <array>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>

namespace moesim {
namespace {

using ::testing::ElementsAre;

// A = [1 2 3; 4 5 6], B = [1 0; 0 1; 2 1]: A B = [7 5; 16 11].
constexpr std::array kA{1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F};
constexpr std::array kB{1.0F, 0.0F, 0.0F, 1.0F, 2.0F, 1.0F};

TEST(GemmTest, OverwritesOrAdds) {
  std::array<float, 4> c;
  c.fill(std::numeric_limits<float>::quiet_NaN());  // not read
  multiply({kA.data(), 2, 3}, {kB.data(), 3, 2}, {c.data(), 2});
  EXPECT_THAT(c, ElementsAre(7, 5, 16, 11));
  multiply({kA.data(), 2, 3}, {kB.data(), 3, 2}, {c.data(), 2, true});
  EXPECT_THAT(c, ElementsAre(14, 10, 32, 22));
}

TEST(GemmTest, TransposesEitherFactor) {
  // A^T A = [17 22 27; 22 29 36; 27 36 45].
  std::array<float, 9> c{};
  const MatrixView a{kA.data(), 2, 3};
  multiply(a.transposed(), a, {c.data(), 3});
  EXPECT_THAT(c, ElementsAre(17, 22, 27, 22, 29, 36, 27, 36, 45));
  // A A^T = [14 32; 32 77].
  std::array<float, 4> d{};
  multiply(a, a.transposed(), {d.data(), 2});
  EXPECT_THAT(d, ElementsAre(14, 32, 32, 77));
}

TEST(GemmTest, RowsMayStandApart) {
  // The first two columns of A times themselves transposed: [1 2; 4 5] -> [5 14; 14 41].
  std::array c{0.0F, 0.0F, -1.0F, 0.0F, 0.0F, -1.0F};
  const MatrixView left{kA.data(), 2, 2, 3};
  multiply(left, left.transposed(), {c.data(), 3});
  EXPECT_THAT(c, ElementsAre(5, 14, -1, 14, 41, -1));
}

TEST(GemmTest, NothingToDo) {
  std::array c{3.0F};
  multiply({kA.data(), 0, 3}, {kB.data(), 3, 1}, {c.data(), 1});
  EXPECT_EQ(c[0], 3.0F);
}

TEST(GemmDeathTest, InnerSizesMustAgree) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // BLAS has threads, asleep
  std::array<float, 4> c{};
  EXPECT_DEATH(multiply({kA.data(), 2, 3}, {kB.data(), 2, 3}, {c.data(), 3}), "3 columns");
}

}  // namespace
}  // namespace moesim
