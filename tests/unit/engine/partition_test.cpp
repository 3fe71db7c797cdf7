#include "sim/engine/partition.h"

#include <gtest/gtest.h>

namespace moesim {
namespace {

TEST(PartitionTest, ColoursAreNumberedByTheirLowestElement) {
  Partition partition(4);
  EXPECT_EQ(partition.num_colours(), 1);
  partition.split(std::vector<double>{7, 3, 7, 5});
  EXPECT_EQ(partition.colours(), (std::vector<int>{0, 1, 0, 2}));
  partition.split(std::vector<int>{1, 1, 2, 1});
  EXPECT_EQ(partition.colours(), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(partition.num_colours(), 4);
}

TEST(PartitionTest, EqualKeysChangeNothing) {
  Partition partition(3);
  partition.split(std::vector<int>{5, 5, 5});
  EXPECT_EQ(partition.num_colours(), 1);
  EXPECT_EQ(Partition(0).num_colours(), 0);
}

TEST(ColourSetsTest, HowOftenAColourOccursDoesNotMatter) {
  Partition partition(5);
  partition.split(std::vector<int>{0, 0, 1, 1, 0});
  const Relation sets = {{0, 1, 2}, {3, 4}, {0, 1}};
  EXPECT_EQ(colour_sets(partition, sets), (std::vector<int>{0, 0, 1}));
}

TEST(RefineTest, ADifferenceSpreadsAlongSets) {
  // A chain 0-1, 2-3 and 1-2: once 0 is special, each step of the chain is.
  const Relation pairs = {{0, 1}, {2, 3}};
  const Relation links = {{1, 2}};
  Partition start(4);
  start.split(std::vector<int>{1, 0, 0, 0});
  EXPECT_EQ(refine(start, {&pairs, &links}).num_colours(), 4);
}

TEST(RefineTest, SymmetryStays) {
  // 2 x 2 grid, rows and columns; nothing tells its elements apart. One special element makes three
  // kinds: itself, its neighbours in row and column (each alone in its kind), and the opposite.
  const Relation rows = {{0, 1}, {2, 3}};
  const Relation columns = {{0, 2}, {1, 3}};
  EXPECT_EQ(refine(Partition(4), {&rows, &columns}).num_colours(), 1);
  Partition start(4);
  start.split(std::vector<int>{1, 0, 0, 0});
  EXPECT_EQ(refine(start, {&rows, &columns}).num_colours(), 4);
}

TEST(RefineTest, AnotherPairOfTheSameKindFoldsOntoTheFirst) {
  // Two pairs with one special element each, and one without.
  const Relation pairs = {{0, 1}, {2, 3}, {4, 5}};
  Partition start(6);
  start.split(std::vector<int>{1, 0, 0, 1, 0, 0});
  EXPECT_EQ(refine(start, {&pairs}).colours(), (std::vector<int>{0, 1, 1, 0, 2, 2}));
}

}  // namespace
}  // namespace moesim
