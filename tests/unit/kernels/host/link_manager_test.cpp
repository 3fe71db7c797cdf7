#include "kernels/host/link_manager.h"

#include <gtest/gtest.h>

namespace moesim {
namespace {

constexpr int64_t kMillisecond = 1'000'000'000;  // in picoseconds

Time ms(int64_t milliseconds) {
  return Time::from_picoseconds(milliseconds * kMillisecond);
}

// Links of 1 GB/s carry 1 MB in a millisecond.
constexpr double kGigabyte = 1e9;
constexpr int64_t kMegabyte = 1'000'000;

// Link 0 alone until 10: A has 30 of 40 MB left. Halves until 30: A 20, B 10 left. From then C, on
// both links, has a third of link 0 too: B ends at 30 + 10 * 3 = 60, A has 10 left, C 20. Halves:
// A ends at 60 + 10 * 2 = 80, C has 10 left and link 0 for itself: 90.
TEST(LinkManagerTest, StaggeredFlowsOnTwoLinks) {
  LinkManager links({kGigabyte, kGigabyte});
  links.add(0, ms(0), {{40 * kMegabyte, {0}}});
  EXPECT_EQ(links.end(0), ms(40));
  links.add(1, ms(10), {{20 * kMegabyte, {0}}});
  EXPECT_EQ(links.end(0), ms(60));  // 10 alone, 40 shared until B ends at 50, 10 alone
  EXPECT_EQ(links.end(1), ms(50));
  links.add(2, ms(30), {{30 * kMegabyte, {0, 1}}});
  EXPECT_EQ(links.end(0), ms(80));
  EXPECT_EQ(links.end(1), ms(60));
  EXPECT_EQ(links.end(2), ms(90));
}

TEST(LinkManagerTest, OrderOfCallsAndForgettingDoNotMatter) {
  LinkManager links({kGigabyte, kGigabyte});
  links.add(2, ms(30), {{30 * kMegabyte, {0, 1}}});
  links.add(1, ms(10), {{20 * kMegabyte, {0}}});
  links.add(0, ms(0), {{40 * kMegabyte, {0}}});
  for (const int64_t time : {5, 10, 33, 60, 100}) {
    links.forget_before(ms(time));
    links.add(100 + static_cast<int>(time), ms(time), {});
    EXPECT_EQ(links.end(0), ms(80));
    EXPECT_EQ(links.end(1), ms(60));
    EXPECT_EQ(links.end(2), ms(90));
  }
}

// The slow link 1 (half a GB/s) holds C to 0.5; A takes the other half of link 0 and ends at
// 20 / 0.5 = 40. C then stays at 0.5: 30 / 0.5 = 60.
TEST(LinkManagerTest, AFlowHeldElsewhereLeavesItsShare) {
  LinkManager links({kGigabyte, kGigabyte / 2});
  links.add(0, ms(0), {{20 * kMegabyte, {0}}});
  links.add(1, ms(0), {{30 * kMegabyte, {0, 1}}});
  EXPECT_EQ(links.end(0), ms(40));
  EXPECT_EQ(links.end(1), ms(60));
  // A third one on link 1 takes half of that: C falls to 0.25, A rises to 0.75 from 10 on, when it
  // has 15 left: 10 + 20 = 30. D ends at 10 + 5 / 0.25 = 30. C then has 30 - 5 - 5 = 20 left at
  // 0.5: 70.
  links.add(2, ms(10), {{5 * kMegabyte, {1}}});
  EXPECT_EQ(links.end(0), ms(30));
  EXPECT_EQ(links.end(2), ms(30));
  EXPECT_EQ(links.end(1), ms(70));
}

// Two collectives on one port: the one of three flows has the weight of the one of one flow. Both
// move 30 MB and share evenly: 60 each.
TEST(LinkManagerTest, ACollectiveHasOneWeightHoweverManyFlows) {
  LinkManager links({kGigabyte});
  const Flow third{10 * kMegabyte, {0}};
  links.add(0, ms(0), {third, third, third});
  links.add(1, ms(0), {{30 * kMegabyte, {0}}});
  EXPECT_EQ(links.end(0), ms(60));
  EXPECT_EQ(links.end(1), ms(60));
}

// The flows that are left share their collective's weight: at 30 (each had 5 MB at 1/6) two of the
// three leave, the third keeps the half. It has 15 left: 60. The other has 15 of 30 left: 60.
TEST(LinkManagerTest, FlowsThatAreLeftShareTheWeight) {
  LinkManager links({kGigabyte});
  links.add(0, ms(0), {{5 * kMegabyte, {0}}, {5 * kMegabyte, {0}}, {20 * kMegabyte, {0}}});
  links.add(1, ms(0), {{30 * kMegabyte, {0}}});
  EXPECT_EQ(links.end(0), ms(60));
  EXPECT_EQ(links.end(1), ms(60));
}

// Two overlapping collectives on one throttled link, as all-to-alls of 4 ranks over 4 egress links,
// of which link 0 has a quarter of the rate: 3 flows of 4 MB on each, alone 12 / 0.25 = 48. The
// second begins at 12, when 9 MB of the first are left on link 0. Shared evenly the first takes
// 9 / 0.125 = 72 more: 84; the second has 3 MB left: 96. The other links are long done.
TEST(LinkManagerTest, TwoCollectivesOnOneThrottledLink) {
  LinkManager links({kGigabyte / 4, kGigabyte, kGigabyte, kGigabyte});
  std::vector<Flow> flows;
  for (int from = 0; from < 4; ++from) {
    flows.insert(flows.end(), 3, {4 * kMegabyte, {from}});
  }
  links.add(0, ms(0), flows);
  EXPECT_EQ(links.end(0), ms(48));
  links.add(1, ms(12), flows);
  EXPECT_EQ(links.end(0), ms(84));
  EXPECT_EQ(links.end(1), ms(96));
}

TEST(LinkManagerTest, WithoutBytesATransferEndsAtItsStart) {
  LinkManager links({kGigabyte});
  links.add(0, ms(7), {{0, {0}}});
  links.add(1, ms(8), {});
  EXPECT_EQ(links.end(0), ms(7));
  EXPECT_EQ(links.end(1), ms(8));
}

TEST(LinkManagerTest, WhatStartsTooLateStartsWhenNothingIsForgotten) {
  LinkManager links({kGigabyte});
  links.forget_before(ms(10));
  links.add(0, ms(5), {{kMegabyte, {0}}});
  EXPECT_EQ(links.end(0), ms(11));
}

}  // namespace
}  // namespace moesim
