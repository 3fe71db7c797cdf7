#pragma once

#include <string>
#include <vector>

#include "sim/cluster/topology.h"
#include "sim/io/wiring.h"

namespace moesim {

// A link that a message takes, with the part of its bytes that goes there. Host-staged traffic
// takes some links twice.
struct Hop {
  int link = 0;
  double share = 1;
};

using Route = std::vector<Hop>;

// How messages move within one node, by rules of the machine, not by distance alone: over NVLink
// where GPUs share it; else over PCIe where peers may reach each other; else through the memory of
// the sender's socket. To a NIC directly with GPUDirect, else through the memory of the NIC's
// socket.
class NodePaths {
 public:
  // A NIC that serves a GPU, by its index in the node, and the ways between the two.
  struct NicPath {
    int nic = 0;
    Route to;
    Route from;
  };

  // Throws Error naming the part where a GPU reaches no other, or no NIC although the node has
  // some.
  NodePaths(const Topology& topology, int node, const TransferSpec& transfers);

  // Between GPUs of the node, by their index.
  const Route& between(int from, int to) const { return between_[index(from, to)]; }
  bool by_nvlink(int from, int to) const { return by_nvlink_[index(from, to)]; }

  // The NICs over which a GPU sends and receives, all the same: the nearest that reaches the
  // fabric. GPUs that are equally near to several take turns; where these are more than the GPUs,
  // each takes all of them. Empty where there are none.
  const std::vector<NicPath>& nics(int gpu) const { return nics_[gpu]; }

 private:
  friend class NodePathFinder;
  size_t index(int from, int to) const { return static_cast<size_t>(from) * nics_.size() + to; }

  std::vector<Route> between_;  // links are those of this node
  std::vector<bool> by_nvlink_;
  std::vector<std::vector<NicPath>> nics_;  // by GPU
};

}  // namespace moesim
