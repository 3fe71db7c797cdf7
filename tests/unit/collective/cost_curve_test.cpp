#include "sim/collective/cost_curve.h"

#include <gtest/gtest.h>

namespace moesim {
namespace {

constexpr double kRelative = 1e-12;  // of a double after a few operations

CollectiveCost table(std::vector<MeasuredPoint> points, double startup = 0) {
  CollectiveCost cost;
  cost.points = std::move(points);
  cost.startup_seconds = startup;
  return cost;
}

TEST(WireShareTest, PerOperation) {
  EXPECT_EQ(wire_share(CollectiveOperation::kAllToAll, 4), 0.75);
  EXPECT_EQ(wire_share(CollectiveOperation::kAllGather, 4), 0.75);
  EXPECT_EQ(wire_share(CollectiveOperation::kReduceScatter, 4), 0.75);
  EXPECT_EQ(wire_share(CollectiveOperation::kAllReduce, 4), 1.5);
  EXPECT_EQ(wire_share(CollectiveOperation::kShift, 4), 1);
  EXPECT_EQ(wire_share(CollectiveOperation::kBroadcast, 4), 1);
}

TEST(StartupTest, OncePerTaskOrPerPeer) {
  CollectiveCost cost;
  cost.startup_seconds = 2;
  EXPECT_EQ(startup_seconds(cost, 8), 2);
  cost.startup_per = StartupPer::kPeer;
  EXPECT_EQ(startup_seconds(cost, 8), 14);
}

TEST(InterpolateTest, MeasuredSizesGiveTheMeasuredTimes) {
  const std::vector<MeasuredPoint> points = {{100, 3e-6}, {1000, 5e-6}, {7777, 1e-3}};
  for (const MeasuredPoint& point : points) {
    EXPECT_EQ(interpolate(points, static_cast<double>(point.size)), point.seconds);
  }
}

TEST(InterpolateTest, GeometricMeanLiesHalfWay) {
  // Log-log: at sqrt(100 * 10000) = 1000 bytes the time is sqrt(1 * 9) = 3.
  EXPECT_NEAR(interpolate({{100, 1}, {10'000, 9}}, 1000), 3, 3 * kRelative);
}

TEST(InterpolateTest, GoesOnWithTheNearestSlope) {
  // Slope 2 below (x10 bytes: x100 time), 1 above.
  const std::vector<MeasuredPoint> points = {{10, 1}, {100, 100}, {1000, 1000}};
  EXPECT_NEAR(interpolate(points, 1), 0.01, kRelative);
  EXPECT_NEAR(interpolate(points, 10'000), 10'000, 10'000 * kRelative);
  EXPECT_TRUE(extrapolates(points, 9));
  EXPECT_FALSE(extrapolates(points, 10));
  EXPECT_FALSE(extrapolates(points, 1000));
  EXPECT_TRUE(extrapolates(points, 1001));
}

TEST(InterpolateTest, OnePointIsARate) {
  EXPECT_EQ(interpolate({{100, 2}}, 50), 1);
}

TEST(InterpolateTest, IsMonotone) {
  const std::vector<MeasuredPoint> points = {{10, 1}, {100, 1}, {200, 5}, {1000, 5.5}};
  for (double bytes = 1; bytes < 5000; bytes *= 1.07) {
    EXPECT_LE(interpolate(points, bytes), interpolate(points, bytes * 1.07) * (1 + kRelative));
  }
}

// t(n) = 2 + 3n, measured at two sizes that are far apart, is 2 + 3n between, beyond and below.
TEST(InterpolateTest, ALineAndItsStartupGiveTheLine) {
  const std::vector<MeasuredPoint> points = {{10, 32}, {1000, 3002}};
  for (const double size : {1., 10., 11., 100., 999., 1000., 5000.}) {
    EXPECT_NEAR(interpolate(points, size, 2), 2 + 3 * size, (2 + 3 * size) * kRelative);
  }
}

// All of the first point is start-up: the line from (10, 2) to (100, 11) is 1 + 2 at 20.
TEST(InterpolateTest, APointThatIsAllStartup) {
  EXPECT_NEAR(interpolate({{10, 2}, {100, 11}}, 20, 2), 3, 3 * kRelative);
  EXPECT_EQ(interpolate({{10, 2}, {100, 11}}, 5, 2), 2);
  // Also where a third of it, three times, is less by a rounding.
  EXPECT_NEAR(interpolate({{10, 2}, {100, 11}}, 20, 2 * (1 - 1e-15)), 3, 3 * kRelative);
}

TEST(TransferTest, ALineHasItsSlope) {
  CollectiveCost cost;
  cost.startup_seconds = 1;
  cost.seconds_per_byte = 3;
  EXPECT_EQ(transfer_seconds(cost, 5, 8), 15);
}

TEST(TransferTest, ATableContainsItsStartup) {
  EXPECT_EQ(transfer_seconds(table({{100, 3}, {1000, 7}}, 2), 1000, 8), 5);
  // Faster than its start-up: nothing is left to transfer.
  EXPECT_EQ(transfer_seconds(table({{100, 3}, {1000, 7}}, 4), 100, 8), 0);
  EXPECT_EQ(transfer_seconds(table({{100, 3}, {1000, 7}}), 0, 8), 0);
  // Below its sizes: half the bytes of (100, 3) take half of 3 - 2.
  EXPECT_EQ(transfer_seconds(table({{100, 3}, {1000, 7}}, 2), 50, 8), 0.5);
  // Between them 1 and 4 of transfer: at sqrt(100 * 10,000) bytes their geometric mean.
  EXPECT_NEAR(transfer_seconds(table({{100, 3}, {10'000, 6}}, 2), 1000, 8), 2, 2 * kRelative);
}

}  // namespace
}  // namespace moesim
