#include "calibration/robust_fit.h"

#include <cmath>

#include <gtest/gtest.h>

namespace moesim {
namespace {

// t = 3 + 2x exactly.
TEST(RobustFitTest, FindsAnExactLine) {
  const Line line = fit_line({{1, 5}, {2, 7}, {4, 11}, {100, 203}});
  EXPECT_NEAR(line.startup_seconds, 3, 1e-9);
  EXPECT_NEAR(line.seconds_per_unit, 2, 1e-9);
  EXPECT_EQ(line.fit.num_samples, 4);
  EXPECT_NEAR(line.fit.r_squared, 1, 1e-12);
  EXPECT_NEAR(line.at(10), 23, 1e-9);
}

// The same line with one sample ten times too slow. Least squares would be drawn far up; with
// Huber's weights the parts stay within a few percent.
TEST(RobustFitTest, ASingleDisturbedSampleHardlyCounts) {
  std::vector<Sample> samples;
  for (int size = 1; size <= 20; ++size) {
    samples.push_back({static_cast<double>(size), 3 + 2.0 * size + 0.01 * (size % 3)});
  }
  samples[9].seconds *= 10;
  const Line line = fit_line(samples);
  EXPECT_NEAR(line.startup_seconds, 3, 0.15);
  EXPECT_NEAR(line.seconds_per_unit, 2, 0.04);
}

// Small and large sizes count alike: 1 % on each of three decades moves the line by 1 %, not by
// the absolute error of the largest.
TEST(RobustFitTest, ResidualsAreRelative) {
  const Line line = fit_line({{1, 1.01}, {10, 10.0}, {1000, 990.0}});
  EXPECT_NEAR(line.at(1), 1, 0.03);
  EXPECT_NEAR(line.at(1000), 1000, 20);
}

// Through (1, 1) and (3, 5) a line would begin at -1.
TEST(RobustFitTest, StartupIsNeverNegative) {
  const Line line = fit_line({{1, 1}, {3, 5}});
  EXPECT_EQ(line.startup_seconds, 0);
  EXPECT_GT(line.seconds_per_unit, 1);
  EXPECT_LT(line.seconds_per_unit, 5.0 / 3 + 1e-9);
}

TEST(RobustFitTest, SlopeIsNeverNegative) {
  const Line line = fit_line({{1, 4}, {3, 2}});
  EXPECT_EQ(line.seconds_per_unit, 0);
  EXPECT_GT(line.startup_seconds, 2);
  EXPECT_LT(line.startup_seconds, 4);
}

// 1 ns beside 1000 s: relative residuals of the first outweigh the other's 1e12 to 1, squared.
TEST(RobustFitTest, TimesThatAreTooFarApartStillGiveALine) {
  const Line line = fit_line({{1e6, 1e-9}, {1e6 + 1, 1e3}});
  EXPECT_EQ(line.startup_seconds, 0);
  EXPECT_TRUE(std::isfinite(line.seconds_per_unit));
  EXPECT_TRUE(std::isfinite(line.fit.standard_error));
}

TEST(RobustFitTest, ATableHoldsMediansThatDoNotDescend) {
  const auto table = median_table({{2, 5}, {1, 3}, {1, 9}, {1, 4}, {4, 4.5}});
  ASSERT_EQ(table.size(), 3U);
  EXPECT_EQ(table[0].seconds, 4);    // of 3, 4, 9
  EXPECT_EQ(table[1].seconds, 4.5);  // 5, 4.5 descends: both get the lower middle of the two
  EXPECT_EQ(table[2].seconds, 4.5);
}

// One slow size is pooled with the next ones until they do not descend: of 9 and 3 the lower, 3.
TEST(RobustFitTest, OneSlowSizeDoesNotLiftTheNext) {
  std::vector<double> seconds;
  for (const Sample& sample : median_table({{1, 2}, {2, 9}, {3, 3}, {4, 4}, {5, 6}})) {
    seconds.push_back(sample.seconds);
  }
  EXPECT_EQ(seconds, (std::vector<double>{2, 3, 3, 4, 6}));
}

TEST(RobustFitTest, MediansOfSmallSets) {
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({5, 1, 3}), 3);
}

TEST(RobustFitTest, QuantilesOfSmallSets) {
  EXPECT_EQ(quantile({7}, 0.5), 7);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0.5), 2);
  EXPECT_EQ(quantile({5, 4, 3, 2, 1}, 0.25), 2);
  EXPECT_EQ(quantile({5, 4, 3, 2, 1}, 1), 5);
}

}  // namespace
}  // namespace moesim
