#pragma once

#include <vector>

#include "kernels/host/link_manager.h"
#include "kernels/moves.h"
#include "sim/io/cluster.h"
#include "sim/io/program.h"

namespace moesim {

// Bytes that each member of a group instance sends to each other: [from][to].
using Traffic = std::vector<std::vector<int64_t>>;

// What a plan moves between members, charged at the tensor's dtype.
Traffic traffic_of(const MovePlan& plan, int64_t row_bytes, int num_members);

// What a collective without regions sends directly between its members, from its bytes:
// an equal part each (all-gather, reduce-scatter, all-to-all; twice that for an all-reduce), the
// routing's part, or all of it (shift, broadcast).
Traffic traffic_of(const Program& program,
                   const Collective& collective,
                   const std::vector<int>& members);

// The links of a cluster: for each GPU a port each way into its node, and one to other nodes.
class Fabric {
 public:
  // Throws Error when the cluster has fewer GPUs than the Program has ranks.
  Fabric(const Cluster& cluster, const Program& program);

  const std::vector<double>& rates() const { return rates_; }  // of each link, bytes per second

  std::vector<Flow> flows(const Traffic& traffic, const std::vector<int>& members) const;

  // What a collective pays once before its bytes flow: the larger latency of the ports it uses.
  Time latency(const std::vector<int>& members) const;

 private:
  int node(int rank) const { return rank / cluster_.gpus_per_node; }

  Cluster cluster_;
  std::vector<double> rates_;
};

}  // namespace moesim
