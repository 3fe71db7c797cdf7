#include "sim/collective/link_loads.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "sim/cluster/groups.h"
#include "sim/collective/flows.h"

namespace moesim {
namespace {

// Bytes are added up in whole units of 2^-20, so that the order of flows does not matter: ranks and
// links in equal places have equal loads to the last bit.
constexpr double kUnits = 1 << 20;

}  // namespace

TrafficKey traffic_key(const Collective& collective) {
  const bool is_shift = collective.operation == CollectiveOperation::kShift;
  const bool has_root = collective.operation == CollectiveOperation::kBroadcast;
  return {collective.group,
          static_cast<int>(collective.operation),
          is_shift ? collective.distance : 0,
          is_shift && collective.wrap,
          has_root ? collective.root : 0};
}

GroupLoads group_loads(std::vector<std::vector<MediumLoad>> of_instance, int num_media) {
  GroupLoads loads{std::move(of_instance), 0};
  std::vector<double> seconds(static_cast<size_t>(num_media));
  for (const std::vector<MediumLoad>& instance : loads.of_instance) {
    for (const MediumLoad& load : instance) {
      seconds[load.medium] += load.seconds;
      loads.busiest = std::max(loads.busiest, seconds[load.medium]);
    }
  }
  return loads;
}

LinkLoads::LinkLoads(const Program& program, const Cluster& cluster)
    : program_(program),
      cluster_(cluster),
      links_(*cluster.links),
      units_(links_.topology.media().size()) {}

std::shared_ptr<const GroupLoads> LinkLoads::of(const Collective& collective) const {
  std::shared_ptr<const GroupLoads>& loads = asked_[traffic_key(collective)];
  if (loads == nullptr) {
    loads = find_or_make(collective);
  }
  return loads;
}

// Remembered for other Programs by what decides it, whatever they call the group: a key that is too
// long to be made for every task.
std::shared_ptr<const GroupLoads> LinkLoads::find_or_make(const Collective& collective) const {
  const auto [group, operation, distance, wrap, root] = traffic_key(collective);
  const auto& members = program_.groups[group].members;
  std::string key = fmt::format("{} {} {} {} {}", operation, distance, wrap, root, members.size());
  for (const std::vector<int>& instance : members) {
    const auto size = static_cast<int>(instance.size());
    key.append(reinterpret_cast<const char*>(&size), sizeof(size));
    key.append(reinterpret_cast<const char*>(instance.data()), instance.size() * sizeof(int));
  }
  std::shared_ptr<const GroupLoads>& known = links_.known[key];
  if (known == nullptr) {
    std::vector<std::vector<MediumLoad>> loads;
    for (int instance = 0; instance < std::ssize(members); ++instance) {
      loads.push_back(make(collective, instance));
    }
    known = std::make_shared<const GroupLoads>(
        group_loads(std::move(loads), static_cast<int>(units_.size())));
  }
  return known;
}

// For a buffer of 1 GiB, so that units are fine enough.
std::vector<MediumLoad> LinkLoads::make(const Collective& collective, int instance) const {
  constexpr double kBytes = 1 << 30;
  const std::vector<int>& members = program_.groups[collective.group].members[instance];
  std::vector<int> nodes;
  for (const int rank : members) {
    nodes.push_back(node_of(cluster_, rank));
  }
  for_each_flow(collective, nodes, [&](const MemberFlow& flow) {
    add(members[flow.from], members[flow.to], flow.share * kBytes);
  });
  std::vector<MediumLoad> loads = take();
  for (MediumLoad& load : loads) {
    load.seconds /= kBytes;
  }
  return loads;
}

void LinkLoads::add(int from, int to, double bytes) const {
  links_.routes.find(from, to, route_);
  for (const Hop& hop : route_) {
    const int medium = links_.topology.links()[hop.link].medium;
    if (units_[medium] == 0) {
      touched_.push_back(medium);
    }
    units_[medium] +=
        std::max<std::int64_t>(1, static_cast<std::int64_t>(bytes * hop.share * kUnits + 0.5));
  }
}

std::vector<MediumLoad> LinkLoads::take() const {
  std::ranges::sort(touched_);
  std::vector<MediumLoad> loads;
  for (const int medium : touched_) {
    const double bytes = static_cast<double>(units_[medium]) / kUnits;
    loads.push_back({medium, bytes / links_.topology.media()[medium]});
    units_[medium] = 0;
  }
  touched_.clear();
  return loads;
}

}  // namespace moesim
