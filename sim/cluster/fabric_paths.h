#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/cluster/node_paths.h"
#include "sim/cluster/topology.h"
#include "sim/io/wiring.h"

namespace moesim {

// Ways through the fabric: all shortest ones, of which SPRAY takes each link in proportion to its
// rate, DMODK one by the receiver's number, and HASH one by a hash of seed, sender, receiver and
// switch. Remembers how far switches are from each leaf that it was asked for. Keeps references to
// its arguments.
class FabricPaths {
 public:
  FabricPaths(const Topology& topology, const FabricSpec& fabric);

  // Appends the way from one NIC to another, by their numbers among all NICs. Throws Error where
  // there is none.
  void append(int from_nic, int to_nic, Route& route) const;

 private:
  using Distances = std::vector<std::uint16_t>;  // by element after the nodes'

  const Distances& distances_to(int leaf) const;
  std::vector<int> next_links(int element, const Distances& distances) const;
  void choose(int element, int from_nic, int to_nic, std::vector<int>& ways) const;
  int leaf_of(int nic) const;

  const Topology& topology_;
  const FabricSpec& fabric_;
  int first_switch_;
  mutable std::map<int, Distances> distances_;
};

}  // namespace moesim
