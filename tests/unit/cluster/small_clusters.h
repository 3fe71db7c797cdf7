#pragma once

#include <string>
#include <vector>

#include "sim/base/error.h"
#include "sim/cluster/node_paths.h"
#include "sim/cluster/topology.h"
#include "sim/io/cluster.h"

namespace moesim {

// A cluster in "c.txtpb" of so many nodes and GPUs, with `parts` after that: nodes, fabric, …
Cluster small_cluster(int num_nodes, int gpus_per_node, const std::string& parts);

// Nodes with an NVSwitch of 4 GB/s, PCIe of 10 GB/s and NICs of 1 GB/s at root ports.
std::string plain_nodes(int nics);

// A link for each hop, "node:0/gpu:0 -> node:0/nvswitch:1", and " * 0.25" behind it where its
// share is not the whole message.
std::vector<std::string> hops(const Topology& topology, const Route& route);

// What the Error says that `act` ends with, and where; empty: it does not.
template <typename Act>
std::string error_of(const Act& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace moesim
