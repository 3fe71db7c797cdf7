#pragma once

#include <vector>

#include "sim/collective/member_place.h"
#include "sim/io/algorithm.h"
#include "sim/io/program.h"

namespace moesim {

// Whom a phase of a collective joins: all members, those of each node, or those of equal place on
// the nodes.
enum class Among { kAll, kNode, kPlace };

// One part of a collective: a collective itself, of the default algorithm where it joins not all.
struct Phase {
  CollectiveOperation operation = CollectiveOperation::kAllReduce;
  Among among = Among::kAll;
  bool is_part = false;  // of the bytes: one of as many as there are members on a node

  // Where a member stands among those that it is joined with.
  MemberPlace place(const MemberPlace& whole) const;
  // Of the collective's nominal bytes.
  double share(const MemberPlace& whole) const { return is_part ? 1.0 / whole.on_node : 1; }
};

// The phases, one after the other, of a collective over groups of a span. Only HIERARCHICAL over
// both levels has several.
std::vector<Phase> phases_of(CollectiveOperation operation, Algorithm algorithm, Span span);

// How many messages follow each other on a member's way, by what they cross. Those of a ring and of
// DIRECT are as many as the other members, whatever they cross: they count as those of the widest.
struct Steps {
  int within = 0;
  int between = 0;
  bool at_once = false;  // both kinds beside each other

  int total() const { return within + between; }
};

// Of one phase; `place` is that among its members. m nodes, g members on this one:
//   DIRECT         n-1, of a shift 1
//   RING           n-1, of an all-reduce 2(n-1)
//   TREE           all-reduce: up and down, 2 ceil(log2 m) between, 2(g-1) within; broadcast: down
//                  the binomial tree, ceil(log2 m) and ceil(log2 g)
//   IN_SWITCH      within 1, all-reduce 2; between as TREE's all-reduce and broadcast, else m-1
//   PIPE           g-1 within beside n-g between
//   DEDUPLICATED   m-1 between, then g-1 within
Steps steps_of(CollectiveOperation operation, Algorithm algorithm, const MemberPlace& place);

}  // namespace moesim
