#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/cluster/routes.h"
#include "sim/cluster/topology.h"
#include "sim/io/wiring.h"

namespace moesim {

// How long a set of messages would occupy a medium alone: for each of its nominal bytes, or in all.
struct MediumLoad {
  int medium = 0;
  double seconds = 0;

  friend bool operator==(const MediumLoad&, const MediumLoad&) = default;
};

// What all instances of a group put on media.
struct GroupLoads {
  std::vector<std::vector<MediumLoad>> of_instance;  // media ascending
  double busiest = 0;                                // of any medium, by all instances together
};

// The graph of a cluster and the ways through it, shared by all that simulate on the cluster. Many
// Programs have the same groups: what is found of their collectives is remembered here, in `known`,
// by a key that whoever fills it makes up; it holds nothing that could not be found again.
struct ClusterLinks {
  ClusterLinks(Topology graph, const Wiring& of)
      : topology(std::move(graph)), wiring(of), routes(topology, wiring) {}

  Topology topology;
  Wiring wiring;
  Routes routes;
  mutable std::map<std::string, std::shared_ptr<const GroupLoads>> known;
};

}  // namespace moesim
