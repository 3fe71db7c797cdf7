#include "sim/cluster/reach.h"

#include <map>
#include <utility>
#include <vector>

namespace moesim {
namespace {

// By element: those that switches and NICs join have the same number; kNone: none do.
std::vector<int> islands(const Topology& topology) {
  std::vector<int> island(topology.elements().size(), kNone);
  std::vector<int> reached;
  for (const int start : topology.nics()) {
    if (island[start] != kNone) {
      continue;
    }
    island[start] = start;
    reached = {start};
    for (size_t i = 0; i < reached.size(); ++i) {
      for (const int link : topology.out(reached[i])) {
        const Link& of = topology.links()[link];
        if (of.kind == LinkKind::kNetwork && island[of.to] == kNone) {
          island[of.to] = start;
          reached.push_back(of.to);
        }
      }
    }
  }
  return island;
}

bool is_one_island(const Topology& topology, const std::vector<int>& island) {
  int first = kNone;
  for (size_t i = 0; i < island.size(); ++i) {
    if (island[i] == kNone || topology.elements()[i].node != kNone) {
      continue;  // a NIC that was cut off serves nobody
    }
    if (first != kNone && island[i] != first) {
      return false;
    }
    first = island[i];
  }
  return true;
}

// Two nodes at most of each kind: nodes whose parts are joined alike, and whose NICs, place by
// place, are on the same islands, reach the same GPUs.
std::vector<int> one_of_each_kind(const Topology& topology, const std::vector<int>& island) {
  std::vector<std::vector<int>> kinds(topology.nodes().size());
  for (int node = 0; node < std::ssize(topology.nodes()); ++node) {
    const Topology::Node& of = topology.nodes()[node];
    kinds[node] = {of.group, of.changed ? node : kNone};
  }
  for (const int nic : topology.nics()) {
    kinds[topology.elements()[nic].node].push_back(island[nic]);
  }
  std::map<std::vector<int>, int> num_chosen;
  std::vector<int> chosen;
  for (int node = 0; node < std::ssize(kinds); ++node) {
    if (num_chosen[kinds[node]]++ < 2) {
      chosen.push_back(node);
    }
  }
  return chosen;
}

}  // namespace

void check_reach(const Topology& topology, const Routes& routes) {
  const std::vector<int> island = islands(topology);
  if (is_one_island(topology, island)) {
    return;
  }
  const auto size = static_cast<int>(topology.gpus().size() / topology.nodes().size());
  const std::vector<int> nodes = one_of_each_kind(topology, island);
  Route route;
  for (const int from : nodes) {
    for (const int to : nodes) {
      for (int pair = 0; from != to && pair < size * size; ++pair) {
        routes.find(from * size + pair / size, to * size + pair % size, route);
      }
    }
  }
}

}  // namespace moesim
