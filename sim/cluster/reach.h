#pragma once

#include "sim/cluster/topology.h"
#include "sim/io/wiring.h"

namespace moesim {

// Throws Error naming the first parts that it meets of which one does not reach the other, where a
// GPU has no way to some GPU of another node. Within nodes, NodePaths does that.
void check_reach(const Topology& topology, const Wiring& wiring);

}  // namespace moesim
