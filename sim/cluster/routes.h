#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

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
  // A GPU, and the NIC over which it sends or receives.
  struct End {
    int node = 0;
    int gpu = 0;
    const NodePaths::NicPath* nic = nullptr;
  };

  const NodePaths& paths(int node) const;
  const std::vector<NodePaths::NicPath>& nics(int node, int gpu) const;
  void between_nodes(const End& from, End to, Route& route) const;
  // That part of a message which leaves by one NIC, from the GPU beside it, and arrives at one.
  void append_lane(
      const End& from, const End& left, const End& to, double share, Route& route) const;
  // The NICs by which a GPU sends to those that have a number in their node.
  const std::vector<NodePaths::NicPath>& leaving(const End& from, int to_gpu) const;
  // Of the GPUs that use the NIC, the sender itself, else the first that NVLink leads it to.
  std::optional<End> beside(const End& from, int nic) const;
  // Adds a node's own links, known of its model.
  void append(const Route& part, int node, double share, Route& route) const;
  int model(int node) const;
  int nic_number(int node, int index) const;

  const Topology& topology_;
  const Wiring& wiring_;
  int gpus_per_node_;
  FabricPaths fabric_;
  std::vector<int> first_of_group_;                          // node
  std::vector<int> first_nic_;                               // by node
  mutable std::map<int, std::unique_ptr<NodePaths>> paths_;  // by model
};

}  // namespace moesim
