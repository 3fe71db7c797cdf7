// What kernels move, on one layer of 4,096 tokens: the figures of docs/performance.md.
#include "kernels/device/kernel_bytes.h"

#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace moesim {
namespace {

constexpr int64_t kTokens = 4096;
constexpr int kColumns = 4096;  // M
constexpr int kExperts = 8;
constexpr int kChoices = 2;
constexpr int64_t kSlots = kTokens * kChoices;
constexpr int kWidth = 14336;  // of an expert, SwiGLU
constexpr int kHeads = 32;
constexpr int64_t kRowBytes = int64_t{kColumns} * 2;  // BF16
constexpr int64_t kScores = int64_t{kHeads} * kTokens * kTokens;

constexpr auto kBf16 = ElementType::kBfloat16;

DeviceRows rows(int columns, ElementType type = kBf16) {
  return {{0, type}, columns, {}};
}

struct Line {
  KernelBody body;
  int64_t blocks = 0;
  int64_t least = 0;  // operands read once and results written once, without what is between steps
  int64_t slots = 0;  // that the arguments do not tell
};

// Each `least` by hand.
std::vector<Line> lines() {
  const DeviceRows none;
  const ScoreRows scores{static_cast<int>(kTokens), static_cast<int>(kTokens), 1, true, 1};
  return {
      // A row of x for each of its two slots; least: each once.
      {GatherRows{{}, rows(kColumns), rows(kColumns)},
       kSlots,
       kTokens * kRowBytes + kSlots * (4 + kRowBytes)},
      // Results and weights of slots, the sums; the map costs 4 bytes for each row and expert, the
      // index 4 for each slot.
      {SumSlots{nullptr, kExperts, rows(kColumns), rows(1), {}, rows(kColumns), false},
       kTokens,
       kSlots * (4 + kRowBytes + 2) + kTokens * kRowBytes,
       kSlots},
      // A row of dy for each of its two slots; least: each once.
      {ScaleSlots{{}, {}, rows(kColumns), rows(kColumns), rows(1), rows(kColumns), rows(1)},
       kSlots,
       kTokens * kRowBytes + kSlots * (4 + 2 * kRowBytes + 2 * 2)},
      {Activate{rows(2 * kWidth), kWidth, true, {}, {0, kBf16}}, kSlots, kSlots * 3 * kWidth * 2},
      // Two values and the gradient in, two gradients out.
      {DifferentiateHidden{rows(2 * kWidth), kWidth, true, {}, {0, kBf16}},
       kSlots,
       kSlots * 5 * kWidth * 2},
      // FP32 in, BF16 out.
      {SoftmaxRows{scores, {}, nullptr, {0, kBf16}}, kHeads * kTokens, kScores * (4 + 2)},
      {SoftmaxBackwardRows{scores, {}, nullptr, nullptr, {0, kBf16}, {0, kBf16}},
       kHeads * kTokens,
       kScores * (4 + 4 + 2 + 2)},
      // Scores in, probabilities out; they take the scores' place too, for the choices.
      {GateProbabilities{nullptr, {}, rows(kExperts)}, kTokens, kTokens * kExperts * (4 + 2)},
      // Weights and gradients of BF16; two moments and a copy of FP32.
      {OptimizerStep{true, true, rows(kColumns), rows(kColumns), rows(3 * kColumns, {})},
       kTokens,
       kTokens * kColumns * (2 + 2 + 2 + 2 * 8 + 4)}};
}

TEST(KernelBytesTest, Formulas) {
  EXPECT_EQ(bytes_of(ColumnSquares{nullptr, 10, 3, nullptr}, 3), 4 * (10 * 3 + 3));
  // Embeddings 10 x 3 and their squares; of two rows x, cosines and the norm.
  const CosineRow row{nullptr, 10, nullptr, 3, nullptr};
  float norm = 0;
  EXPECT_EQ(bytes_of(CosineScores{row, 1, nullptr, nullptr}, 2), 4 * (33 + 2 * (10 + 3)));
  EXPECT_EQ(bytes_of(CosineScores{row, 1, nullptr, &norm}, 2), 4 * (33 + 2 * (10 + 3 + 1)));
  ChoiceRule rule{ChoiceRule::Kind::kProbability, 8, 5, 2, nullptr};
  EXPECT_EQ(bytes_of(GateChoices{rule, nullptr, nullptr}, 5), 5 * (8 + 2) * 4);
  rule.kind = ChoiceRule::Kind::kTurns;
  EXPECT_EQ(bytes_of(GateChoices{rule, nullptr, nullptr}, 5), 5 * 2 * 4);
  EXPECT_EQ(bytes_of(MapSlots{{}, 7, nullptr, 3, nullptr}, 1), 3 * 7 * 4);
  // Five rows of three probabilities and two choices; seven slots with place, row and BF16 weight.
  DomainSlots slots;
  slots.rows = 5;
  slots.experts = 3;
  slots.width = 2;
  slots.weight = rows(1);
  EXPECT_EQ(bytes_of(FillExpertSlots{slots}, 3, 7), 5 * 2 * 4 + 5 * 3 * 4 + 7 * (8 + 2));
  EXPECT_EQ(bytes_of(FillChosenSlots{slots, 1}, 3, 7), 5 * 3 * 4 + 7 * (8 + 2));
}

TEST(KernelBytesTest, NoKernelMovesTwiceTheLeastAndMostTheLeast) {
  int at_least = 0;
  for (const Line& line : lines()) {
    const int64_t moved = bytes_of(line.body, line.blocks, line.slots);
    EXPECT_GE(moved, line.least);
    EXPECT_LT(moved, 2 * line.least) << name_of(Kernel{line.body, line.blocks});
    at_least += moved * 100 <= line.least * 101 ? 1 : 0;
  }
  EXPECT_GE(at_least, 6);
}

TEST(KernelBytesTest, TheTableOfPerformanceMdIsTrue) {
  std::ifstream file("docs/performance.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const Line& line : lines()) {
    const auto megabytes = [](int64_t bytes) { return static_cast<double>(bytes) / 1e6; };
    const int64_t moved = bytes_of(line.body, line.blocks, line.slots);
    const std::string expected = fmt::format("| {} | {:.1f} | {:.1f} | {:.2f} |",
                                             name_of(Kernel{line.body, line.blocks}),
                                             megabytes(moved),
                                             megabytes(line.least),
                                             megabytes(moved) / megabytes(line.least));
    EXPECT_NE(text.str().find(expected), std::string::npos) << "docs/performance.md lacks\n"
                                                            << expected;
  }
}

}  // namespace
}  // namespace moesim
