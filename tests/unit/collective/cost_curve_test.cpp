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
}

}  // namespace
}  // namespace moesim
