#pragma once

#include <vector>

#include "sim/io/cluster.h"
#include "sim/io/profile.h"
#include "sim/io/scenario.h"

namespace moesim {

// The groups of a scenario over ranks 0 .. world-1: `mp` and `dp` on the dense grid (mp varies
// fastest), `esp`, `ep`, `edp` and `ep_esp` on the expert grid (esp varies fastest, then ep), and
// `world`. Groups of one rank are included: their collectives take no time. The two grids must have
// the same positive number of ranks (CHECK).
//
// With pp > 1 stages, each a block of mp * dp consecutive ranks, these are partitions inside each
// stage, and there are `stage`; `pp`, the ranks of equal place over the stages; and the boundaries
// between neighbours, ranks of equal place two by two: `pp_even` of stages 0 and 1, 2 and 3, …,
// and, with three stages or more, `pp_odd` of 1 and 2, 3 and 4, ….
std::vector<Group> make_groups(const ParallelConfig& parallel);

// The node of a rank of the cluster.
int node_of(const Cluster& cluster, int rank);

// How many nodes the members sit on.
int num_nodes_of(const Cluster& cluster, const std::vector<int>& members);

// Which ports the members' traffic uses: kNode when all share a node (also a member alone), kFabric
// when no two do, else kBoth.
Span span_of(const Cluster& cluster, const std::vector<int>& members);

}  // namespace moesim
