#pragma once

#include <vector>

#include "sim/io/cluster.h"
#include "sim/io/profile.h"
#include "sim/io/scenario.h"

namespace moesim {

// The groups of a scenario over ranks 0 .. world-1: `mp` and `dp` on the dense grid (mp varies
// fastest), `esp`, `ep`, `edp` and `ep_esp` on the expert grid (esp varies fastest, then ep), and
// `world`. Groups of one rank are included: their collectives take no time. The two grids must have
// the same positive world (CHECK).
std::vector<Group> make_groups(const ParallelConfig& parallel);

// The node of a rank of the cluster.
int node_of(const Cluster& cluster, int rank);

// How many nodes the members sit on.
int num_nodes_of(const Cluster& cluster, const std::vector<int>& members);

// Which ports the members' traffic uses: kNode when all share a node (also a member alone), kFabric
// when no two do, else kBoth.
Span span_of(const Cluster& cluster, const std::vector<int>& members);

}  // namespace moesim
