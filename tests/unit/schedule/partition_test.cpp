#include "sim/schedule/partition.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "sim/base/random.h"

namespace moesim {
namespace {

double least_region_time(const PartitionLayer& layer, double slice) {
  double least = std::numeric_limits<double>::infinity();
  for (const RegionLine& line : layer.regions) {
    least = std::min(least, line.seconds(slice));
  }
  return least;
}

// Step 1's free slots and the cumulative rows that it leaves over, written anew from the paper.
struct FreeSlots {
  std::vector<int> region;
  std::vector<int> dense;
  std::vector<int> left_over;
};

FreeSlots free_slots(const PartitionProblem& problem) {
  FreeSlots slots;
  int remaining = 0;
  for (const PartitionLayer& layer : problem.layers) {
    const RegionLine* fastest = &layer.regions.front();
    for (const RegionLine& line : layer.regions) {
      fastest = line.alone < fastest->alone ? &line : fastest;
    }
    remaining += problem.rows_per_layer;
    slots.region.push_back(std::min(remaining, problem.reduction.rows_within(fastest->hidden())));
    remaining -= slots.region.back();
    slots.dense.push_back(std::min(remaining, problem.reduction.rows_within(layer.dense_slot)));
    remaining -= slots.dense.back();
    slots.left_over.push_back(remaining);
  }
  for (size_t i = slots.left_over.size(); i-- > 1;) {
    slots.left_over[i - 1] = std::min(slots.left_over[i - 1], slots.left_over[i]);
  }
  return slots;
}

double cost(const PartitionProblem& problem,
            const FreeSlots& slots,
            const std::vector<int>& extra) {
  double sum = 0;
  for (size_t i = 0; i < extra.size(); ++i) {
    const double slice = problem.reduction.of(slots.region[i] + extra[i]);
    sum += least_region_time(problem.layers[i], slice) - problem.reduction.per_row * extra[i];
  }
  return sum;
}

// The least cost over all integer ways to give out what is left.
double brute_force(const PartitionProblem& problem,
                   const FreeSlots& slots,
                   std::vector<int>& extra,
                   size_t layer,
                   int given) {
  if (layer == extra.size()) {
    return cost(problem, slots, extra);
  }
  double least = std::numeric_limits<double>::infinity();
  for (int rows = 0; rows <= slots.left_over[layer] - given; ++rows) {
    extra[layer] = rows;
    least = std::min(least, brute_force(problem, slots, extra, layer + 1, given + rows));
  }
  extra[layer] = 0;
  return least;
}

PartitionProblem draw_problem(Random& random) {
  const auto integer = [&random](int first, int last) {
    return static_cast<int>(random.uniform_int(first, last));
  };
  PartitionProblem problem;
  problem.rows_per_layer = integer(1, 5);
  problem.reduction = {.startup = static_cast<double>(integer(0, 3)),
                       .per_row = static_cast<double>(integer(1, 3))};
  const int layers = integer(1, 4);
  for (int i = 0; i < layers; ++i) {
    PartitionLayer layer;
    const int degrees = integer(1, 3);
    for (int degree = 1; degree <= degrees; ++degree) {
      const double busy = integer(1, 12);
      layer.regions.push_back({degree, busy + integer(0, 8), busy});
    }
    layer.dense_slot = integer(0, 6);
    problem.layers.push_back(layer);
  }
  return problem;
}

TEST(PartitionTest, StepTwoIsOptimal) {
  constexpr uint64_t kSeed = 20260103;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  for (int trial = 0; trial < 400; ++trial) {
    const PartitionProblem problem = draw_problem(random);
    const FreeSlots slots = free_slots(problem);
    const Partition partition = partition_gradient(problem);
    std::vector<int> extra;
    for (size_t i = 0; i < problem.layers.size(); ++i) {
      extra.push_back(partition.region_rows[i] - slots.region[i]);
      ASSERT_GE(extra.back(), 0) << trial;
    }
    EXPECT_EQ(partition.dense_rows, slots.dense);
    std::vector<int> none(problem.layers.size(), 0);
    EXPECT_DOUBLE_EQ(cost(problem, slots, extra), brute_force(problem, slots, none, 0, 0)) << trial;
  }
}

TEST(PartitionTest, NeverCarriesRowsBeforeTheyAreMade) {
  constexpr uint64_t kSeed = 20260104;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  for (int trial = 0; trial < 400; ++trial) {
    const PartitionProblem problem = draw_problem(random);
    const Partition partition = partition_gradient(problem);
    int carried = 0;
    for (size_t i = 0; i < problem.layers.size(); ++i) {
      carried += partition.region_rows[i] + partition.dense_rows[i];
      EXPECT_LE(carried, problem.rows_per_layer * static_cast<int>(i + 1)) << trial;
    }
  }
}

TEST(PartitionTest, FillsAHiddenSlotFirst) {
  // One layer: its region hides 10 - 6 = 4 seconds, 4 rows; the dense slot 3 more; 2 are left and
  // cost as much in the region as in the last AllReduce, so that they stay there or go here.
  PartitionProblem problem;
  problem.rows_per_layer = 9;
  problem.reduction = {.startup = 0, .per_row = 1};
  problem.layers = {{{RegionLine{2, 10, 6}}, 3}};
  const Partition partition = partition_gradient(problem);
  EXPECT_GE(partition.region_rows[0], 4);
  EXPECT_EQ(partition.dense_rows[0], 3);
  EXPECT_EQ(partition.degrees[0], 2);
}

}  // namespace
}  // namespace moesim
