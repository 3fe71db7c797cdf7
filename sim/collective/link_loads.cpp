#include "sim/collective/link_loads.h"

#include <algorithm>
#include <cmath>

#include "sim/base/check.h"
#include "sim/cluster/groups.h"
#include "sim/collective/flows.h"

namespace moesim {
namespace {

// Bytes are added up in whole units of 2^-20, so that the order of flows does not matter: ranks and
// links in equal places have equal loads to the last bit.
constexpr int kUnitBits = 20;

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

LinkLoads::LinkLoads(const Program& program, const Cluster& cluster)
    : program_(program),
      cluster_(cluster),
      topology_(*cluster.topology),
      routes_(topology_, *cluster.wiring),
      units_(topology_.media().size()) {}

const std::vector<MediumLoad>& LinkLoads::of(const Collective& collective, int instance) const {
  std::vector<std::vector<MediumLoad>>& instances = known_[traffic_key(collective)];
  instances.resize(program_.groups[collective.group].members.size());
  if (instances[instance].empty()) {
    instances[instance] = make(collective, instance);
  }
  return instances[instance];
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
  routes_.find(from, to, route_);
  for (const Hop& hop : route_) {
    const int medium = topology_.links()[hop.link].medium;
    if (units_[medium] == 0) {
      touched_.push_back(medium);
    }
    units_[medium] +=
        std::max<std::int64_t>(1, std::llround(std::ldexp(bytes * hop.share, kUnitBits)));
  }
}

std::vector<MediumLoad> LinkLoads::take() const {
  std::ranges::sort(touched_);
  std::vector<MediumLoad> loads;
  for (const int medium : touched_) {
    const double bytes = std::ldexp(static_cast<double>(units_[medium]), -kUnitBits);
    loads.push_back({medium, bytes / topology_.media()[medium]});
    units_[medium] = 0;
  }
  touched_.clear();
  return loads;
}

}  // namespace moesim
