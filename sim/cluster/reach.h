#pragma once

#include "sim/cluster/routes.h"
#include "sim/cluster/topology.h"

namespace moesim {

// Throws Error naming the first parts that it meets of which one does not reach the other, where a
// GPU has no way to some GPU of another node. Within nodes, NodePaths does that.
void check_reach(const Topology& topology, const Routes& routes);

}  // namespace moesim
