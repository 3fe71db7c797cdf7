#pragma once

#include "sim/cluster/topology.h"

namespace moesim {

// What the GPUs of the first half of the nodes can send to those of the rest at once, in bytes per
// second; of one node, the first half of its GPUs to the others. The first half is the smaller one
// where they are not equal. A minimal cut of the links, whatever rules their routes follow. 0 for
// a GPU alone.
double bisection_bandwidth(const Topology& topology);

}  // namespace moesim
