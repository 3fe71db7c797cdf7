#pragma once

#include "sim/io/cluster.h"

namespace moesim {

// A cluster with what follows from its wiring, if it has one: its graph, and the rates of its
// ports, which serve collectives that the profile has no figure for, and say how much faster or
// slower its links are than those of a profile. A GPU's port into the node has the rate at which it
// can send to all others of the node, each the same, while they do so too; the port between nodes
// that at which it can send to the GPU of its number on the next node, while all do so. Both are
// those of the GPU with the fastest way: what is slower for others is seen on their links, and a
// port that were slow for all would have one degraded NIC slow collectives that do not pass it.
// Latencies are the longest of those ways. Throws Error as build_topology does, and where a GPU
// does not reach another.
Cluster wired(Cluster cluster);

}  // namespace moesim
