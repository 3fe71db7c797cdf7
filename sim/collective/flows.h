#pragma once

#include <functional>
#include <vector>

#include "sim/io/program.h"

namespace moesim {

// What one member of a group sends to another, as indices in the group; `share` is of the
// collective's nominal bytes.
struct MemberFlow {
  int from = 0;
  int to = 0;
  double share = 0;
};

// The messages of a collective among n members, of which member i is on nodes[i]:
//   ALL_TO_ALL      every member sends 1/n to each other one
//   SHIFT           each member sends all to the one at its distance
//   others          rings. A ring carries (n-1)/n of the bytes over each of its edges, twice for an
//                   ALL_REDUCE (a reduce-scatter, then an all-gather); a BROADCAST all of them, but
//                   not into the root. Within a node one ring, in the group's order. Over nodes
//                   with g members each, g rings with 1/g each, which leave and enter every node at
//                   another member, as NCCL's rings use all NICs; with unequal numbers one ring.
void for_each_flow(const Collective& collective,
                   const std::vector<int>& nodes,
                   const std::function<void(const MemberFlow&)>& visit);

}  // namespace moesim
