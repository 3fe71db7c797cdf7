// Max-min fair rates against closed forms. Seconds are of exclusive use of a medium, rates in whole
// flows a second.
#include "sim/engine/fair_rates.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/random.h"

namespace moesim {
namespace {

constexpr double kTolerance = 1e-10;  // relative

class FairRatesTest : public testing::Test {
 protected:
  int use(int medium, double weight = 1) {
    sharing_.num_media = std::max(sharing_.num_media, medium + 1);
    sharing_.uses.push_back({medium, weight});
    return static_cast<int>(sharing_.uses.size()) - 1;
  }

  void flow(const std::vector<FlowSharing::Hop>& hops, double cap = INFINITY) {
    sharing_.caps.push_back(cap);
    sharing_.hops.insert(sharing_.hops.end(), hops.begin(), hops.end());
    sharing_.first_hop.push_back(static_cast<int>(sharing_.hops.size()));
  }

  void expect_rates(const std::vector<double>& expected) {
    const std::vector<double> rates = fair_rates(sharing_);
    ASSERT_EQ(rates.size(), expected.size());
    for (size_t i = 0; i < rates.size(); ++i) {
      EXPECT_NEAR(rates[i], expected[i], kTolerance * expected[i]) << "flow " << i;
    }
  }

  FlowSharing sharing_;
};

TEST_F(FairRatesTest, NoFlows) {
  EXPECT_THAT(fair_rates({}), testing::IsEmpty());
}

// A flow of 4 s and 2 s on two links takes as long as the slower one: 1/4.
TEST_F(FairRatesTest, OneFlowIsHeldByItsSlowestLink) {
  flow({{use(0), 4}, {use(1), 2}});
  expect_rates({0.25});
}

// Two collectives on one link, one with 3 flows of 1 s, one with a flow of 1 s. Each has half the
// link: 3 flows at x with 3 * 1 * x = 1/2, so 1/6; one at 1/2.
TEST_F(FairRatesTest, CollectivesHaveEqualPartsHoweverManyFlows) {
  const int many = use(0);
  for (int i = 0; i < 3; ++i) {
    flow({{many, 1}});
  }
  flow({{use(0), 1}});
  expect_rates({1.0 / 6, 1.0 / 6, 1.0 / 6, 0.5});
}

// Weights 1 and 3: a quarter of the link and three quarters.
TEST_F(FairRatesTest, WeightsOneToThree) {
  flow({{use(0, 1), 1}});
  flow({{use(0, 3), 1}});
  expect_rates({0.25, 0.75});
}

// At most 1/10 a second: the first takes 0.1 of the link, the other has 0.9.
TEST_F(FairRatesTest, ACappedFlowLeavesTheRest) {
  flow({{use(0), 1}}, 0.1);
  flow({{use(0), 1}});
  expect_rates({0.1, 0.9});
}

// Flows of one collective make progress alike whatever their sizes: 1 s and 3 s of one link, of
// which it has half beside another collective. 1 * x + 3 * x = 1/2.
TEST_F(FairRatesTest, UnequalFlowsOfACollectiveEndTogether) {
  const int mine = use(0);
  flow({{mine, 1}});
  flow({{mine, 3}});
  flow({{use(0), 2}});
  expect_rates({0.125, 0.125, 0.25});
}

// Parking lot: one flow over three links of 1 s each, on each link another collective's flow:
// halves everywhere. With two more on the last link: thirds there, so 1/4 each of four; the others
// take what the long one leaves, 3/4.
TEST_F(FairRatesTest, ParkingLot) {
  flow({{use(0), 1}, {use(1), 1}, {use(2), 1}});
  for (int link = 0; link < 3; ++link) {
    flow({{use(link), 1}});
  }
  expect_rates({0.5, 0.5, 0.5, 0.5});
  flow({{use(2), 1}});
  flow({{use(2), 1}});
  expect_rates({0.25, 0.75, 0.75, 0.25, 0.25, 0.25});
}

// Staged traffic crosses a link twice: 2 s of it for a flow of 1 s. Two collectives have half of
// the link each: 1/4 and 1/2.
TEST_F(FairRatesTest, ALinkCrossedTwice) {
  flow({{use(0), 2}});
  flow({{use(0), 1}});
  expect_rates({0.25, 0.5});
}

// Weights are a link's. Collective a has 1 s on link 0 and 1/2 s on link 1, b 1/2 s and 1 s, so a
// claims less on link 0, b on link 1, neither link has a flow that claims least there alone. Both
// full: a + b/2 = 1, a/2 + b = 1: 2/3 each; link 0 has given a 2/3 of its time, b 1/3.
TEST_F(FairRatesTest, CollectivesThatHoldEachOther) {
  flow({{use(0), 1}, {use(1), 0.5}});
  flow({{use(0), 0.5}, {use(1), 1}});
  expect_rates({2.0 / 3, 2.0 / 3});
}

// A random network of up to five collectives with weights of their own.
FlowSharing random_network(Random& random) {
  FlowSharing sharing;
  sharing.num_media = static_cast<int>(random.uniform_int(1, 12));
  for (auto collective = random.uniform_int(1, 5); collective > 0; --collective) {
    const auto first_use = static_cast<int>(sharing.uses.size());
    const double weight = random.uniform(0.5, 4);
    for (int medium = 0; medium < sharing.num_media; ++medium) {
      sharing.uses.push_back({medium, weight});
    }
    for (auto flow = random.uniform_int(1, 8); flow > 0; --flow) {
      sharing.caps.push_back(random.uniform() < 0.3 ? random.uniform(0.01, 0.2) : INFINITY);
      const auto first = static_cast<int>(random.uniform_int(0, sharing.num_media - 1));
      for (int medium = first; medium < sharing.num_media; ++medium) {
        if (medium == first || random.uniform() < 0.5) {
          sharing.hops.push_back({first_use + medium, random.uniform(0.1, 3)});
        }
      }
      sharing.first_hop.push_back(static_cast<int>(sharing.hops.size()));
    }
  }
  return sharing;
}

// What the definition speaks of, worked out from rates.
class Shares {
 public:
  Shares(const FlowSharing& sharing, const std::vector<double>& rates)
      : sharing_(sharing),
        rates_(rates),
        seconds_(sharing.uses.size()),
        used_(static_cast<size_t>(sharing.num_media)),
        most_(used_.size()),
        weights_(used_.size()) {
    for_each_hop([&](int flow, const FlowSharing::Hop& hop) {
      const auto& [medium, weight] = sharing_.uses[hop.use];
      weights_[medium] += seconds_[hop.use] == 0 ? weight : 0;
      seconds_[hop.use] += hop.seconds;
      used_[medium] += hop.seconds * rates_[flow];
    });
    for_each_hop([&](int flow, const FlowSharing::Hop& hop) {
      double& most = most_[sharing_.uses[hop.use].medium];
      most = std::max(most, for_weight(flow, hop.use));
    });
  }

  // Whether its cap holds the flow, or a full medium on which no other has more for its weight.
  bool is_held(int flow) const {
    bool held = rates_[flow] == sharing_.caps[flow];
    for_each_hop([&](int other, const FlowSharing::Hop& hop) {
      const int medium = sharing_.uses[hop.use].medium;
      held |= other == flow && used_[medium] > 1 - kNear &&
              for_weight(flow, hop.use) > most_[medium] * (1 - kNear);
    });
    return held;
  }

  const std::vector<double>& used() const { return used_; }

  double guarantee(int flow) const {
    double least = sharing_.caps[flow];
    for_each_hop([&](int other, const FlowSharing::Hop& hop) {
      const auto& [medium, weight] = sharing_.uses[hop.use];
      least =
          other == flow ? std::min(least, weight / seconds_[hop.use] / weights_[medium]) : least;
    });
    return least;
  }

 private:
  static constexpr double kNear = 1e-6;

  template <typename Visit>
  void for_each_hop(const Visit& visit) const {
    for (int flow = 0; flow < sharing_.num_flows(); ++flow) {
      for (int i = sharing_.first_hop[flow]; i < sharing_.first_hop[flow + 1]; ++i) {
        visit(flow, sharing_.hops[i]);
      }
    }
  }

  double for_weight(int flow, int use) const {
    return rates_[flow] * seconds_[use] / sharing_.uses[use].weight;
  }

  const FlowSharing& sharing_;
  const std::vector<double>& rates_;
  std::vector<double> seconds_;

  std::vector<double> used_;  // of each medium's time
  std::vector<double> most_;  // for its weight, of any flow on a medium
  std::vector<double> weights_;
};

// Random networks: no medium is used beyond its time, each flow has what is guaranteed and is held
// by a full medium. The last may fail where the bounds do not meet: in one network of a thousand.
TEST(FairRatesPropertyTest, EachFlowIsHeldByAFullMedium) {
  constexpr std::uint64_t kSeed = 20261201;
  constexpr int kTrials = 3000;
  int num_not_held = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", trial " + std::to_string(trial));
    Random random(kSeed, static_cast<std::uint64_t>(trial));
    const FlowSharing sharing = random_network(random);
    const std::vector<double> rates = fair_rates(sharing);
    const Shares shares(sharing, rates);
    EXPECT_LE(*std::ranges::max_element(shares.used()), 1 + 1e-8);
    bool all_held = true;
    for (int flow = 0; flow < sharing.num_flows(); ++flow) {
      EXPECT_GE(rates[flow], shares.guarantee(flow) * (1 - 1e-9)) << "flow " << flow;
      all_held &= shares.is_held(flow);
    }
    num_not_held += all_held ? 0 : 1;
  }
  EXPECT_LE(num_not_held, kTrials / 1000);
}

}  // namespace
}  // namespace moesim
