#include "sim/model/routing.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

namespace moesim {
namespace {

Scenario scenario(RoutingKind kind) {
  Scenario scenario;
  scenario.model.experts = 8;
  scenario.model.top_k = 2;
  scenario.parallel = {.mp = 2, .dp = 4, .esp = 1, .ep = 8, .edp = 1};
  scenario.routing.kind = kind;
  scenario.routing.zipf_exponent = 1.0;
  scenario.seed = 7;
  return scenario;
}

TEST(RoutingTest, BalancedNeedsNoTable) {
  EXPECT_TRUE(make_routing(scenario(RoutingKind::kBalanced), {100, 1}).empty());
}

TEST(RoutingTest, ZipfCountsEveryChoiceOnceAndIsReproducible) {
  const Scenario skewed = scenario(RoutingKind::kZipf);
  const auto tokens = make_routing(skewed, {500, 1});
  ASSERT_EQ(tokens.size(), 8U);
  for (const auto& counts : tokens) {
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0), 1000);  // 500 tokens, k = 2
    EXPECT_LE(*std::max_element(counts.begin(), counts.end()), 500);    // once per token
  }
  EXPECT_NE(tokens[0], tokens[1]);
  EXPECT_EQ(tokens, make_routing(skewed, {500, 1}));
}

TEST(RoutingTest, ZipfIsSkewedTheSameWayOnEveryRank) {
  const auto tokens = make_routing(scenario(RoutingKind::kZipf), {5000, 1});
  const auto hottest = [](const std::vector<int>& counts) {
    return std::max_element(counts.begin(), counts.end()) - counts.begin();
  };
  for (const auto& counts : tokens) {
    EXPECT_EQ(hottest(counts), hottest(tokens[0]));
    // With exponent 1 and two of eight experts per token the hottest one gets well over 1/8.
    EXPECT_GT(*std::max_element(counts.begin(), counts.end()), 10000 / 4);
  }
}

// With exponent 10 the eighth expert's share is 8^-10, a billionth: drawn by rejection alone, a
// token that needs all eight would never be done.
TEST(RoutingTest, SteepZipfEnds) {
  Scenario steep = scenario(RoutingKind::kZipf);
  steep.routing.zipf_exponent = 10;
  steep.model.top_k = 8;
  EXPECT_EQ(make_routing(steep, {50, 1})[0], std::vector<int>(8, 50));
}

TEST(RoutingTest, RanksOfADomainShareItsTokens) {
  const auto tokens = make_routing(scenario(RoutingKind::kZipf), {500, 2});
  for (size_t rank = 0; rank < tokens.size(); rank += 2) {
    EXPECT_EQ(tokens[rank], tokens[rank + 1]);
  }
  EXPECT_NE(tokens[0], tokens[2]);
}

TEST(RoutingTest, GivenCountsAreScaledToTheDomain) {
  Scenario given = scenario(RoutingKind::kGiven);
  given.model.experts = 2;
  given.parallel = {.mp = 1, .dp = 1, .esp = 1, .ep = 1, .edp = 1};
  given.routing.tokens = {{30, 10}};
  given.model.top_k = 1;
  // 3:1 of 10 choices: 7.5 and 2.5 rounded down, the missing one to the first expert.
  EXPECT_EQ(make_routing(given, {10, 1}), (std::vector<std::vector<int>>{{8, 2}}));
}

TEST(RoutingTest, ExpertChoiceIsBalancedWhateverTheSkew) {
  Scenario skewed = scenario(RoutingKind::kZipf);
  skewed.model.gate = GateKind::kExpertChoice;
  EXPECT_TRUE(make_routing(skewed, {500, 1}).empty());
}

TEST(RoutingTest, LargestCountIsOverAllRanksAndExperts) {
  EXPECT_EQ(largest_count({{8, 2}, {1, 9}}), 9);
}

}  // namespace
}  // namespace moesim
