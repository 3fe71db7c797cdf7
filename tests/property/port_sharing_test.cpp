// Random arrivals at one port against a plain fluid simulation in floating point: the port reports
// the fluid's end rounded up to a whole picosecond. A failure prints its seed.
#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "sim/engine/port_queue.h"
#include "tests/property/random_engine_program.h"

namespace moesim {
namespace {

struct Arrival {
  std::int64_t time = 0;
  std::int64_t load = 0;
  double weight = 1;
};

std::vector<Arrival> pick_arrivals(Random& random) {
  std::vector<Arrival> arrivals;
  std::int64_t time = 0;
  for (int i = pick(random, 1, 30); i > 0; --i) {
    time += pick(random, 0, 2) * pick(random, 0, 1000);
    arrivals.push_back({time, pick(random, 1, 2000), pick(random, 1, 16) / 4.0});
  }
  return arrivals;
}

// From one arrival or departure to the next, everyone drains at weight / sum of weights.
std::vector<long double> fluid_ends(const std::vector<Arrival>& arrivals) {
  std::vector<long double> ends(arrivals.size());
  std::map<std::size_t, long double> left;
  long double now = 0;
  for (std::size_t next = 0; next < arrivals.size() || !left.empty();) {
    long double weights = 0;
    for (const auto& [user, load] : left) {
      weights += arrivals[user].weight;
    }
    long double until = std::numeric_limits<long double>::infinity();
    if (next < arrivals.size()) {
      until = static_cast<long double>(arrivals[next].time);
    }
    for (const auto& [user, load] : left) {
      until = std::min(until, now + load * weights / arrivals[user].weight);
    }
    for (auto it = left.begin(); it != left.end();) {
      it->second -= (until - now) * arrivals[it->first].weight / weights;
      if (it->second < 1e-9L) {
        ends[it->first] = until;
        it = left.erase(it);
      } else {
        ++it;
      }
    }
    now = until;
    for (; next < arrivals.size() && static_cast<long double>(arrivals[next].time) <= now; ++next) {
      left[next] = static_cast<long double>(arrivals[next].load);
    }
  }
  return ends;
}

TEST(PortSharingPropertyTest, EndsAreTheFluidsRoundedUp) {
  constexpr long double kFloatingPointError = 1e-4L;  // ps
  for (int seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const std::vector<Arrival> arrivals = pick_arrivals(random);
    PortQueue port;
    std::vector<Time> ends(arrivals.size());
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      port.enter(
          ps(arrivals[i].time), static_cast<int>(i), ps(arrivals[i].load), arrivals[i].weight);
      for (const PortQueue::User& user : port.users()) {
        ends[user.collective] = user.end;
      }
    }
    const std::vector<long double> fluid = fluid_ends(arrivals);
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      const auto end = static_cast<long double>(ends[i].picoseconds());
      EXPECT_GE(end, fluid[i] - kFloatingPointError);
      EXPECT_LE(end, fluid[i] + 1 + kFloatingPointError);
    }
    ASSERT_FALSE(HasFailure());
  }
}

}  // namespace
}  // namespace moesim
