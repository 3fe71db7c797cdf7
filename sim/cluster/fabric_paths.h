#pragma once

#include <cstdint>
#include <map>
#include <utility>
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
  // Where a NIC hangs; kNone where it does not.
  struct Attachment {
    int leaf = kNone;
    int up = kNone;    // link to the leaf
    int down = kNone;  // link from it
  };
  using Distances = std::vector<std::uint16_t>;  // by element after the nodes'

  Attachment attachment(int nic) const;
  const Distances& distances_to(int leaf) const;
  std::vector<int> next_links(int element, const Distances& distances) const;
  const Route& sprayed(int from_leaf, int to_leaf) const;
  Route spray(int from_leaf, int to_leaf) const;
  int chosen(const std::vector<int>& ways, int element, int from_nic, int to_nic) const;
  [[noreturn]] void fail(int from, int to) const;

  const Topology& topology_;
  const FabricSpec& fabric_;
  int first_switch_;
  std::vector<Attachment> attachments_;  // by NIC
  mutable std::map<int, Distances> distances_;
  mutable std::map<std::pair<int, int>, Route> sprayed_;  // by leaves
};

}  // namespace moesim
