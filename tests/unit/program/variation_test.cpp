// Jitter is drawn from the distribution that it says: mean 1, the deviation, and its shape. Seeds
// are fixed, tolerances are five standard errors of the estimate.
#include "sim/program/variation.h"

#include <cmath>

#include <gmock/gmock.h>

namespace moesim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kDraws = 100'000;
constexpr double kDeviation = 0.2;

std::vector<double> draws(JitterDistribution distribution) {
  std::vector<double> values;
  for (int rank = 0; rank < kDraws; ++rank) {
    values.push_back(jitter_factor({kDeviation, distribution, 1}, "expert", rank));
  }
  return values;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  return sum / static_cast<double>(values.size());
}

double deviation_of(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) {
    sum += (value - mean) * (value - mean);
  }
  return std::sqrt(sum / static_cast<double>(values.size()));
}

// Standard errors: of the mean d / sqrt(n); of the deviation d * sqrt((k - 1) / (4 n)) with the
// kurtosis k (delta method).
void expect_moments(const std::vector<double>& values, double kurtosis) {
  EXPECT_NEAR(mean_of(values), 1, 5 * kDeviation / std::sqrt(kDraws));
  EXPECT_NEAR(deviation_of(values),
              kDeviation,
              5 * kDeviation * std::sqrt((kurtosis - 1) / (4.0 * kDraws)));
}

// Kurtosis of a log-normal with w = exp(s^2) = 1 + d^2 = 1.04: w^4 + 2 w^3 + 3 w^2 - 3 = 3.665.
// ln X is normal: mean -s^2 / 2, deviation s.
TEST(VariationTest, LogNormal) {
  std::vector<double> values = draws(JitterDistribution::kLogNormal);
  expect_moments(values, 3.665);
  const double variance = std::log(1.04);
  for (double& value : values) {
    value = std::log(value);
  }
  EXPECT_NEAR(mean_of(values), -variance / 2, 5 * std::sqrt(variance / kDraws));
  EXPECT_NEAR(deviation_of(values), std::sqrt(variance), 5 * std::sqrt(variance / (2.0 * kDraws)));
}

// Kurtosis of an exponential: 9. Nothing is below 1 - d, and P(factor < 1) = P(X < 1) = 1 - 1/e.
TEST(VariationTest, ShiftedExponential) {
  const std::vector<double> values = draws(JitterDistribution::kShiftedExponential);
  expect_moments(values, 9);
  int below_one = 0;
  for (const double value : values) {
    EXPECT_GE(value, 1 - kDeviation);
    below_one += value < 1 ? 1 : 0;
  }
  const double share = 1 - std::exp(-1);
  EXPECT_NEAR(
      static_cast<double>(below_one) / kDraws, share, 5 * std::sqrt(share * (1 - share) / kDraws));
}

// What is next to each other in rank, name or seed is no more alike than what is not: the
// correlation of n independent pairs has a standard error of 1 / sqrt(n).
TEST(VariationTest, DrawsAreIndependent) {
  const auto factor = [](std::uint64_t seed, const std::string& task, int rank) {
    return jitter_factor({kDeviation, JitterDistribution::kLogNormal, seed}, task, rank) - 1;
  };
  double by_rank = 0;
  double by_name = 0;
  double by_seed = 0;
  for (int rank = 0; rank < kDraws; ++rank) {
    const double here = factor(1, "layer0.expert", rank);
    by_rank += here * factor(1, "layer0.expert", rank + 1);
    by_name += here * factor(1, "layer1.expert", rank);
    by_seed += here * factor(2, "layer0.expert", rank);
  }
  for (const double sum : {by_rank, by_name, by_seed}) {
    EXPECT_NEAR(sum / kDraws / (kDeviation * kDeviation), 0, 5 / std::sqrt(kDraws));
  }
}

TEST(VariationTest, ADrawFollowsFromSeedTaskAndRankAlone) {
  const Jitter jitter{0.1, JitterDistribution::kLogNormal, 3};
  const double once = jitter_factor(jitter, "expert", 5);
  jitter_factor(jitter, "gate", 2);
  EXPECT_EQ(jitter_factor(jitter, "expert", 5), once);
}

TEST(VariationTest, OnlyOperationsAreSlowed) {
  Program program;
  program.rank_speed = {1, 0.5, 4};
  Task expert;
  expert.name = "expert";
  expert.descriptor = Expert{};
  EXPECT_EQ(slowdown(program, expert, 1), 2);
  EXPECT_EQ(slowdown(program, expert, 2), 0.25);
  program.jitter = Jitter{0.1, JitterDistribution::kShiftedExponential, 1};
  EXPECT_EQ(slowdown(program, expert, 1), 2 * jitter_factor(*program.jitter, "expert", 1));
  EXPECT_EQ(mean_slowdown(program, expert, 1), 2);
  for (const Descriptor& descriptor : std::vector<Descriptor>{Fixed{}, Collective{}, HostWait{}}) {
    expert.descriptor = descriptor;
    EXPECT_EQ(slowdown(program, expert, 1), 1);
  }
}

TEST(VariationTest, Assumptions) {
  Program program;
  EXPECT_THAT(variation_assumptions(program), IsEmpty());
  program.rank_speed = {1, 1};
  EXPECT_FALSE(varies(program));
  EXPECT_THAT(variation_assumptions(program), IsEmpty());
  program.rank_speed = {1, 0.5, 0.75, 1};
  EXPECT_TRUE(varies(program));
  EXPECT_THAT(variation_assumptions(program),
              ElementsAre(HasSubstr("2 of 4 GPUs compute at 0.5 to 0.75 times the speed")));
  program.rank_speed.clear();
  program.jitter = Jitter{0.05, JitterDistribution::kLogNormal, 7};
  EXPECT_TRUE(varies(program));
  EXPECT_THAT(variation_assumptions(program),
              ElementsAre(HasSubstr("a LOG_NORMAL factor of mean 1 and deviation 0.05, seed 7")));
}

}  // namespace
}  // namespace moesim
