#pragma once

#include <map>
#include <memory>

#include "sim/cluster/fabric_paths.h"
#include "sim/cluster/node_paths.h"
#include "sim/cluster/topology.h"
#include "sim/io/wiring.h"

namespace moesim {

// Which links a message from one GPU to another takes. Nodes that are wired alike share what is
// known of them. Keeps references to its arguments.
class Routes {
 public:
  Routes(const Topology& topology, const Wiring& wiring);

  // Of two ranks, not the same. Throws Error where there is no way.
  Route between(int from, int to) const;
  // Into a route that held another: for many.
  void find(int from, int to, Route& route) const;

  // Whether the node stands for others that are wired alike, or for itself alone.
  bool is_model(int node) const { return model(node) == node; }

 private:
  const NodePaths& paths(int node) const;
  // Adds a node's own links, known of its model.
  void append(const Route& part, int node, Route& route) const;
  int model(int node) const;
  int nic_number(int node, int index) const;
  int leaving_gpu(int node, int gpu, int to_index) const;

  const Topology& topology_;
  const Wiring& wiring_;
  int gpus_per_node_;
  FabricPaths fabric_;
  std::vector<int> first_of_group_;                          // node
  std::vector<int> first_nic_;                               // by node
  mutable std::map<int, std::unique_ptr<NodePaths>> paths_;  // by model
};

}  // namespace moesim
