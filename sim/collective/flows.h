#pragma once

#include <functional>

#include "sim/collective/seating.h"
#include "sim/io/algorithm.h"
#include "sim/io/program.h"

namespace moesim {

// Stands for the NVSwitches of the other end's node: what they reduce or multicast has no other
// member at that end.
inline constexpr int kNvSwitchEnd = -1;

// What one member of a group sends to another, as indices in the group; `share` is of the
// collective's nominal bytes.
struct MemberFlow {
  int from = 0;
  int to = 0;
  double share = 0;
};

using VisitFlow = std::function<void(const MemberFlow&)>;

// All phases of a collective as one.
inline constexpr int kEveryPhase = -1;

// One part of a collective that is carried out by an algorithm: `phase` counts those that follow
// each other (algorithm_phases.h), or is kEveryPhase.
struct FlowStep {
  Algorithm algorithm = Algorithm::kDefault;
  int phase = 0;
};

// The messages of one phase of a collective among members that sit so. m nodes with g members each:
//   DIRECT        ALL_TO_ALL: every member sends 1/n to each other one; SHIFT: all to the one at
//   its
//                 distance
//   RING          carries (n-1)/n of the bytes over each of its edges, twice for an ALL_REDUCE (a
//                 reduce-scatter, then an all-gather); a BROADCAST all of them, but not into the
//                 root. Within a node one ring, in the group's order. Over nodes g rings with 1/g
//                 each, which leave and enter every node at another member, as NCCL's rings use all
//                 NICs; with unequal numbers on the nodes one ring
//   TREE, IN_SWITCH, HIERARCHICAL   tree_flows.h, in_switch_flows.h, hierarchical_flows.h
// and for ALL_TO_ALL PIPE, HIERARCHICAL and DEDUPLICATED of equal parts as in exchange_flows.h.
void for_each_flow(const Collective& collective,
                   const FlowStep& step,
                   const Seating& seating,
                   const VisitFlow& visit);

// One ring of the members in this order, over each edge of which the share goes.
void ring_flows(const std::vector<int>& order, double share, const VisitFlow& visit);

// Of the n members of each node, and of the members of equal place on all nodes.
void rings_within_nodes(const Seating& seating, double share, const VisitFlow& visit);
void rings_between_nodes(const Seating& seating, double share, const VisitFlow& visit);

}  // namespace moesim
