#include "sim/collective/link_loads.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "sim/cluster/groups.h"

namespace moesim {
namespace {

// Bytes are added up in whole units of 2^-20, so that the order of flows does not matter: ranks and
// links in equal places have equal loads to the last bit.
constexpr double kUnits = 1 << 20;

}  // namespace

TrafficKey traffic_key(const Collective& collective, const FlowStep& step) {
  const bool is_shift = collective.operation == CollectiveOperation::kShift;
  const bool has_root = collective.operation == CollectiveOperation::kBroadcast;
  const bool has_choices = step.algorithm == Algorithm::kDeduplicated;
  return {collective.group,
          static_cast<int>(collective.operation),
          is_shift ? collective.distance : 0,
          is_shift && collective.wrap,
          has_root ? collective.root : 0,
          static_cast<int>(resolved(collective.operation, step.algorithm)),
          step.phase,
          has_choices ? collective.top_k : 0,
          has_choices ? collective.num_experts : 0,
          has_choices && collective.combine};
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

std::vector<int> nodes_of(const Cluster& cluster, const std::vector<int>& members) {
  std::vector<int> nodes;
  nodes.reserve(members.size());
  for (const int rank : members) {
    nodes.push_back(node_of(cluster, rank));
  }
  return nodes;
}

std::shared_ptr<const GroupLoads> LinkLoads::of(const Collective& collective,
                                                const FlowStep& step) const {
  std::shared_ptr<const GroupLoads>& loads = asked_[traffic_key(collective, step)];
  if (loads == nullptr) {
    loads = find_or_make(collective, step);
  }
  return loads;
}

// Remembered for other Programs by what decides it, whatever they call the group: a key that is too
// long to be made for every task.
std::shared_ptr<const GroupLoads> LinkLoads::find_or_make(const Collective& collective,
                                                          const FlowStep& step) const {
  const auto [group, operation, distance, wrap, root, algorithm, phase, top_k, experts, combine] =
      traffic_key(collective, step);
  const auto& members = program_.groups[group].members;
  std::string key = fmt::format("{} {} {} {} {} {} {} {} {} {}",
                                operation,
                                distance,
                                wrap,
                                root,
                                algorithm,
                                phase,
                                top_k,
                                experts,
                                combine,
                                members.size());
  for (const std::vector<int>& instance : members) {
    const auto size = static_cast<int>(instance.size());
    key.append(reinterpret_cast<const char*>(&size), sizeof(size));
    key.append(reinterpret_cast<const char*>(instance.data()), instance.size() * sizeof(int));
  }
  std::shared_ptr<const GroupLoads>& known = links_.known[key];
  if (known == nullptr) {
    std::vector<std::vector<MediumLoad>> loads;
    for (int instance = 0; instance < std::ssize(members); ++instance) {
      loads.push_back(make(collective, step, instance));
    }
    known = std::make_shared<const GroupLoads>(
        group_loads(std::move(loads), static_cast<int>(units_.size())));
  }
  return known;
}

// For a buffer of 1 GiB, so that units are fine enough.
std::vector<MediumLoad> LinkLoads::make(const Collective& collective,
                                        const FlowStep& step,
                                        int instance) const {
  constexpr double kBytes = 1 << 30;
  const std::vector<int>& members = program_.groups[collective.group].members[instance];
  const Seating seating(nodes_of(cluster_, members));
  std::vector<MediumLoad> loads = of_messages(members, seating, [&](const VisitFlow& visit) {
    for_each_flow(collective, step, seating, [&visit](const MemberFlow& flow) {
      visit({flow.from, flow.to, flow.share * kBytes});
    });
  });
  for (MediumLoad& load : loads) {
    load.seconds /= kBytes;
  }
  return loads;
}

std::vector<MediumLoad> LinkLoads::of_messages(const std::vector<int>& members,
                                               const Seating& seating,
                                               const ForAll& for_all) const {
  for_all([&](const MemberFlow& flow) {
    for (const Hop& hop : way(members, seating, flow)) {
      add_to_link(hop.link, flow.share * hop.share);
    }
  });
  return take();
}

// To and from NVSwitches: as much of the way to or from a neighbour as lies on that side of them.
const Route& LinkLoads::way(const std::vector<int>& members,
                            const Seating& seating,
                            const MemberFlow& flow) const {
  const auto neighbour = [&](int member) {
    const std::vector<int>& here = seating.on_node[seating.node[member]];
    return members[here[(seating.place[member] + 1) % here.size()]];
  };
  const auto is_switch = [this](int element) {
    return links_.topology.elements()[element].kind == ElementKind::kNvSwitch;
  };
  if (flow.to == kNvSwitchEnd) {
    links_.routes.find(members[flow.from], neighbour(flow.from), route_);
    std::erase_if(route_,
                  [&](const Hop& hop) { return !is_switch(links_.topology.links()[hop.link].to); });
  } else if (flow.from == kNvSwitchEnd) {
    links_.routes.find(neighbour(flow.to), members[flow.to], route_);
    std::erase_if(
        route_, [&](const Hop& hop) { return !is_switch(links_.topology.links()[hop.link].from); });
  } else {
    links_.routes.find(members[flow.from], members[flow.to], route_);
  }
  return route_;
}

bool LinkLoads::pass_switch(int from, int to) const {
  links_.routes.find(from, to, route_);
  return std::ranges::any_of(route_, [this](const Hop& hop) {
    const Link& link = links_.topology.links()[hop.link];
    return links_.topology.elements()[link.to].kind == ElementKind::kNvSwitch;
  });
}

void LinkLoads::add_to_link(int link, double bytes) const {
  const int medium = links_.topology.links()[link].medium;
  if (units_[medium] == 0) {
    touched_.push_back(medium);
  }
  units_[medium] += std::max<std::int64_t>(1, static_cast<std::int64_t>(bytes * kUnits + 0.5));
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
