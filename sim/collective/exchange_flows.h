#pragma once

#include <functional>

#include "sim/collective/flows.h"

namespace moesim {

// What an all-to-all sends from one member to another, or keeps (from == to).
using Sent = std::function<double(int from, int to)>;

// The messages of one phase of an ALL_TO_ALL of any parts, in their unit:
//   DIRECT, PIPE   one from each member to each other one. On links they are the same: both load
//                  the ways within and between nodes at once. They differ in start-ups.
//   HIERARCHICAL   Tutel's 2DH (Hwang et al., "Tutel", MLSys 2023, section 3.4). Phase 0: within
//   its
//                  node, what a member has for any node's member of place p goes to its neighbour
//                  of place p. Phase 1: each to the members of its place, with what all of its node
//                  had for them. With unequal numbers on the nodes places count around.
//   DEDUPLICATED   DeepEP (DeepSeek-V3, section 3.2.2): of the rows that a token has for the
//   experts
//                  of a node one crosses, to the member of the sender's place, which hands it on to
//                  each member that has one of these experts; a `combine` the other way. Of S
//                  tokens with top_k rows each, S * hit_chance(node) go to a node, S *
//                  hit_chance(member) on to a member.
void exchange_flows(const Collective& collective,
                    const FlowStep& step,
                    const Seating& seating,
                    const Sent& sent,
                    const VisitFlow& visit);

}  // namespace moesim
