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
  std::int64_t alone = 0;  // picoseconds; the load's own where that is longer
  double weight = 1;
};

std::vector<Arrival> pick_arrivals(Random& random) {
  std::vector<Arrival> arrivals;
  std::int64_t time = 0;
  for (int i = pick(random, 1, 30); i > 0; --i) {
    time += pick(random, 0, 2) * pick(random, 0, 1000);
    arrivals.push_back({.time = time,
                        .load = pick(random, 1, 2000),
                        .alone = pick(random, 0, 1) * pick(random, 0, 10'000),
                        .weight = pick(random, 1, 16) / 4.0});
  }
  return arrivals;
}

using Loads = std::map<std::size_t, long double>;  // what is left, by user

// Everyone has a share of the port in proportion to its weight; those who cannot use theirs are set
// aside with what they can, and the rest shares what is left, until nobody is set aside.
std::map<std::size_t, long double> rates(const std::vector<Arrival>& arrivals, const Loads& left) {
  std::map<std::size_t, long double> rates;
  long double capacity = 1;
  for (bool again = true; again;) {
    again = false;
    long double weights = 0;
    for (const auto& [user, load] : left) {
      weights += rates.contains(user) ? 0 : arrivals[user].weight;
    }
    long double taken = 0;
    for (const auto& [user, load] : left) {
      const Arrival& arrival = arrivals[user];
      const auto whole = static_cast<long double>(arrival.load);
      const long double cap =
          whole / static_cast<long double>(std::max(arrival.load, arrival.alone));
      if (!rates.contains(user) && cap < capacity * arrival.weight / weights) {
        rates[user] = cap;
        taken += cap;
        again = true;
      }
    }
    if (!again) {
      for (const auto& [user, load] : left) {
        rates.try_emplace(user, capacity * arrivals[user].weight / weights);
      }
    }
    capacity -= taken;
  }
  return rates;
}

// From one arrival or departure to the next.
std::vector<long double> fluid_ends(const std::vector<Arrival>& arrivals) {
  std::vector<long double> ends(arrivals.size());
  Loads left;
  long double now = 0;
  for (std::size_t next = 0; next < arrivals.size() || !left.empty();) {
    const auto rate = rates(arrivals, left);
    long double until = std::numeric_limits<long double>::infinity();
    if (next < arrivals.size()) {
      until = static_cast<long double>(arrivals[next].time);
    }
    for (const auto& [user, load] : left) {
      until = std::min(until, now + load / rate.at(user));
    }
    for (auto it = left.begin(); it != left.end();) {
      it->second -= (until - now) * rate.at(it->first);
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
      port.enter(ps(arrivals[i].time),
                 {.collective = static_cast<int>(i),
                  .load = ps(arrivals[i].load),
                  .alone = ps(arrivals[i].alone),
                  .weight = arrivals[i].weight});
      port.settle();
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
