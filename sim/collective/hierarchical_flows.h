#pragma once

#include "sim/collective/flows.h"

namespace moesim {

// Level by level, each by rings: m nodes with g members each.
//   ALL_REDUCE      reduce-scatter within nodes, all-reduce of 1/g between the members of each
//                   place, all-gather within
//   ALL_GATHER      all-gather of 1/g between the members of each place, then within nodes
//   REDUCE_SCATTER  within nodes, then of 1/g between the members of each place
// (Horovod's and BlueConnect's: Cho et al., "BlueConnect: decomposing all-reduce for deep learning
// on heterogeneous network hierarchy", MLSys 2019.) As many members on each node.
void hierarchical_flows(const Collective& collective,
                        int phase,
                        const Seating& seating,
                        const VisitFlow& visit);

}  // namespace moesim
