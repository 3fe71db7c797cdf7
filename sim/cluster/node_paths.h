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
  // Throws Error naming the part where a GPU reaches no other, or no NIC although the node has
  // some.
  NodePaths(const Topology& topology, int node, const TransferSpec& transfers);

  // Between GPUs of the node, by their index.
  const Route& between(int from, int to) const { return between_[index(from, to)]; }
  bool by_nvlink(int from, int to) const { return by_nvlink_[index(from, to)]; }

  // The NIC that serves a GPU: the nearest that reaches the fabric; GPUs that are equally near to
  // several take turns. Its index in the node, kNone where there are none.
  int nic(int gpu) const { return nics_[gpu]; }
  const Route& to_nic(int gpu) const { return to_nic_[gpu]; }
  const Route& from_nic(int gpu) const { return from_nic_[gpu]; }

 private:
  friend class NodePathFinder;
  size_t index(int from, int to) const { return static_cast<size_t>(from) * nics_.size() + to; }

  std::vector<Route> between_;  // links are those of this node
  std::vector<bool> by_nvlink_;
  std::vector<int> nics_;  // by GPU, as the next two
  std::vector<Route> to_nic_;
  std::vector<Route> from_nic_;
};

}  // namespace moesim
