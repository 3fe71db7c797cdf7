#include "sim/engine/flow_network.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "sim/base/error.h"

namespace moesim {
namespace {

constexpr double kPicoseconds = Time::kPicosecondsPerSecond;

// What is left of a flow so near its end is rounded off.
double rounding_picoseconds(Time begin, Time now) {
  return 0.501 + 1e-12 * static_cast<double>((now - begin).picoseconds());
}

}  // namespace

void FlowNetwork::add(Time now, int collective, const CollectiveFlows& flows) {
  move_to(now);
  const auto num_hops = static_cast<std::int64_t>(sharing_.hops.size() + flows.hops.size());
  if (num_hops > kMostHops) {
    throw Error(fmt::format(
        "the messages under way at once cross {} links and ports; resolution flows follows at most "
        "{}; choose ports or fold, or fewer ranks",
        num_hops,
        kMostHops));
  }
  const auto first_use = static_cast<int>(sharing_.uses.size());
  const auto num_flows = static_cast<int>(flows.first_hop.size()) - 1;
  sharing_.uses.insert(sharing_.uses.end(), flows.uses.begin(), flows.uses.end());
  active_of_use_.resize(sharing_.uses.size(), static_cast<int>(active_.size()));
  sharing_.caps.resize(flows_.size() + static_cast<size_t>(num_flows), 1 / flows.alone.seconds());
  for (int flow = 0; flow < num_flows; ++flow) {
    for (int i = flows.first_hop[flow]; i < flows.first_hop[flow + 1]; ++i) {
      sharing_.hops.push_back({first_use + flows.hops[i].use, flows.hops[i].seconds});
    }
    sharing_.first_hop.push_back(static_cast<int>(sharing_.hops.size()));
    flows_.push_back({.collective = static_cast<int>(active_.size()), .begin = now});
  }
  active_.push_back({collective, num_flows, now + flows.alone});
  has_changed_ = true;
}

std::optional<Time> FlowNetwork::next() {
  if (has_changed_) {
    find_rates();
  }
  std::optional<Time> next;
  for (const Active& active : active_) {
    if (active.num_flows == 0) {
      next = std::min(next.value_or(Time::max()), std::max(active.not_before, now_));
    }
  }
  double soonest = INFINITY;
  for (const Flow& flow : flows_) {
    soonest = std::min(soonest, flow.left / flow.rate);
  }
  constexpr double kFits = 9e18;  // picoseconds: what is later than that is refused anyway
  if (!flows_.empty()) {
    const double picoseconds = std::max(0.0, std::round(soonest));
    const double room = kFits - static_cast<double>(now_.picoseconds());
    const Time end = picoseconds < room
                         ? now_ + Time::from_picoseconds(static_cast<std::int64_t>(picoseconds))
                         : Time::max();
    next = std::min(next.value_or(Time::max()), end);
  }
  return next;
}

std::vector<int> FlowNetwork::take_ended(Time now) {
  if (has_changed_) {
    find_rates();
  }
  move_to(now);
  end_flows();
  std::vector<int> ended;
  drop_ended(ended);
  return ended;
}

void FlowNetwork::move_to(Time now) {
  if (now == now_) {
    return;
  }
  const auto elapsed = static_cast<double>((now - now_).picoseconds());
  for (Flow& flow : flows_) {
    flow.left -= flow.rate * elapsed;
  }
  now_ = now;
}

// Takes out flows that have ended, and with them their hops.
void FlowNetwork::end_flows() {
  size_t kept = 0;
  int kept_hops = 0;
  int first = 0;
  for (size_t i = 0; i < flows_.size(); ++i) {
    const Flow flow = flows_[i];
    const int end = sharing_.first_hop[i + 1];
    if (flow.left > flow.rate * rounding_picoseconds(flow.begin, now_)) {
      for (int hop = first; hop < end; ++hop) {
        sharing_.hops[kept_hops++] = sharing_.hops[hop];
      }
      sharing_.caps[kept] = sharing_.caps[i];
      flows_[kept++] = flow;
      sharing_.first_hop[kept] = kept_hops;
    } else {
      --active_[flow.collective].num_flows;
    }
    first = end;
  }
  has_changed_ = has_changed_ || kept < flows_.size();
  flows_.resize(kept);
  sharing_.caps.resize(kept);
  sharing_.first_hop.resize(kept + 1);
  sharing_.hops.resize(static_cast<size_t>(kept_hops));
}

void FlowNetwork::find_rates() {
  const std::vector<double> rates = fair_rates(sharing_);
  for (size_t i = 0; i < flows_.size(); ++i) {
    flows_[i].rate = rates[i] / kPicoseconds;
  }
  has_changed_ = false;
}

// Takes out collectives that have ended, and with them their uses.
void FlowNetwork::drop_ended(std::vector<int>& ended) {
  std::vector<int> new_active(active_.size());
  std::vector<Active> kept;
  for (size_t i = 0; i < active_.size(); ++i) {
    new_active[i] = static_cast<int>(kept.size());
    if (active_[i].num_flows == 0 && active_[i].not_before <= now_) {
      ended.push_back(active_[i].collective);
      new_active[i] = -1;
    } else {
      kept.push_back(active_[i]);
    }
  }
  if (ended.empty()) {
    return;
  }
  active_ = std::move(kept);
  for (Flow& flow : flows_) {
    flow.collective = new_active[flow.collective];
  }
  std::vector<int> new_use(sharing_.uses.size(), -1);
  int num_uses = 0;
  for (size_t use = 0; use < new_use.size(); ++use) {
    if (const int active = new_active[active_of_use_[use]]; active >= 0) {
      sharing_.uses[num_uses] = sharing_.uses[use];
      active_of_use_[num_uses] = active;
      new_use[use] = num_uses++;
    }
  }
  sharing_.uses.resize(static_cast<size_t>(num_uses));
  active_of_use_.resize(static_cast<size_t>(num_uses));
  for (FlowSharing::Hop& hop : sharing_.hops) {
    hop.use = new_use[hop.use];
  }
}

}  // namespace moesim
