#include "sim/collective/instance_traffic.h"

#include <algorithm>
#include <map>
#include <utility>

namespace moesim {

InstanceTraffic instance_traffic(const Seating& seating,
                                 const std::function<void(const VisitFlow&)>& for_all) {
  InstanceTraffic made;
  made.on_wire.resize(static_cast<std::size_t>(seating.size()));
  std::map<std::pair<int, int>, double> pairs;
  const auto add = [&made](int member, Port port, double share) {
    made.on_wire[member][static_cast<std::size_t>(port)] += share;
  };
  for_all([&](const MemberFlow& flow) {
    if (flow.to == kNvSwitchEnd) {
      add(flow.from, Port::kIntraOut, flow.share);
    } else if (flow.from == kNvSwitchEnd) {
      add(flow.to, Port::kIntraIn, flow.share);
    } else {
      const bool near = seating.node[flow.from] == seating.node[flow.to];
      add(flow.from, near ? Port::kIntraOut : Port::kInterOut, flow.share);
      add(flow.to, near ? Port::kIntraIn : Port::kInterIn, flow.share);
      pairs[{flow.from, flow.to}] += flow.share;
    }
  });
  for (const auto& [pair, share] : pairs) {
    const bool near = seating.node[pair.first] == seating.node[pair.second];
    double& largest = near ? made.largest.near : made.largest.far;
    largest = std::max(largest, share);
  }
  for (const PortBytes& member : made.on_wire) {
    for (int port = 0; port < kNumPorts; ++port) {
      made.most_on_wire[port] = std::max(made.most_on_wire[port], member[port]);
    }
  }
  return made;
}

}  // namespace moesim
