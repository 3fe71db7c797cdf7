// When collectives end that share media as flows. A medium that is occupied for 1 us takes a
// million picoseconds.
#include "sim/engine/flow_network.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace moesim {
namespace {

constexpr double kMicro = 1e-6;

Time us(double microseconds) {
  return Time::from_seconds(microseconds * kMicro);
}

// A collective of flows, each over the media that it occupies for so long. Alone it takes as long
// as its busiest medium, or `alone` where that is longer.
CollectiveFlows flows(const std::vector<std::vector<std::pair<int, double>>>& of,
                      int num_media,
                      Time alone = Time::zero()) {
  CollectiveFlows made;
  std::vector<double> busy(static_cast<size_t>(num_media));
  for (int medium = 0; medium < num_media; ++medium) {
    made.uses.push_back({medium, 1});
  }
  for (const auto& hops : of) {
    for (const auto& [medium, microseconds] : hops) {
      made.hops.push_back({medium, microseconds * kMicro});
      busy[medium] += microseconds;
    }
    made.first_hop.push_back(static_cast<int>(made.hops.size()));
  }
  made.alone = std::max(alone, us(*std::ranges::max_element(busy)));
  return made;
}

// The ends of collectives, as (number, time), from now on.
std::vector<std::pair<int, Time>> run(FlowNetwork& network) {
  std::vector<std::pair<int, Time>> ends;
  while (const std::optional<Time> next = network.next()) {
    for (const int collective : network.take_ended(*next)) {
      ends.emplace_back(collective, *next);
    }
  }
  return ends;
}

using testing::ElementsAre;
using testing::Pair;

// Alone a collective takes as long as its busiest medium: 1 + 2 us on medium 0, 2 + 3 us on 1.
TEST(FlowNetworkTest, ACollectiveAloneTakesItsBusiestMedium) {
  FlowNetwork network(2);
  network.add(Time::zero(), 7, flows({{{0, 1}}, {{0, 2}, {1, 2}}, {{1, 3}}}, 2));
  EXPECT_THAT(run(network), ElementsAre(Pair(7, us(5))));
}

// Two of 2 us on one medium, the second a microsecond later: alone until 1, then halves: the first
// has 1 us left and ends at 3; the second then has 1 us left: 4.
TEST(FlowNetworkTest, ALaterOneSlowsTheFirst) {
  FlowNetwork network(1);
  network.add(Time::zero(), 0, flows({{{0, 2}}}, 1));
  ASSERT_EQ(network.next(), us(2));
  EXPECT_THAT(network.take_ended(us(1)), testing::IsEmpty());
  network.add(us(1), 1, flows({{{0, 2}}}, 1));
  EXPECT_THAT(run(network), ElementsAre(Pair(0, us(3)), Pair(1, us(4))));
}

// What max-min gives and queues do not: the first is held to a quarter by medium 1 and leaves three
// quarters of medium 0 to the second, which ends at 4/3 us. A queue of medium 0 would end it at 2.
TEST(FlowNetworkTest, WhatOneCannotUseAnotherTakes) {
  FlowNetwork network(2);
  network.add(Time::zero(), 0, flows({{{0, 1}, {1, 4}}}, 2));
  network.add(Time::zero(), 1, flows({{{0, 1}}}, 2));
  EXPECT_THAT(run(network),
              ElementsAre(Pair(1, Time::from_picoseconds(1'333'333)), Pair(0, us(4))));
}

// A collective that takes 4 us alone for what the medium does in 1 us takes a quarter of it and
// leaves the rest to another: 4/3 us. One without flows takes its own time.
TEST(FlowNetworkTest, NoFasterThanAlone) {
  FlowNetwork network(1);
  network.add(Time::zero(), 0, flows({{{0, 1}}}, 1, us(4)));
  network.add(Time::zero(), 1, flows({{{0, 1}}}, 1));
  network.add(Time::zero(), 2, flows({}, 1, us(3)));
  EXPECT_THAT(
      run(network),
      ElementsAre(Pair(1, Time::from_picoseconds(1'333'333)), Pair(2, us(3)), Pair(0, us(4))));
}

// Sums in other orders: sevenths on media that hold 7 flows each, in two collectives. All end at
// once: one event.
TEST(FlowNetworkTest, SymmetricFlowsEndTogether) {
  FlowNetwork network(3);
  for (int collective = 0; collective < 2; ++collective) {
    std::vector<std::vector<std::pair<int, double>>> all;
    for (int i = 0; i < 21; ++i) {
      all.push_back({{i % 3, 1.0 / 7}, {(i + 1) % 3, 1.0 / 7}});
    }
    network.add(Time::zero(), collective, flows(all, 3));
  }
  ASSERT_EQ(network.next(), us(4));
  EXPECT_THAT(network.take_ended(us(4)), ElementsAre(0, 1));
}

}  // namespace
}  // namespace moesim
