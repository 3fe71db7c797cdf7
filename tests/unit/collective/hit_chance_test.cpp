// The expected number of distinct nodes of a token's experts, against counting.
#include "sim/collective/hit_chance.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/random.h"

namespace moesim {
namespace {

// All C(8, 3) = 56 choices of three of eight experts, two on each of four members, which are on two
// nodes: how many hit the first member and the first node.
TEST(HitChanceTest, IsTheShareOfAllChoices) {
  int choices = 0;
  int hit_member = 0;
  int hit_node = 0;
  for (unsigned chosen = 0; chosen < 256; ++chosen) {
    if (std::popcount(chosen) == 3) {
      ++choices;
      hit_member += (chosen & 0b11) != 0 ? 1 : 0;
      hit_node += (chosen & 0b1111) != 0 ? 1 : 0;
    }
  }
  ASSERT_EQ(choices, 56);
  EXPECT_NEAR(hit_chance(8, 3, 2), hit_member / 56.0, 1e-15);
  EXPECT_NEAR(hit_chance(8, 3, 4), hit_node / 56.0, 1e-15);
  const HitChances all = hit_chances({6, 6, 6, 6}, {{0, 1}, {2, 3}}, 8, 3);
  EXPECT_NEAR(all.of_member[0], hit_member / 56.0, 1e-12);
  EXPECT_NEAR(all.of_node[1], hit_node / 56.0, 1e-12);
}

// As many experts as a token has are all hit; one expert in n is hit by k/n of the tokens.
TEST(HitChanceTest, EndsOfTheRange) {
  EXPECT_DOUBLE_EQ(hit_chance(4, 4, 1), 1);
  EXPECT_DOUBLE_EQ(hit_chance(4, 1, 2), 0.5);
  EXPECT_DOUBLE_EQ(hit_chance(8, 2, 1), 0.25);
  EXPECT_DOUBLE_EQ(hit_chance(8, 2, 0), 0);
  EXPECT_DOUBLE_EQ(hit_chance(8, 2, 7), 1);  // only one expert is outside
}

// Unequal popularity: tokens draw k different experts one after the other, by weights, the same for
// both experts of a member; counts of the draws give the chances, the draws themselves what is hit.
// Such draws are not the sampling that the chances assume: within 3 % of it for weights of 1 to 4.
// (Where the experts of a member differ as much, members are hit 3 to 4 % more often than said.)
TEST(HitChanceTest, CountsOfRandomChoices) {
  constexpr std::uint64_t kSeed = 4;
  constexpr int kExperts = 16;
  constexpr int kTopK = 4;
  constexpr int kTokens = 100'000;
  Random random(kSeed, 0);
  std::vector<double> weights(kExperts);
  for (std::size_t expert = 0; expert < kExperts; expert += 2) {
    weights[expert] = weights[expert + 1] = 1 + 3 * random.uniform();
  }
  std::vector<double> rows(8);
  std::vector<double> hit_member(8);
  std::vector<double> hit_node(2);
  for (int token = 0; token < kTokens; ++token) {
    std::vector<double> left = weights;
    std::vector<bool> has_member(8);
    for (int choice = 0; choice < kTopK; ++choice) {
      double drawn = random.uniform() * std::accumulate(left.begin(), left.end(), 0.0);
      int expert = 0;
      while (expert + 1 < kExperts && drawn >= left[expert]) {
        drawn -= left[expert++];
      }
      left[expert] = 0;
      rows[expert / 2] += 1;
      has_member[expert / 2] = true;
    }
    for (int member = 0; member < 8; ++member) {
      hit_member[member] += has_member[member] ? 1.0 / kTokens : 0;
    }
    for (int node = 0; node < 2; ++node) {
      const auto first = has_member.begin() + 4 * node;
      hit_node[node] += std::find(first, first + 4, true) != first + 4 ? 1.0 / kTokens : 0;
    }
  }
  const HitChances chances = hit_chances(rows, {{0, 1, 2, 3}, {4, 5, 6, 7}}, kExperts, kTopK);
  for (int member = 0; member < 8; ++member) {
    EXPECT_NEAR(chances.of_member[member], hit_member[member], 0.03 * hit_member[member])
        << "seed " << kSeed << ", member " << member;
  }
  for (int node = 0; node < 2; ++node) {
    EXPECT_NEAR(chances.of_node[node], hit_node[node], 0.03 * hit_node[node])
        << "seed " << kSeed << ", node " << node;
  }
}

// Uniform choices of 8 of 64 experts on 8 nodes: a sample of 200,000 tokens meets the chance within
// five standard deviations.
TEST(HitChanceTest, UniformRandomChoices) {
  constexpr std::uint64_t kSeed = 5;
  constexpr int kTokens = 200'000;
  Random random(kSeed, 0);
  int hits = 0;
  for (int token = 0; token < kTokens; ++token) {
    std::vector<bool> chosen(64);
    bool hit = false;
    for (int left = 8; left > 0;) {
      const auto expert = static_cast<std::size_t>(random.uniform_int(0, 63));
      if (!chosen[expert]) {
        chosen[expert] = true;
        hit = hit || expert < 8;
        --left;
      }
    }
    hits += hit ? 1 : 0;
  }
  const double chance = hit_chance(64, 8, 8);
  EXPECT_NEAR(
      static_cast<double>(hits) / kTokens, chance, 5 * std::sqrt(chance * (1 - chance) / kTokens))
      << "seed " << kSeed;
}

// Rows that no choice of k different experts explains, as padding makes them, stay within bounds.
TEST(HitChanceTest, ImpossibleCountsStayBounded) {
  const HitChances one = hit_chances({12, 0}, {{0}, {1}}, 2, 2);
  EXPECT_DOUBLE_EQ(one.of_member[0], 1);
  EXPECT_DOUBLE_EQ(one.of_member[1], 0);
  const HitChances none = hit_chances({0, 0}, {{0}, {1}}, 2, 1);
  EXPECT_DOUBLE_EQ(none.of_node[0], 0);
}

}  // namespace
}  // namespace moesim
