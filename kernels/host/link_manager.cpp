#include "kernels/host/link_manager.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "sim/base/check.h"

namespace moesim {
namespace {

// For each flow the links that it crosses and its weight.
struct WeightedFlow {
  const std::vector<int>* links = nullptr;
  double weight = 1;
};

// Progressive filling: the link whose fair share per weight is smallest is full first; its flows
// are given that share and leave the rest to the others.
class Filling {
 public:
  Filling(const std::vector<double>& rates, const std::vector<WeightedFlow>& flows)
      : flows_(flows), left_(rates), links_(rates.size()), shares_(flows.size(), -1.0) {
    for (size_t flow = 0; flow < flows.size(); ++flow) {
      for (const int link : *flows[flow].links) {
        links_[link].push_back(flow);
      }
    }
  }

  std::vector<double> fill() && {
    for (int link = tightest(); link >= 0; link = tightest()) {
      const double level = level_;
      for (const size_t flow : links_[link]) {
        if (shares_[flow] < 0) {
          give(flow, level * flows_[flow].weight);
        }
      }
    }
    return std::move(shares_);
  }

 private:
  // The next link to be full, -1 when all flows have their rate.
  int tightest() {
    int best = -1;
    for (size_t link = 0; link < links_.size(); ++link) {
      double weight = 0;
      for (const size_t flow : links_[link]) {
        weight += shares_[flow] < 0 ? flows_[flow].weight : 0;
      }
      if (weight > 0 && (best < 0 || left_[link] / weight < level_)) {
        best = static_cast<int>(link);
        level_ = left_[link] / weight;
      }
    }
    return best;
  }

  void give(size_t flow, double rate) {
    shares_[flow] = rate;
    for (const int link : *flows_[flow].links) {
      left_[link] = std::max(0.0, left_[link] - rate);
    }
  }

  const std::vector<WeightedFlow>& flows_;
  std::vector<double> left_;                // of each link's rate
  std::vector<std::vector<size_t>> links_;  // flows on each
  std::vector<double> shares_;              // negative: none yet
  double level_ = 0;
};

}  // namespace

LinkManager::LinkManager(std::vector<double> rates) : rates_(std::move(rates)) {
  for (const double rate : rates_) {
    CHECK(rate > 0, "a link of {} bytes per second", rate);
  }
}

void LinkManager::add(int id, Time start, std::vector<Flow> flows) {
  CHECK(!ends_.contains(id), "transfer {} was added before", id);
  std::erase_if(flows, [](const Flow& flow) { return flow.bytes == 0; });
  Arrival arrival{id, std::max(start, forgotten_), std::move(flows)};
  const auto before = [](const Arrival& left, const Arrival& right) {
    return std::tie(left.start, left.id) < std::tie(right.start, right.id);
  };
  auto& arrivals = fluid_.arrivals;
  const auto place = std::upper_bound(arrivals.begin(), arrivals.end(), arrival, before);
  arrivals.insert(place, std::move(arrival));
  plan();
}

Time LinkManager::end(int id) const {
  const auto found = ends_.find(id);
  CHECK(found != ends_.end(), "transfer {} was never added", id);
  return found->second;
}

void LinkManager::forget_before(Time time) {
  forgotten_ = std::max(forgotten_, time);
  while (!fluid_.is_empty() && fluid_.next_event() < forgotten_) {
    fluid_.step(rates_);
  }
  // What has left for good need not be planned again.
  std::erase_if(fluid_.ends, [&](const auto& end) {
    return std::none_of(fluid_.live.begin(), fluid_.live.end(), [&](const LiveFlow& flow) {
      return flow.id == end.first;
    });
  });
}

// Plays the future through on a copy.
void LinkManager::plan() {
  Fluid future = fluid_;
  while (!future.is_empty()) {
    future.step(rates_);
  }
  for (const auto& [id, end] : future.ends) {
    ends_[id] = end;
  }
}

Time LinkManager::LiveFlow::end() const {
  return since + Time::from_seconds(left / rate);
}

Time LinkManager::Fluid::next_event() const {
  Time next = arrivals.empty() ? Time::max() : arrivals.front().start;
  for (const LiveFlow& flow : live) {
    next = std::min(next, flow.end());
  }
  return next;
}

// Everything that happens at the next moment at which anything happens.
void LinkManager::Fluid::step(const std::vector<double>& rates) {
  const Time now = next_event();
  std::erase_if(live, [&](const LiveFlow& flow) {
    const bool is_over = flow.end() <= now;
    if (is_over) {
      ends[flow.id] = now;
    }
    return is_over;
  });
  while (!arrivals.empty() && arrivals.front().start <= now) {
    Arrival& arrival = arrivals.front();
    ends[arrival.id] = now;
    for (Flow& flow : arrival.flows) {
      const auto bytes = static_cast<double>(flow.bytes);
      live.push_back({arrival.id, std::move(flow.links), bytes, now, 0});
    }
    arrivals.erase(arrivals.begin());
  }
  std::stable_sort(live.begin(), live.end(), [](const LiveFlow& left, const LiveFlow& right) {
    return left.id < right.id;
  });
  share(now, rates);
}

void LinkManager::Fluid::share(Time now, const std::vector<double>& rates) {
  std::vector<WeightedFlow> flows;
  for (auto first = live.begin(); first != live.end();) {
    const auto last =
        std::find_if(first, live.end(), [&](const auto& flow) { return flow.id != first->id; });
    std::vector<int> num_flows(rates.size());
    for (auto flow = first; flow != last; ++flow) {
      std::for_each(flow->links.begin(), flow->links.end(), [&](int link) { ++num_flows[link]; });
    }
    for (; first != last; ++first) {
      int most = 0;
      for (const int link : first->links) {
        most = std::max(most, num_flows[link]);
      }
      flows.push_back({&first->links, 1.0 / most});
    }
  }
  const std::vector<double> shares = Filling(rates, flows).fill();
  for (size_t i = 0; i < live.size(); ++i) {
    LiveFlow& flow = live[i];
    // Where the rate stays, so does the account: rounding then does not depend on what else
    // happened in between.
    if (flow.rate != shares[i]) {
      flow.left -= flow.rate * (now - flow.since).seconds();
      flow.since = now;
      flow.rate = shares[i];
    }
  }
}

}  // namespace moesim
