#pragma once

#include "sim/cluster/topology.h"
#include "sim/io/cluster.h"

namespace moesim {

// The graph of a cluster that has a wiring (CHECK): its nodes, the fabric, then the changes. Throws
// Error, located in the cluster's file, where the description does not add up: GPUs, switches and
// NICs that do not divide, a fabric without room, a change of nothing, a GPU that cannot reach the
// others.
Topology build_topology(const Cluster& cluster);

// The nodes of a group. What a dump did not say is in `inferred`.
NodeGraph node_graph(const NodeGroup& group, int gpus_per_node);

}  // namespace moesim
