// The core functions against formulas that a reader can redo.
#include <array>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>

#include "kernels/core/activation.h"
#include "kernels/core/cosine_gate.h"
#include "kernels/core/gate_scores.h"
#include "kernels/core/gate_slots.h"
#include "kernels/core/optimizer.h"
#include "kernels/core/rounding.h"
#include "kernels/core/softmax.h"
#include "kernels/core/token_rows.h"

namespace moesim {
namespace {

using ::testing::ElementsAre;
using Scratch = BlockScratch<kBlockThreads>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kFloatTolerance = 1e-6F;

TEST(PhaseTest, SumsAndMaximaTakeEveryElementOnce) {
  Scratch scratch;
  const auto pack_of = [](int first, float sign) {
    Pack pack;
    for (int k = 0; k < kPackSize; ++k) {
      pack.values[k] = sign * static_cast<float>(first + k);
    }
    return pack;
  };
  for (const int count : {0, 1, 7, 8, 31, 32, 33, 100, 255, 256, 257, 600}) {
    // 0 + 1 + ... + (n-1) = n(n-1)/2, exact.
    const float sum = block_sum_of(scratch, count, [](int i) { return static_cast<float>(i); });
    EXPECT_EQ(sum, static_cast<float>(count * (count - 1) / 2));
    EXPECT_EQ(block_sum_of_packs(scratch, count, [&](int i, int) { return pack_of(i, 1); }), sum);
    // Of a pack's elements only those that there are.
    const auto largest = [&](float sign) {
      return block_max_of_packs(scratch, count, [&](int i, int) { return pack_of(i, sign); });
    };
    EXPECT_EQ(largest(-1), count == 0 ? -HUGE_VALF : 0.0F);
    EXPECT_EQ(largest(1), count == 0 ? -HUGE_VALF : static_cast<float>(count - 1));
    const auto all = [](int) { return true; };
    EXPECT_EQ(block_argmax(
                  scratch, count, [](int i) { return static_cast<float>(i); }, all),
              count - 1);
  }
}

TEST(PhaseTest, TheLowestOfEqualMaximaWins) {
  Scratch scratch;
  const auto equal = [](int) { return 1.0F; };
  EXPECT_EQ(block_argmax(scratch, 70, equal, [](int) { return true; }), 0);
  EXPECT_EQ(block_argmax(scratch, 70, equal, [](int i) { return i >= 37; }), 37);
  EXPECT_EQ(block_argmax(scratch, 70, equal, [](int) { return false; }), -1);
  const auto nothing = [](int) { return kNan; };
  EXPECT_EQ(block_argmax(scratch, 70, nothing, [](int) { return true; }), 0);
}

TEST(MathTest, ExponentialIsWithinTwoUnitsInTheLastPlace) {
  for (float x = -87.0F; x < 88.0F; x += 0.0137F) {
    const double exact = std::exp(double{x});
    EXPECT_NEAR(exponential(x) / exact, 1.0, 2 * 1.2e-7) << x;
  }
  EXPECT_EQ(exponential(0.0F), 1.0F);
  EXPECT_EQ(exponential(-100.0F), 0.0F);
  EXPECT_EQ(exponential(100.0F), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(exponential(kNan)));
}

TEST(RoundingTest, ToEighthsClampedToFour) {
  const auto q = [](float x) { return rounded(x, Rounding::kExact); };
  EXPECT_EQ(q(0.3F), 0.25F);    // 2.4 eighths
  EXPECT_EQ(q(0.32F), 0.375F);  // 2.56 eighths
  EXPECT_EQ(q(0.0625F), 0.0F);  // half an eighth: to the even one
  EXPECT_EQ(q(0.1875F), 0.25F);
  EXPECT_EQ(q(-1.3F), -1.25F);
  EXPECT_EQ(q(4.1F), 4.0F);
  EXPECT_EQ(q(-1e30F), -4.0F);
  EXPECT_TRUE(std::isnan(q(kNan)));
  EXPECT_FALSE(std::signbit(q(-0.01F)));  // no -0: replicas are compared bit by bit
  EXPECT_EQ(rounded(0.3F, Rounding::kOff), 0.3F);
}

TEST(SoftmaxTest, OnlyTheFirstTakePart) {
  Scratch scratch;
  // Scores 0 and ln 3 / 2 at scale 2: probabilities 1/4 and 3/4.
  const std::array scores{0.0F, 0.5493061F, 100.0F};
  std::array<float, 3> p{};
  softmax_row(scratch, {2, 3, 2.0F}, scores.data(), p.data());
  EXPECT_NEAR(p[0], 0.25F, kFloatTolerance);
  EXPECT_NEAR(p[1], 0.75F, kFloatTolerance);
  EXPECT_EQ(p[2], 0.0F);
  // mean = 1/4 * 4 + 3/4 * 8 = 7; dS = 2 * p * (dp - 7) = 2/4 * -3, 6/4 * 1.
  const std::array dp{4.0F, 8.0F, 50.0F};
  std::array<float, 3> ds{};
  softmax_backward_row(scratch, {2, 3, 2.0F}, p.data(), dp.data(), ds.data());
  EXPECT_NEAR(ds[0], -1.5F, 10 * kFloatTolerance);
  EXPECT_NEAR(ds[1], 1.5F, 10 * kFloatTolerance);
  EXPECT_EQ(ds[2], 0.0F);
}

TEST(SoftmaxTest, NanStaysNan) {
  Scratch scratch;
  std::array p{1.0F, kNan};
  softmax_row(scratch, {2, 2, 1.0F}, p.data(), p.data());
  EXPECT_TRUE(std::isnan(p[0]));
}

TEST(ActivationTest, ReluAndSwiglu) {
  const std::array hidden{2.0F, -3.0F, 0.5F, 4.0F};
  const HiddenRow relu{hidden.data(), 4, false};
  EXPECT_EQ(activation(relu, 0, Rounding::kOff), 2.0F);
  EXPECT_EQ(activation(relu, 1, Rounding::kOff), 0.0F);
  EXPECT_EQ(activation_gradient(relu, 1, 7.0F, Rounding::kOff).gate, 0.0F);
  EXPECT_EQ(activation_gradient(relu, 0, 7.0F, Rounding::kOff).gate, 7.0F);
  // Two of w1 (2, -3), two of w3 (0.5, 4): column 0 is 2 * sigmoid(2) * 0.5 = 0.8807971.
  const HiddenRow swiglu{hidden.data(), 2, true};
  EXPECT_NEAR(activation(swiglu, 0, Rounding::kOff), 0.8807971F, kFloatTolerance);
  EXPECT_EQ(activation(swiglu, 0, Rounding::kExact), 0.875F);  // 7.05 eighths
  // s = 0.8807971: d/da = 0.5 * s * (1 + 2 * (1 - s)) = 0.5453922, d/db = 2 * s = 1.7615942.
  const HiddenGradient d = activation_gradient(swiglu, 0, 1.0F, Rounding::kOff);
  EXPECT_NEAR(d.gate, 0.5453922F, kFloatTolerance);
  EXPECT_NEAR(d.linear, 1.7615942F, kFloatTolerance);
}

TEST(GateScoresTest, TopKPrefersTheLowerOfEquals) {
  Scratch scratch;
  const std::array p{0.1F, 0.3F, 0.3F, 0.2F, 0.1F};
  std::array<int, 3> choices{};
  choose_top_k(scratch, p.data(), 5, 3, choices.data());
  EXPECT_THAT(choices, ElementsAre(1, 2, 3));
}

TEST(GateScoresTest, TopKOfNanStillNamesDifferentExperts) {
  Scratch scratch;
  const std::array p{kNan, kNan, kNan};
  std::array<int, 2> choices{};
  choose_top_k(scratch, p.data(), 3, 2, choices.data());
  EXPECT_THAT(choices, ElementsAre(0, 1));
}

TEST(GateScoresTest, RoutingListsExpertsOneBehindTheOther) {
  // Counts 2, 0, 3: the list is 0 0 2 2 2.
  const std::array ends{2, 2, 5};
  std::array<int, 6> listed{};
  for (int entry = 0; entry < 6; ++entry) {
    listed[static_cast<size_t>(entry)] = routed_choice(ends.data(), 3, entry);
  }
  EXPECT_THAT(listed, ElementsAre(0, 0, 2, 2, 2, -1));
}

TEST(GateScoresTest, WeightsAreNormalisedOverTheChosen) {
  const std::array p{0.5F, 0.25F, 0.25F};
  const std::array choices{0, 2};
  const GateRow row{p.data(), 3, choices.data(), 2};
  EXPECT_NEAR(combine_weight(GateWeighting::kNormalized, row, 0), 2.0F / 3, kFloatTolerance);
  EXPECT_EQ(combine_weight(GateWeighting::kSoftmax, row, 0), 0.5F);
  // s = 3/4, dw = (3, ., 0): mean = 3 * 2/3 = 2; dp_0 = (3 - 2) / s = 4/3, dp_2 = -2 / s = -8/3.
  const std::array dw{3.0F, 9.0F, 0.0F};
  EXPECT_NEAR(probability_gradient(GateWeighting::kNormalized, row, dw.data(), 0), 4.0F / 3, 1e-5F);
  EXPECT_EQ(probability_gradient(GateWeighting::kNormalized, row, dw.data(), 1), 0.0F);
  EXPECT_NEAR(
      probability_gradient(GateWeighting::kNormalized, row, dw.data(), 2), -8.0F / 3, 1e-5F);
}

TEST(GateSlotsTest, TokensTakeSlotsInOrderUntilThereAreNone) {
  Scratch scratch;
  // Rows 0..4 choose {0,1}, {1,2}, {1,0}, {2,1}, {0,2}: expert 1 has rows 0, 1, 2, 3.
  const std::array choices{0, 1, 1, 2, 1, 0, 2, 1, 0, 2};
  const ChoiceTable table{choices.data(), 5, 2};
  std::array slots{-9, -9, -9};
  const auto fill = [&](int slot, int row) { slots[static_cast<size_t>(slot)] = row; };
  fill_expert_slots(scratch, table, 1, 3, fill);
  EXPECT_THAT(slots, ElementsAre(0, 1, 2));
  fill_expert_slots(scratch, table, 2, 3, fill);
  EXPECT_THAT(slots, ElementsAre(1, 3, 4));
  fill_expert_slots(scratch, table, 3, 3, fill);
  EXPECT_THAT(slots, ElementsAre(-1, -1, -1));
}

TEST(GateSlotsTest, ExpertsTakeTheirBestRowsFirst) {
  const std::array p{0.2F, 0.8F, 0.8F, 0.5F};  // of four rows and one expert
  std::array slots{-9, -9, -9, -9, -9};
  const auto fill = [&](int slot, int row) { slots[static_cast<size_t>(slot)] = row; };
  fill_chosen_slots<kBlockThreads>({p.data(), 4, 1}, {0, 4}, 0, 2, fill);
  EXPECT_THAT(slots, ElementsAre(1, 2, -9, -9, -9));
  fill_chosen_slots<kBlockThreads>({p.data(), 4, 1}, {0, 4}, 0, 5, fill);
  EXPECT_THAT(slots, ElementsAre(1, 2, 3, 0, -1));
}

TEST(CosineGateTest, CosineOfTheTokenAndEachExpert) {
  Scratch scratch;
  // x = (3, 4); w_0 = (3, 4), w_1 = (-4, 3), w_2 = 0: cosines 1, 0, and 0 for want of a direction.
  const std::array x{3.0F, 4.0F};
  const std::array w{3.0F, -4.0F, 0.0F, 4.0F, 3.0F, 0.0F};
  std::array<float, 3> squares{};
  for (int expert = 0; expert < 3; ++expert) {
    squares[static_cast<size_t>(expert)] = column_sum_of_squares(scratch, w.data(), 2, 3, expert);
  }
  EXPECT_THAT(squares, ElementsAre(25.0F, 25.0F, 0.0F));
  const CosineRow row{x.data(), 2, w.data(), 3, squares.data()};
  std::array<float, 3> cosines{};
  cosine_row(scratch, row, cosines.data());
  EXPECT_NEAR(cosines[0], 1.0F, kFloatTolerance);
  EXPECT_NEAR(cosines[1], 0.0F, kFloatTolerance);
  EXPECT_EQ(cosines[2], 0.0F);
}

TEST(TokenRowsTest, EmptySlotsAreZeros) {
  std::array to{kNan, kNan};
  copy_row<kBlockThreads>(static_cast<const float*>(nullptr), 2, to.data());
  EXPECT_THAT(to, ElementsAre(0.0F, 0.0F));
  const std::array from{0.3F, 2.0F};
  scale_row<kBlockThreads>(0.5F, from.data(), 2, Rounding::kExact, to.data());
  EXPECT_THAT(to, ElementsAre(0.125F, 1.0F));  // 0.5 * 0.25
}

TEST(OptimizerTest, SgdAndAdam) {
  EXPECT_EQ(sgd_step(1.0F, 512.0F), 0.5F);  // 1 - 512 / 1024
  // From zero moments: m = 0.1 g, v = 0.001 g^2, so the step is 0.1 / sqrt(0.001) / 1024 =
  // 0.0030881.
  AdamMoments moments;
  EXPECT_NEAR(adam_step(0.0F, 2.0F, moments), -0.0030881F, kFloatTolerance);
  EXPECT_NEAR(moments.first, 0.2F, kFloatTolerance);
  EXPECT_NEAR(moments.second, 0.004F, kFloatTolerance);
}

}  // namespace
}  // namespace moesim
