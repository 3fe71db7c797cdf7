#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/cluster/node_paths.h"
#include "sim/cluster/topology.h"
#include "sim/io/wiring.h"

namespace moesim {

// NICs by their numbers among all.
struct NicPair {
  int from = 0;
  int to = 0;
};

// Ways through the fabric: all shortest ones, of which SPRAY takes each link in proportion to its
// rate, DMODK one by the receiver's number, and HASH one by a hash of seed, sender, receiver and
// switch. DMODK numbers NICs leaf by leaf, so that receivers at one leaf use all links upward also
// where a leaf has every eighth NIC, as with rails. Remembers how far switches are from leaves
// that it was asked for. Keeps references to its arguments.
class FabricPaths {
 public:
  FabricPaths(const Topology& topology, const FabricSpec& fabric);

  // Appends the way of a part of a message from one NIC to another. Throws Error where there is
  // none.
  void append(const NicPair& pair, double share, Route& route) const;

 private:
  struct Attachment {
    int leaf = kNone;
    int up = kNone;      // link to the leaf, its way back is the next one; kNone: removed
    int number = kNone;  // leaf by leaf
  };
  using Distances = std::vector<std::uint16_t>;  // by element after the nodes'

  void find_attachments();
  const Distances& distances_to(int leaf) const;
  std::vector<int> next_links(int element, const Distances& distances) const;
  const Route& sprayed(int from_leaf, int to_leaf) const;
  Route spray(int from_leaf, int to_leaf) const;
  int chosen(const std::vector<int>& ways, int element, const NicPair& pair) const;
  void make_room() const;
  [[noreturn]] void fail(int from, int to) const;

  const Topology& topology_;
  const FabricSpec& fabric_;
  int first_switch_;
  std::vector<Attachment> attachments_;  // by NIC
  mutable std::map<int, Distances> distances_;
  mutable std::map<std::pair<int, int>, Route> sprayed_;  // by leaves
  mutable std::size_t bytes_ = 0;                         // of both
};

}  // namespace moesim
