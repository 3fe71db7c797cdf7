#pragma once

#include <functional>
#include <vector>

#include "sim/collective/flows.h"
#include "sim/collective/port.h"

namespace moesim {

// The most that two members exchange one way, on a node and between nodes.
struct LargestMessages {
  double near = 0;
  double far = 0;
};

// What a set of messages among the members of a group instance brings them, in the messages' unit.
struct InstanceTraffic {
  std::vector<PortBytes> on_wire;  // by member
  PortBytes most_on_wire{};        // of any member
  LargestMessages largest;
};

// `for_all` passes every message to what it is given.
InstanceTraffic instance_traffic(const Seating& seating,
                                 const std::function<void(const VisitFlow&)>& for_all);

}  // namespace moesim
